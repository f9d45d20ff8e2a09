/* SPDX-License-Identifier: Apache-2.0 */
/* instances.h - reads the memory used by empty GPU instances of a device. */
#ifndef GKF_INSTANCES_H
#define GKF_INSTANCES_H

#include "machine/file/device.h"
#include "machine/file/file.h"
#include "machine/store/above.h"
#include "machine/store/view.h"

/* Bytes that all GPU instances of a device use while they are empty. */
static inline uint64_t gkf_held_by_instances(struct gkf_machine *m,
					     unsigned device)
{
	uint64_t mode = atomic_load_explicit(&m->file->device[device].mig.mode,
					     memory_order_relaxed);

	return __builtin_expect((mode & GKF_MIG_CURRENT) != 0, 0)
		   ? m->above->instances_hold(m, device)
		   : 0;
}

#endif
