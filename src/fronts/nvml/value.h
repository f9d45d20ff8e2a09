/* value.h - the values of the device that a call is about. */
#ifndef GKF_NVML_VALUE_H
#define GKF_NVML_VALUE_H

#include "fronts/nvml/front.h"
#include "machine/file/value.h"
#include "machine/model/model.h"

/* Reads a value of the call's device; false: it has no such value. */
static inline bool read_device_value(const struct call *c, enum gkf_value id,
				     int64_t *ret_value)
{
	return gkf_value_get(c->machine, c->index, id, ret_value);
}

#endif
