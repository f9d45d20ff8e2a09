/* SPDX-License-Identifier: Apache-2.0 */
/* value.h - reads values of the call's device. */
#ifndef GKF_NVML_VALUE_H
#define GKF_NVML_VALUE_H

#include "fronts/nvml/front.h"
#include "machine/file/value.h"
#include "machine/model/model.h"

/* False if the device has no such value. */
static inline bool read_device_value(const struct call *c, enum gkf_value id,
				     int64_t *ret_value)
{
	GK_ASSERT(c->index < c->device_count);
	return gkf_value_get(c->machine, c->index, id, ret_value);
}

#endif
