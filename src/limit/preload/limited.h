/*
 * limited.h - this process's group, as hooks see it.
 */
#ifndef GKL_PRELOAD_LIMITED_H
#define GKL_PRELOAD_LIMITED_H

#include "abi/cuda_abi.h"
#include "abi/nvml_abi.h"
#include "limit/group.h"

/*
 * The group, opened at the first call; NULL: nothing is limited, and hooks pass
 * on. Where there is a limit that cannot be kept (limited_broken()), calls that
 * would need it answer CUDA_ERROR_NOT_PERMITTED.
 */
struct gkl_group *limited(void);
bool limited_broken(void);

/* The policy, copied again only when it has changed. Any thread. */
const struct gkl_policy *limited_policy(void);

/*
 * The number of a device in policy and ledger (limits.h); -1: unknown. By UUID,
 * so CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER do not matter. Cheap after the
 * first call for a device.
 */
int limited_device(CUdevice device);
int limited_current_device(void); /* that of the current context */
int limited_nvml_device(nvmlDevice_t device);

/* Bytes that may be used of a device; 0: no limit. */
uint64_t limited_memory(int device);

/* Waits while the operator has suspended the group. One load where not. */
void limited_wait_while_suspended(void);

#endif
