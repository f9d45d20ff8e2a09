/*
 * busy.h - how long a process really keeps a device busy, and what it moves.
 *
 * Busy time is machine time. Work that is done while the machine's clock
 * stands takes none; work that runs while the clock is stepped is busy for the
 * whole step; at twice the speed a kernel lasts twice as long. What others
 * see of a bin of 1/6 s is what stands in the file when it is over, so a
 * kernel that runs for minutes is seen while it runs. The work of a dead
 * process ends with the last bin that anybody has computed.
 *
 * The slot must be one of gkf_books_attach() of this process; anything else,
 * a forked child's too, is left undone.
 */
#ifndef GKF_BUSY_H
#define GKF_BUSY_H

#include "base/export.h"
#include "machine/file/work_state.h"

#include <stdbool.h>

struct gkf_machine;

/*
 * The first kernel of this process starts on the slot's device; no kernel of
 * it runs any more. They alternate: whoever runs several at once counts them,
 * and calls both under one lock of its own.
 */
void gkf_busy_begin(struct gkf_machine *m, unsigned slot);
void gkf_busy_end(struct gkf_machine *m, unsigned slot);

/*
 * Bytes that were copied: to the device or from it over PCIe, within the device
 * (each is read and written there), or over NVLinks. Any thread. Call it for
 * large copies a piece at a time: it counts where the call is.
 */
GKF_API void gkf_busy_moved(struct gkf_machine *m, unsigned slot,
			    enum gkf_direction direction, uint64_t bytes);

/* ---- for those who look ---- */

/* The work of a slot's process in a bin that is over. */
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
 * From which bin on, not before `bin`, it may have done something: bin itself
 * when it did; UINT64_MAX: never, as far as the file knows by now.
 */
uint64_t gkf_busy_next(struct gkf_machine *m, unsigned slot, uint64_t bin);

/* A slot gets a new owner. Before it is visible. */
void gkf_busy_open(struct gkf_machine *m, unsigned slot);

/*
 * Its owner is dead: what was running ended with machine_ns. The lock is held.
 */
void gkf_busy_close(struct gkf_machine *m, unsigned slot, uint64_t machine_ns);

#endif
