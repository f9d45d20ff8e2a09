/*
 * ledger.h - which process holds how many bytes of which device. How it takes
 * them: charge.h.
 *
 * Owners are (pid, pid namespace, start time). Whoever looks removes dead
 * owners of its own namespace, now and then; those of a foreign namespace are
 * left to their own, and to who sees all namespaces of the host (others.h).
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
 * Puts the calling process on a device. Of a GPU that is split it comes into
 * the MIG device of the lowest index, as a CUDA program does;
 * GK_ERR_NOT_SUPPORTED when there is none. The wave's start_bin is set to now,
 * unless it has a stop_bin: then the process is only seen in between.
 * *ret_slot is for the calls below; it is freed by gkf_detach() or by the
 * death of the process. GK_ERR_TOO_MANY when all slots are in use,
 * GK_ERR_RANGE for a device that is not there, GK_ERR_NOT_FOUND for one that
 * the driver does not list, GK_ERR_PERMISSION for one that is being drained
 * or prohibits computing, GK_ERR_IN_USE for one that another process has for
 * itself (its compute mode), GK_ERR_IO where /proc does not tell who the
 * process is, so that nobody would see its end.
 */
int gkf_attach(struct gkf_machine *m, unsigned device, unsigned types,
	       const struct gkf_wave *wave, unsigned *ret_slot);
GKF_API int gkf_detach(struct gkf_machine *m, unsigned slot);

/*
 * The same in a compute instance, GKF_INSTANCE(gi, ci); GK_ERR_NOT_FOUND when
 * there is none such.
 */
int gkf_attach_instance(struct gkf_machine *m, unsigned device,
			uint32_t instance, unsigned types,
			const struct gkf_wave *wave, unsigned *ret_slot);

/*
 * From now on a slot of this process works as a wave says; when it came and
 * goes stays.
 */
int gkf_tune(struct gkf_machine *m, unsigned slot, const struct gkf_wave *wave);

/* Bytes of a device that processes hold (without reserve and set values). */
uint64_t gkf_held_bytes(struct gkf_machine *m, unsigned device);

/*
 * Total, reserved, used and free bytes as NVML tells them: total = reserved +
 * used + free; used counts processes and the set "extra-memory".
 */
struct gkf_memory {
	uint64_t total, reserved, used, free;
};
GKF_API void gkf_memory(struct gkf_machine *m, unsigned device,
			struct gkf_memory *ret_memory);

/*
 * The same of a GPU instance, whose compute instances share it; nothing is
 * reserved. GK_ERR_NOT_FOUND when there is none such.
 */
GKF_API int gkf_memory_gi(struct gkf_machine *m, unsigned device, unsigned gi,
			  struct gkf_memory *ret_memory);

/* Removes dead owners now (force) or if it is time. Returns how many. */
GKF_API unsigned gkf_reap(struct gkf_machine *m, bool force);

#endif
