/*
 * limited.h - this process's group, as hooks see it.
 */
#ifndef GKL_PRELOAD_LIMITED_H
#define GKL_PRELOAD_LIMITED_H

#include "abi/cuda_abi.h"
#include "abi/nvml_abi.h"
#include "limit/group.h"

#include <stdatomic.h>
#include <stddef.h>

/*
 * The group, opened at the first call; NULL: nothing is limited, and hooks pass
 * on. Where there is a limit that cannot be kept (limited_broken()), calls that
 * would need it answer CUDA_ERROR_NOT_PERMITTED.
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
 * The policy, copied again only when it has changed; without a group, one that
 * limits nothing. It belongs to the calling thread.
 */
const struct gkl_policy *limited_policy(void);

/*
 * The number of a device in policy and ledger (limits.h). By UUID, so
 * CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER do not matter; a MIG device has
 * the number of its GPU. Cheap after the first call for a device.
 */
enum {
	LIMITED_NONE = -1,    /* no group, or no such device or context:
				 pass on, and let the driver answer */
	LIMITED_UNKNOWN = -2, /* nobody told its number: a limit cannot be kept,
				 refuse */
};
int limited_device(CUdevice device);
int limited_current_device(void); /* that of the current context */
int limited_nvml_device(nvmlDevice_t device);

/* Bytes that may be used of a device; 0: no limit, or no device. */
uint64_t limited_memory(int device);

/* As gkl_life_ns() has it, of this process; 0: /proc does not tell. */
uint64_t limited_namespace(void);

/* The pid by which drivers of today tell this process, in containers too. */
unsigned int limited_nvml_pid(void);

/*
 * NVML's handle of a device of the table, for calls by REAL_NVML: NVML is begun
 * once in each process, and never ended. False: NVML does not tell.
 */
bool limited_nvml_handle(int device, nvmlDevice_t *ret_handle);

/* Waits while the operator has suspended the group. One load where not. */
void limited_wait_while_suspended(void);

/*
 * Before each launch: waits as limited_wait_while_suspended() does, and while
 * HAMi's monitor holds up groups of low priority; tells it of the launch.
 */
void limited_before_launch(void);

/* Under the rule GKL_MONITOR: whether HAMi's monitor wants shares kept. */
bool limited_monitor_wants_shares(void);

/*
 * Tells HAMi's monitor what the ledger was told: bytes that this process took
 * (or gave back: negative). After gkl_ledger_reserve, refund and charge.
 */
void limited_mirror(int device, enum gkl_kind kind, int64_t bytes);

/* The same of its time: nanoseconds in which a device worked for it. */
void limited_mirror_busy(int device, uint64_t ns);

/* Bytes that the group holds of a device, the dead's not among them for long.
 */
uint64_t limited_used(int device);

#endif
