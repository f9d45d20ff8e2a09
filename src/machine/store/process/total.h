/* SPDX-License-Identifier: Apache-2.0 */
/*
 * total.h - the work of each real process on a device, added up over its life
 * and kept after its end. The totals are in the file, so a kill loses nothing.
 * A process that returns to a device continues its totals. When the table is
 * full, further processes share the last entry.
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
	int32_t pid; /* 0: the shared entry */
	char name[GKF_CALLER_MAX];
	unsigned device;
	bool ended;
	/* Machine time; end_ns is set if the process has ended. */
	uint64_t begin_ns, end_ns;
	uint64_t peak; /* most bytes held at once */
	uint64_t busy_ns, launches, operations;
	uint64_t moved[GKF_DIRECTIONS]; /* bytes */
};

/* The totals at index, below GKF_TOTALS_MAX; false: there are none. */
bool gkf_total_read(struct gkf_machine *m, unsigned index,
		    struct gkf_total_read *ret_total);

/*
 * Counts a kernel launched by this process, which owns the slot; adds the
 * additions and multiplications of a library's kernel. Any thread.
 */
void gkf_total_launched(struct gkf_machine *m, unsigned slot);
GKF_API void gkf_total_operations(struct gkf_machine *m, unsigned slot,
				  uint64_t operations);

/* ---- for src/machine alone ---- */

/*
 * Starts or continues totals for a slot (a copy, before it is visible). The
 * caller holds the writers' lock.
 */
void gkf_total_open(struct gkf_machine *m, unsigned slot,
		    const struct gkf_slot *content);
/* Ends the totals of a freed slot. The caller holds the writers' lock. */
void gkf_total_close(struct gkf_machine *m, unsigned slot);

void gkf_total_holds(struct gkf_machine *m, unsigned slot, uint64_t bytes);
void gkf_total_busy(struct gkf_machine *m, unsigned slot, uint64_t ns);
void gkf_total_moved(struct gkf_machine *m, unsigned slot,
		     enum gkf_direction direction, uint64_t bytes);

#endif
