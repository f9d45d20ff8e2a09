/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger.h - processes on devices: which process is on which device, and how
 * much memory it holds. books.h has the functions to take memory.
 *
 * Owners are (pid, pid namespace, start time). Readers remove dead owners of
 * their own namespace from time to time. Owners of other namespaces are left to
 * processes there, and to those that see all namespaces of the host (others.h).
 * Every change is committed by a single store.
 */
#ifndef GKF_LEDGER_H
#define GKF_LEDGER_H

#include "base/export.h"

#include <stdbool.h>
#include <stdint.h>

struct gkf_machine;
struct gkf_wave;

/*
 * Puts the calling process on a device; with MIG, on the MIG device with the
 * lowest index, as for a CUDA program. Sets the wave's start_bin to now, unless
 * it has a stop_bin: the process is then visible only between start_bin and
 * stop_bin. *ret_slot is for the calls below; gkf_detach() or the death of the
 * process frees it. Errors:
 * GK_ERR_TOO_MANY       all slots are in use
 * GK_ERR_RANGE          there is no such device
 * GK_ERR_NOT_FOUND      the driver does not list the device
 * GK_ERR_NOT_SUPPORTED  MIG is on, but there is no MIG device
 * GK_ERR_PERMISSION     the device is being drained or prohibits computing
 * GK_ERR_IN_USE         another process has exclusive use of the device
 * GK_ERR_IO             /proc does not identify the process, so that nobody
 *                       could detect its end
 */
int gkf_attach(struct gkf_machine *m, unsigned device, unsigned types,
	       const struct gkf_wave *wave, unsigned *ret_slot);
GKF_API int gkf_detach(struct gkf_machine *m, unsigned slot);

/*
 * Like gkf_attach(), but in a compute instance, GKF_INSTANCE(gi, ci).
 * GK_ERR_NOT_FOUND when it does not exist.
 */
int gkf_attach_instance(struct gkf_machine *m, unsigned device,
			uint32_t instance, unsigned types,
			const struct gkf_wave *wave, unsigned *ret_slot);

/*
 * Changes the wave of a slot of this process; its start and stop stay as they
 * are.
 */
int gkf_tune(struct gkf_machine *m, unsigned slot, const struct gkf_wave *wave);

/*
 * Bytes of a device that processes hold, without reserved bytes and the value
 * "extra-memory".
 */
uint64_t gkf_held_bytes(struct gkf_machine *m, unsigned device);

/*
 * Total, reserved, used and free bytes as in NVML: total = reserved + used +
 * free; used includes processes and the value "extra-memory".
 */
struct gkf_memory {
	uint64_t total, reserved, used, free;
};
GKF_API void gkf_memory(struct gkf_machine *m, unsigned device,
			struct gkf_memory *ret_memory);

/*
 * Like gkf_memory(), but for a GPU instance, whose compute instances share its
 * memory; nothing is reserved. GK_ERR_NOT_FOUND when it does not exist.
 */
GKF_API int gkf_memory_gi(struct gkf_machine *m, unsigned device, unsigned gi,
			  struct gkf_memory *ret_memory);

/*
 * Removes dead owners, if `force` is set or the last scan was long enough ago.
 * Returns the number of slots that became free.
 */
GKF_API unsigned gkf_reap(struct gkf_machine *m, bool force);

#endif
