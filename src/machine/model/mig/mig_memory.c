/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mig_memory.c - chooses the instance of a process, and says how much memory
 * GPU instances have.
 */
#include "base/assert.h"
#include "base/err.h"
#include "base/units.h"
#include "machine/file/numbers.h"
#include "machine/model/mig/mig.h"
#include "machine/store/writers_lock.h"

/* Bytes used by an empty GPU instance per compute slice; see docs/MIG.md. */
#define SLICE_HOLDS (8600 * (uint64_t)KIB)

int gkf_instance_enter(struct gkf_machine *m, unsigned device,
		       uint32_t *instance)
{
	struct gkf_mig_ci ci;
	unsigned index = 0;

	GK_ASSERT(gkf_lock_held(m));
	if (*instance != GKF_NO_INSTANCE)
		return gkf_mig_ci_read(m, device, GKF_INSTANCE_GI(*instance),
				       GKF_INSTANCE_CI(*instance), &ci);
	if (!(gkf_mig_mode(m, device) & GKF_MIG_CURRENT))
		return 0;
	while (gkf_mig_by_index(m, device, index, &ci))
		if (++index == GKF_MIG_MAX)
			return GK_ERR_NOT_SUPPORTED;
	*instance = GKF_INSTANCE(ci.gi, ci.id);
	return 0;
}

int gkf_instance_bytes(struct gkf_machine *m, unsigned device, unsigned gi,
		       uint64_t *ret_total, uint64_t *ret_taken)
{
	struct gkf_mig_gi whole;
	int r = gkf_mig_gi_read(m, device, gi, &whole);

	if (r)
		return r;
	*ret_total = whole.profile->memory_mib * (uint64_t)MIB;
	*ret_taken = whole.profile->slices * SLICE_HOLDS;
	return 0;
}

uint64_t gkf_instances_hold(struct gkf_machine *m, unsigned device)
{
	uint64_t held = 0, total, taken;

	if (gkf_mig_mode(m, device) & GKF_MIG_CURRENT)
		for (unsigned i = 0; i < GKF_MIG_GIS; i++)
			if (!gkf_instance_bytes(m, device, i, &total, &taken))
				held += taken;
	return held;
}
