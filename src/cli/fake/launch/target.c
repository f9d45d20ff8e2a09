/* target.c - finds the GPU or MIG device that a load process runs on. */
#include "cli/fake/target.h"
#include "machine/file/board.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/model/mig.h"
#include "machine/store/board.h"
#include "machine/store/ledger.h"

/* An empty MIG device keeps so much for itself, with a margin. */
#define KEPT_MIB 64

int fake_target_find(struct gkf_machine *m, unsigned gpu, unsigned k,
		     struct fake_target *ret_target)
{
	const struct gkf_profile *p = &gkf_board(m, gpu)->profile;
	struct gkf_memory memory;
	struct gkf_mig_ci ci;
	unsigned index = k ? k - 1 : 0;

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
