/*
 * permission.h - who may change a made-up machine through NVML, and what the
 * setters of values do.
 */
#ifndef GKF_NVML_PERMISSION_H
#define GKF_NVML_PERMISSION_H

#include "fronts/nvml/front.h"
#include "machine/file/value.h"

/*
 * May the caller change what a driver lets root alone change? As the machine
 * is set: root (effective user id 0), everybody, or nobody.
 */
bool front_may_change(const struct call *c);

/* The same as an answer: success, or NO_PERMISSION. */
nvmlReturn_t front_permit(const struct call *c);

/*
 * Sets a value of the call's device as root may: NOT_SUPPORTED when it has
 * none, NO_PERMISSION, INVALID_ARGUMENT out of range. The caller has checked
 * no permission.
 */
nvmlReturn_t front_set(const struct call *c, enum gkf_value id, int64_t to);

#endif
