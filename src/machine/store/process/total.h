/*
 * total.h - what a process that really works did on a device, added up over its
 * life, and kept when it has ended: it is in the file, so a kill loses nothing.
 * A process that comes back to a device goes on with its totals. Where there is
 * no room for one more, all that come share the last place, which is nobody's.
 */
#ifndef GKF_TOTAL_H
#define GKF_TOTAL_H

#include "base/export.h"
#include "machine/file/fault_state.h"
#include "machine/file/work_state.h"

#include <stdbool.h>

struct gkf_machine;
struct gkf_slot;

struct gkf_total_read {
	int32_t pid; /* 0: several, for which there was no room */
	char name[GKF_CALLER_MAX];
	unsigned device;
	bool ended;
	uint64_t begin_ns, end_ns; /* machine time; end only of the ended */
	uint64_t peak;             /* bytes that it held at once */
	uint64_t busy_ns, launches, operations;
	uint64_t moved[GKF_DIRECTIONS]; /* bytes */
};

/* Those at place index, below GKF_TOTALS_MAX; false: there are none. */
bool gkf_total_read(struct gkf_machine *m, unsigned index,
		    struct gkf_total_read *ret_total);

/*
 * A kernel of this process, the slot's, ran; what a library's did: additions
 * and multiplications. Any thread.
 */
void gkf_total_launched(struct gkf_machine *m, unsigned slot);
GKF_API void gkf_total_operations(struct gkf_machine *m, unsigned slot,
				  uint64_t operations);

/*
 * The rest is for the machine's core. A slot is taken (a copy of it, before it
 * is visible) and freed: with the writers' lock.
 */
void gkf_total_open(struct gkf_machine *m, unsigned slot,
		    const struct gkf_slot *content);
void gkf_total_close(struct gkf_machine *m, unsigned slot);
void gkf_total_holds(struct gkf_machine *m, unsigned slot, uint64_t bytes);
void gkf_total_busy(struct gkf_machine *m, unsigned slot, uint64_t ns);
void gkf_total_moved(struct gkf_machine *m, unsigned slot,
		     enum gkf_direction direction, uint64_t bytes);

#endif
