/* SPDX-License-Identifier: Apache-2.0 */
/* target.c - finds the GPU or MIG device on which a load process runs. */
#include "cli/fake/launch/target.h"
#include "base/assert.h"
#include "machine/file/board.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/model/mig/mig.h"
#include "machine/store/board.h"
#include "machine/store/process/ledger.h"

/* The memory that an empty MIG device reserves for itself, and a margin. */
#define KEPT_MIB 64

int fake_target_find(struct gkf_machine *m, unsigned gpu, unsigned k,
		     struct fake_target *ret_target)
{
	const struct gkf_profile *p = &gkf_board(m, gpu)->profile;
	struct gkf_memory memory;
	struct gkf_mig_ci ci;
	unsigned index = k ? k - 1 : 0;

	GK_ASSERT(gpu < gkf_device_count(m) && k < FAKE_TARGETS);
	*ret_target = (struct fake_target){
	    .gpu = gpu,
	    .mig = FAKE_NO_MIG,
	    .room_mib = (uint64_t)(p->memory_mib - p->reserved_mib)};
	if (!k && !(gkf_mig_mode(m, gpu) & GKF_MIG_CURRENT))
		return 0;
	while (gkf_mig_by_index(m, gpu, index, &ci))
		if (k || ++index == GKF_MIG_MAX)
			return fake_failure("--load: GPU %u (%s) has no such "
					    "MIG device; see `ctl mig %u ls`",
					    gpu, p->name, gpu);
	ret_target->mig = index;
	if (!gkf_memory_gi(m, gpu, ci.gi, &memory))
		ret_target->room_mib = (memory.total >> 20) - KEPT_MIB;
	return 0;
}

uint64_t fake_target_free(struct gkf_machine *m,
			  const struct fake_target *target)
{
	struct gkf_memory memory;
	struct gkf_mig_ci ci;

	gkf_memory(m, target->gpu, &memory);
	if (target->mig != FAKE_NO_MIG &&
	    !gkf_mig_by_index(m, target->gpu, target->mig, &ci))
		gkf_memory_gi(m, target->gpu, ci.gi, &memory);
	return memory.free;
}
