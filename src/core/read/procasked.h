/* SPDX-License-Identifier: Apache-2.0 */
/*
 * procasked.h - reads facts about a process that are optional, because each one
 * costs reading a file. Internal to procfs.c.
 */
#ifndef GK_CORE_PROCASKED_H
#define GK_CORE_PROCASKED_H

#include <gpukit/gpukit.h>

#include "base/pidstat.h"
#include "core/arena.h"

/* Facts of a process that the next snapshot needs. Zeros: none. */
struct gk_procasked {
	bool has_io, has_rank;
	uint64_t read, written; /* bytes */
	struct gk_value rank;
	unsigned rank_age; /* number of snapshots since the rank was read */
};

/* The process to read, and buffers to use. */
struct gk_procasked_from {
	int dir; /* /proc */
	unsigned with;
	uint64_t span_ns; /* time since the previous snapshot; 0: none */
	struct gk_arena *arena;
	char *room; /* buffer for pieces of a file */
	size_t room_size;
};

/*
 * Makes all values absent. `why` is the reason given for values that were
 * requested.
 */
void gk_procasked_absent(unsigned with, enum gk_absence why,
			 struct gk_process *p);

/* Sets those values that are in /proc/PID/stat, which is read anyway. */
void gk_procasked_stat(unsigned with, const struct gk_pidstat *st,
		       struct gk_process *p);

/* Reads all other values. before: NULL if the process was not known. */
void gk_procasked_read(const struct gk_procasked_from *from,
		       const struct gk_procasked *before,
		       struct gk_procasked *now, struct gk_process *p);

#endif
