/* SPDX-License-Identifier: Apache-2.0 */
/* pidstat.h - reads /proc/<pid>/stat, which is documented in proc(5). */
#ifndef GK_BASE_PIDSTAT_H
#define GK_BASE_PIDSTAT_H

#include <stdint.h>
#include <sys/types.h>

struct gk_pidstat {
	pid_t pid, ppid;
	char comm[64]; /* as the kernel stores it; may contain any bytes */
	char state;    /* R S D Z X ... */
	uint64_t utime, stime; /* clock ticks */
	uint64_t start;        /* clock ticks since boot */
	int64_t priority, nice;
	uint64_t threads;
	uint64_t rss_pages;
	/* address at which the stack begins; 0: the kernel does not show it */
	uint64_t stack;
};

/*
 * Parses a line; comm may contain blanks and parentheses. Returns 0 or
 * GK_ERR_CORRUPT.
 */
int gk_pidstat_parse(const char *line, struct gk_pidstat *ret_stat);

/*
 * Reads <pid>/stat in an open /proc. GK_ERR_NOT_FOUND: the process has ended,
 * possibly during the call.
 */
int gk_pidstat_read(int proc, pid_t pid, struct gk_pidstat *ret_stat);

/*
 * Like gk_pidstat_read(), but through a descriptor that the caller keeps
 * between calls, at half the cost. *fd is opened if it is -1 or if its process
 * has ended, and is -1 again after a failure. The data of a later process with
 * the same pid are never returned for the earlier one. `proc` must be the
 * kernel's own /proc.
 */
int gk_pidstat_read_kept(int proc, pid_t pid, int *fd,
			 struct gk_pidstat *ret_stat);

/* Like gk_pidstat_read(), for callers that have not opened /proc. */
int gk_pidstat_of(pid_t pid, struct gk_pidstat *ret_stat);

/*
 * Reads the data of the calling process. Its pid is the one in the namespace of
 * /proc, which may differ from getpid().
 */
int gk_pidstat_self(struct gk_pidstat *ret_stat);

#endif
