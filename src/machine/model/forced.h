/* SPDX-License-Identifier: Apache-2.0 */
/* forced.h - values of a device that faults or users have forced. */
#ifndef GKF_FORCED_H
#define GKF_FORCED_H

#include "machine/file/device.h"
#include "machine/file/file.h"
#include "machine/file/value.h"
#include "machine/model/model.h"
#include "machine/store/above.h"
#include "machine/store/view.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The value that a fault forces, or else the value that was set, or else
 * GKF_UNSET. A set value that is out of range is ignored.
 */
static inline int64_t gkf_value_forced(struct gkf_machine *m, unsigned device,
				       enum gkf_value value)
{
	const struct gkf_device *dev = &m->file->device[device];
	int64_t set =
	    atomic_load_explicit(&dev->set[value], memory_order_relaxed);

	if (atomic_load_explicit(&dev->fault.active, memory_order_relaxed) &&
	    m->above->fault_value(m, device, value, &set))
		return set;
	return set >= gkf_values[value].min && set <= gkf_values[value].max
		   ? set
		   : GKF_UNSET;
}

/* Like gkf_value_forced(), but for all values. */
void gkf_values_forced(struct gkf_machine *m, unsigned device,
		       int64_t ret_set[GKF_VALUES_MAX]);

/* One word of the state that gkf_state_now() returns. */
int64_t gkf_state_word(struct gkf_machine *m, unsigned device, size_t offset);

#endif
