/*
 * family.h - all processes of the host with their parents, read once for each
 * snapshot: the list of pids, and of those that are known already only what
 * may have changed.
 */
#ifndef GK_CORE_FAMILY_H
#define GK_CORE_FAMILY_H

#include "core/procfs.h"

struct gk_family;

struct gk_member {
	pid_t pid, ppid;
	uint64_t start, threads; /* as in gk_pidstat */
	ino_t inode; /* of its directory: another one, another pid */
	bool ended;  /* while it was read */
	/* The facts that gk_family_read() has read; NULL: not asked yet. */
	const struct gk_process *process;
};

/*
 * Takes a directory to read as /proc; it stays the caller's. -1: /proc. 0 or a
 * gk_err.
 */
int gk_family_open(int dir, struct gk_family **ret_family);
void gk_family_close(struct gk_family *family);

/*
 * Reads who there is at the time of a snapshot, unless that has been done for
 * it. 0, GK_ERR_NOMEM, or why /proc is closed.
 */
int gk_family_scan(struct gk_family *family, const struct gk_snapshot *snap);

/* They are sorted by pid and live until the next scan. */
struct gk_member *gk_family_members(struct gk_family *family,
				    size_t *ret_count);

/*
 * All that /proc tells of a member, read once a snapshot; NULL without memory.
 * It and its strings live until the next scan.
 */
const struct gk_process *gk_family_read(struct gk_family *family,
					struct gk_member *member);

#endif
