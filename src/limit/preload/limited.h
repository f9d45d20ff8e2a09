/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limited.h - this process's group, as hooks see it.
 */
#ifndef GKL_PRELOAD_LIMITED_H
#define GKL_PRELOAD_LIMITED_H

#include "abi/cuda/cuda_abi.h"
#include "abi/nvml/nvml_abi.h"
#include "limit/group.h"

#include <stdatomic.h>
#include <stddef.h>

/*
 * The group, opened at the first call; NULL: nothing is limited, and hooks pass
 * calls on. If a limit exists but cannot be enforced (limited_broken()), calls
 * that need it return CUDA_ERROR_NOT_PERMITTED; the reason has been printed.
 */
bool limited_broken(void);
struct gkl_group *limited_look(void); /* for limited() alone */
extern struct gkl_group *_Atomic limited_found;

static inline struct gkl_group *limited(void)
{
	struct gkl_group *group =
	    atomic_load_explicit(&limited_found, memory_order_acquire);

	return __builtin_expect(group != NULL, 1) ? group : limited_look();
}

/*
 * The policy. The copy belongs to the calling thread, and is renewed only after
 * a change. Without a group, it limits nothing.
 */
const struct gkl_policy *limited_policy(void);

/*
 * The number of a device in the policy and the ledger (limits.h). It is found
 * by UUID, so CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER do not matter; a MIG
 * device has the number of its GPU. Cheap after the first call for a device.
 */
enum {
	/* No group, or no such device or context: let the driver answer. */
	LIMITED_NONE = -1,
	/* The number is unknown, so a limit cannot be enforced: refuse. */
	LIMITED_UNKNOWN = -2,
};
int limited_device(CUdevice device);
int limited_current_device(void); /* the current context's device */
int limited_nvml_device(nvmlDevice_t device);

/* The memory limit of a device in bytes; 0: no limit, or no device. */
uint64_t limited_memory(int device);

/* This process's pid namespace, as gkl_life_ns() returns it; 0: unknown. */
uint64_t limited_namespace(void);

/*
 * The pid under which current drivers report this process, in containers too.
 */
unsigned int limited_nvml_pid(void);

/*
 * NVML's handle of a device in the table, for calls through REAL_NVML. NVML is
 * initialised once in each process and never shut down. False: NVML is missing,
 * or does not know the device.
 */
bool limited_nvml_handle(int device, nvmlDevice_t *ret_handle);

/*
 * Waits while the operator has suspended the group. Otherwise costs one load.
 */
void limited_wait_while_suspended(void);

/*
 * Call before each launch: waits as limited_wait_while_suspended() does, and
 * while HAMi's monitor delays low-priority groups; then informs the monitor of
 * the launch.
 */
void limited_before_launch(void);

/* Under the rule GKL_MONITOR: whether HAMi's monitor wants shares enforced. */
bool limited_monitor_wants_shares(void);

/*
 * Reports to HAMi's monitor the bytes that this process took (negative: gave
 * back). Call after gkl_ledger_reserve(), gkl_ledger_refund() and
 * gkl_ledger_charge().
 */
void limited_mirror(int device, enum gkl_kind kind, int64_t bytes);

/* Reports time: the nanoseconds for which a device worked for this process. */
void limited_mirror_busy(int device, uint64_t ns);

/* Bytes of a device that the group holds. Dead processes soon stop counting. */
uint64_t limited_used(int device);

#endif
