/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy.h - how long a process really keeps a device busy, and the bytes it
 * copies.
 *
 * Busy time is machine time. Work done while the machine's clock is stopped
 * takes no time; work that runs while the clock is stepped counts as busy for
 * the whole step; at twice the speed a kernel lasts twice as long. Other
 * processes read a bin of 1/6 s when it is over. It includes work that still
 * runs, so a kernel that takes minutes is visible while it runs. The work of a
 * dead process ends with the last bin that any process has computed.
 *
 * The slot must come from gkf_books_attach() in this process; calls for other
 * slots, or in a forked child, do nothing.
 */
#ifndef GKF_BUSY_H
#define GKF_BUSY_H

#include "base/export.h"
#include "machine/file/work_state.h"

#include <stdbool.h>

struct gkf_machine;

/*
 * Call gkf_busy_begin() when the first kernel of this process starts on the
 * slot's device, and gkf_busy_end() when none runs any longer. The calls
 * alternate: a caller that runs several kernels at once must count them, and
 * must protect the count and both calls by a lock of its own.
 */
void gkf_busy_begin(struct gkf_machine *m, unsigned slot);
void gkf_busy_end(struct gkf_machine *m, unsigned slot);

/*
 * Adds bytes copied over PCIe to or from the device, within the device (each is
 * read and written there), or over NVLinks. Any thread. Call it for each piece
 * of a large copy: the bytes count in the bin of the call.
 */
GKF_API void gkf_busy_moved(struct gkf_machine *m, unsigned slot,
			    enum gkf_direction direction, uint64_t bytes);

/* ---- for readers ---- */

/* The work of a slot's process in a past bin. */
struct gkf_done {
	uint32_t busy_permille;
	uint64_t moved[GKF_DIRECTIONS]; /* bytes */
};
static inline bool gkf_moved_any(const uint64_t moved[GKF_DIRECTIONS])
{
	uint64_t any = 0;

	for (int d = 0; d < GKF_DIRECTIONS; d++)
		any |= moved[d];
	return any != 0;
}

void gkf_busy_read(struct gkf_machine *m, unsigned slot, uint64_t bin,
		   struct gkf_done *ret_done);

/*
 * The first bin, not before `bin`, in which the process may have worked.
 * UINT64_MAX: the file has no later work yet.
 */
uint64_t gkf_busy_next(struct gkf_machine *m, unsigned slot, uint64_t bin);

/* Clears the work of a slot for its new owner, before the slot is visible. */
void gkf_busy_open(struct gkf_machine *m, unsigned slot);

/*
 * Ends the running work of a dead owner at machine_ns. The caller holds the
 * writers' lock.
 */
void gkf_busy_close(struct gkf_machine *m, unsigned slot, uint64_t machine_ns);

#endif
