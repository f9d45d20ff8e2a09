/*
 * procasked.h - what /proc tells of a process only when it is asked for: it
 * costs a file each. Internal to procfs.c.
 */
#ifndef GK_CORE_PROCASKED_H
#define GK_CORE_PROCASKED_H

#include <gpukit/gpukit.h>

#include "base/pidstat.h"
#include "core/arena.h"

/* Facts of a process that are kept until the next snapshot. Zero: nothing. */
struct gk_procasked {
	bool has_io, has_rank;
	uint64_t read, written; /* bytes */
	struct gk_value rank;
	unsigned rank_age; /* snapshots since it was read */
};

/* Where to read, and what is there to read with. */
struct gk_procasked_from {
	int dir; /* /proc */
	unsigned with;
	uint64_t span_ns; /* since the snapshot before; 0: none */
	struct gk_arena *arena;
	char *room; /* for the pieces of a file */
	size_t room_size;
};

/* All of it absent: because of why where it is asked for. */
void gk_procasked_absent(unsigned with, enum gk_absence why,
			 struct gk_process *p);

/* The values in stat, which is read in any case. */
void gk_procasked_stat(unsigned with, const struct gk_pidstat *st,
		       struct gk_process *p);

/* All others. before may be NULL: not known then. */
void gk_procasked_read(const struct gk_procasked_from *from,
		       const struct gk_procasked *before,
		       struct gk_procasked *now, struct gk_process *p);

#endif
