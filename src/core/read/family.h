/* SPDX-License-Identifier: Apache-2.0 */
/*
 * family.h - all processes of the host with their parents. For each snapshot it
 * reads the list of pids, all new processes, and those facts of known processes
 * that may have changed.
 */
#ifndef GK_CORE_FAMILY_H
#define GK_CORE_FAMILY_H

#include "core/read/procfs.h"

struct gk_family;

struct gk_member {
	pid_t pid, ppid;
	uint64_t start, threads; /* see gk_pidstat */
	ino_t inode; /* inode of /proc/PID; it changes when the pid is reused */
	bool ended;  /* ended while it was read */
	/* The facts from gk_family_read(); NULL: not read yet. */
	const struct gk_process *process;
};

/*
 * dir: a directory to read instead of /proc, which the caller closes; -1:
 * /proc. Returns 0 or a gk_err.
 */
int gk_family_open(int dir, struct gk_family **ret_family);
void gk_family_close(struct gk_family *family);

/*
 * Reads the processes as of a snapshot, unless that has already been done for
 * this snapshot. Returns 0, GK_ERR_NOMEM, or the error of reading /proc.
 */
int gk_family_scan(struct gk_family *family, const struct gk_snapshot *snap);

/* The members are sorted by pid, and are valid until the next scan. */
struct gk_member *gk_family_members(struct gk_family *family,
				    size_t *ret_count);

/*
 * Reads all facts of a member, once per snapshot. The result and its strings
 * are valid until the next scan. NULL: out of memory.
 */
const struct gk_process *gk_family_read(struct gk_family *family,
					struct gk_member *member);

#endif
