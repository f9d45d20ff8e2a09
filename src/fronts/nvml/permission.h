/* SPDX-License-Identifier: Apache-2.0 */
/*
 * permission.h - checks whether the caller may change the machine, and sets
 * values.
 */
#ifndef GKF_NVML_PERMISSION_H
#define GKF_NVML_PERMISSION_H

#include "fronts/nvml/front.h"
#include "machine/file/value.h"

/*
 * Whether the caller may make changes that, with a real driver, only root may
 * make. The machine's setting decides: root (effective user id 0), everybody,
 * or nobody.
 */
bool front_may_change(const struct call *c);

/* Returns NVML_SUCCESS if front_may_change(), otherwise NO_PERMISSION. */
nvmlReturn_t front_permit(const struct call *c);

/*
 * Sets a value of the call's device. NOT_SUPPORTED if the device has no such
 * value, NO_PERMISSION if the caller may not change it, INVALID_ARGUMENT if it
 * is out of range.
 */
nvmlReturn_t front_set(const struct call *c, enum gkf_value id, int64_t to);

#endif
