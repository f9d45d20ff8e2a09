/*
 * pidstat.h - /proc/<pid>/stat, which the kernel documents in proc(5).
 */
#ifndef GK_BASE_PIDSTAT_H
#define GK_BASE_PIDSTAT_H

#include <stdint.h>
#include <sys/types.h>

struct gk_pidstat {
	pid_t pid, ppid;
	char comm[64];         /* as the kernel has it, any bytes */
	char state;            /* R S D Z X ... */
	uint64_t utime, stime; /* clock ticks */
	uint64_t start;        /* clock ticks since boot */
	int64_t priority, nice;
	uint64_t threads;
	uint64_t rss_pages;
	uint64_t stack; /* where it begins; 0: the caller may not know */
};

/*
 * Parses a line; comm may hold blanks and parentheses. 0 or GK_ERR_CORRUPT.
 */
int gk_pidstat_parse(const char *line, struct gk_pidstat *ret_stat);

/*
 * Reads <pid>/stat under an open /proc. GK_ERR_NOT_FOUND when the process is
 * gone, whatever moment it goes.
 */
int gk_pidstat_read(int proc, pid_t pid, struct gk_pidstat *ret_stat);

/*
 * The same through a descriptor that the caller keeps between calls, half as
 * dear: *fd is opened where it is -1 or its process is gone, and is -1 again
 * after a failure. It never tells of a later process with that pid as if it
 * were the one before. Only for the kernel's own /proc.
 */
int gk_pidstat_read_kept(int proc, pid_t pid, int *fd,
			 struct gk_pidstat *ret_stat);

/* The same under /proc, for callers that keep no descriptor of it. */
int gk_pidstat_of(pid_t pid, struct gk_pidstat *ret_stat);

/*
 * That of the calling process. Its pid is the one of the namespace that /proc
 * is of, which may be another than getpid() tells.
 */
int gk_pidstat_self(struct gk_pidstat *ret_stat);

#endif
