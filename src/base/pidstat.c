/* SPDX-License-Identifier: Apache-2.0 */
/* pidstat.c - reads and parses /proc/<pid>/stat. */
#include "base/pidstat.h"

#include "base/err.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Field numbers as in proc(5). Only the fields after the name are parsed by
 * number.
 */
enum {
	STATE = 3,
	PPID = 4,
	UTIME = 14,
	STIME = 15,
	PRIORITY = 18,
	NICE = 19,
	THREADS = 20,
	START = 22,
	RSS = 24,
	STACK = 28
};

/*
 * Reads a number and moves *p past it; false: there is none. strtoull() would
 * take most of the time of reading a process.
 */
static bool take_number(const char **p, uint64_t *ret_value)
{
	const char *at = *p + (**p == ' ');
	bool negative = *at == '-';
	uint64_t value = 0;

	at += negative;
	if (!isdigit((unsigned char)*at))
		return false;
	for (; isdigit((unsigned char)*at); at++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *at - '0', &value))
			value = UINT64_MAX;
	*ret_value = negative ? -value : value;
	*p = at;
	return true;
}

int gk_pidstat_parse(const char *line, struct gk_pidstat *ret_stat)
{
	const char *open = strchr(line, '('), *close = strrchr(line, ')');
	uint64_t field[STACK + 1] = {0};
	struct gk_pidstat st = {0};
	size_t len;
	const char *p;

	if (!isdigit((unsigned char)*line) || !open || !close || close < open ||
	    close[1] != ' ' || !close[2])
		return GK_ERR_CORRUPT;
	len = (size_t)(close - open - 1);
	if (len >= sizeof st.comm)
		len = sizeof st.comm - 1;
	memcpy(st.comm, open + 1, len);
	st.pid = (pid_t)strtol(line, NULL, 10);
	st.state = close[2];
	p = close + 3;
	for (int i = PPID; i <= STACK; i++)
		if (!take_number(&p, &field[i]) && i <= RSS)
			return GK_ERR_CORRUPT;
	st.ppid = (pid_t)field[PPID];
	st.utime = field[UTIME];
	st.stime = field[STIME];
	st.priority = (int64_t)field[PRIORITY];
	st.nice = (int64_t)field[NICE];
	st.threads = field[THREADS];
	st.start = field[START];
	st.rss_pages = field[RSS];
	st.stack = field[STACK];
	*ret_stat = st;
	return 0;
}

/*
 * One read is enough: the kernel returns the whole line at once if it fits. It
 * does not add a NUL.
 */
static int read_line(int fd, struct gk_pidstat *ret_stat)
{
	char line[1024];
	ssize_t n;

	do
		n = pread(fd, line, sizeof line - 1, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return gk_err_from_errno(errno);
	line[n] = '\0';
	return n ? gk_pidstat_parse(line, ret_stat) : GK_ERR_NOT_FOUND;
}

static int read_pid_stat(int dir, const char *path, struct gk_pidstat *ret_stat)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NOCTTY), r;

	if (fd < 0)
		return gk_err_from_errno(errno);
	r = read_line(fd, ret_stat);
	close(fd);
	return r;
}

int gk_pidstat_read(int proc, pid_t pid, struct gk_pidstat *ret_stat)
{
	char path[32];

	snprintf(path, sizeof path, "%d/stat", (int)pid);
	return read_pid_stat(proc, path, ret_stat);
}

int gk_pidstat_read_kept(int proc, pid_t pid, int *fd,
			 struct gk_pidstat *ret_stat)
{
	char path[32];
	int r = GK_ERR_NOT_FOUND;

	if (*fd >= 0)
		r = read_line(*fd, ret_stat);
	if (!r)
		return 0;
	if (*fd >= 0)
		close(*fd);
	snprintf(path, sizeof path, "%d/stat", (int)pid);
	*fd = openat(proc, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (*fd < 0)
		return gk_err_from_errno(errno);
	r = read_line(*fd, ret_stat);
	if (r) {
		close(*fd);
		*fd = -1;
	}
	return r;
}

int gk_pidstat_of(pid_t pid, struct gk_pidstat *ret_stat)
{
	char path[32];

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	return read_pid_stat(AT_FDCWD, path, ret_stat);
}

int gk_pidstat_self(struct gk_pidstat *ret_stat)
{
	return read_pid_stat(AT_FDCWD, "/proc/self/stat", ret_stat);
}
