/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.c - sets up the log named by GPUKIT_LOG, once, and writes lines to it.
 *
 * Keeps no descriptor open: the program could close it and get the same number
 * for one of its own files.
 */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *const names[] = {"off", "error", "warn", "info", "debug"};

/*
 * The level is set without pthread_once(), which would make each library that
 * contains this file need libpthread.so.0.
 */
enum { NOT_READ = -1, BEING_READ = -2 };
static _Atomic int level_in_force = NOT_READ;

/* Where lines are written; set once. */
static struct {
	char path[PATH_MAX]; /* empty: write to stderr */
	/*
	 * whether stderr was open at the start; if so, dev and ino identify its
	 * file
	 */
	bool has_stderr;
	dev_t dev;
	ino_t ino;
} target;

static int level_by_name(const char *name, size_t len)
{
	for (int i = 0; i <= GK_LOG_DEBUG; i++)
		if (strlen(names[i]) == len && !memcmp(names[i], name, len))
			return i;
	return GK_LOG_WARN;
}

/* O_NONBLOCK: a FIFO without a reader must not block the program. */
static int open_path(void)
{
	return open(target.path,
		    O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY |
			O_NONBLOCK,
		    0600);
}

/*
 * Stores the path as an absolute one, because the program may change its
 * directory.
 */
static void note_path(const char *path)
{
	char dir[PATH_MAX];
	int n, fd;

	if (*path == '/' || !getcwd(dir, sizeof dir))
		n = snprintf(target.path, sizeof target.path, "%s", path);
	else
		n = snprintf(target.path, sizeof target.path, "%s/%s", dir,
			     path);
	fd = n > 0 && (size_t)n < sizeof target.path ? open_path() : -1;
	if (fd >= 0)
		close(fd);
	else
		target.path[0] = '\0';
}

static void note_stderr(void)
{
	struct stat st;

	target.has_stderr = fstat(STDERR_FILENO, &st) == 0;
	if (target.has_stderr) {
		target.dev = st.st_dev;
		target.ino = st.st_ino;
	}
}

static void read_environment(void)
{
	const char *value = getenv("GPUKIT_LOG");
	int level = GK_LOG_OFF;

	if (value && *value) {
		size_t len = strcspn(value, ":");

		level = level_by_name(value, len);
		if (value[len] == ':' &&
		    strcmp(value + len + 1, "/dev/stderr") != 0)
			note_path(value + len + 1);
	}
	note_stderr();
	atomic_store(&level_in_force, level);
}

/*
 * The first thread reads the environment, and others wait for it, but not
 * forever: after fork() the first thread may exist only in the parent.
 */
static void read_once(void)
{
	int unread = NOT_READ;

	if (atomic_compare_exchange_strong(&level_in_force, &unread,
					   BEING_READ))
		read_environment();
	for (int i = 0; i < 1000 && atomic_load(&level_in_force) < 0; i++)
		sched_yield();
}

int gk_log_level(void)
{
	int level = atomic_load_explicit(&level_in_force, memory_order_relaxed);
	int error;

	if (level >= 0)
		return level;
	error = errno;
	read_once();
	errno = error;
	level = atomic_load(&level_in_force);
	return level < 0 ? GK_LOG_OFF : level;
}

void gk_log_set_default(int level)
{
	const char *value = getenv("GPUKIT_LOG");

	gk_log_level();
	if (!value || !*value)
		atomic_store(&level_in_force, level);
}

/*
 * Whether stderr is still the file that it was at the start. The program may
 * have closed it and opened another file under the same number.
 */
static bool is_stderr(void)
{
	struct stat st;

	return target.has_stderr && fstat(STDERR_FILENO, &st) == 0 &&
	       st.st_dev == target.dev && st.st_ino == target.ino;
}

static void write_line(const char *line, size_t len)
{
	int fd = STDERR_FILENO;

	if (target.path[0])
		fd = open_path();
	else if (!is_stderr())
		fd = -1;
	if (fd < 0 || write(fd, line, len) < 0) {
		/* a failed write cannot be reported anywhere */
	}
	if (fd >= 0 && target.path[0])
		close(fd);
}

void gk_log_write(int level, const char *format, ...)
{
	int saved = errno;
	char line[512];
	va_list args;
	int n, m;

	gk_log_level();
	n = snprintf(line, sizeof line, "gpukit[%d/%ld] %s: ", (int)getpid(),
		     syscall(SYS_gettid), names[level]);
	va_start(args, format);
	m = vsnprintf(line + n, sizeof line - (size_t)n - 1, format, args);
	va_end(args);
	n = m < 0 ? n : n + m;
	if ((size_t)n > sizeof line - 2)
		n = sizeof line - 2;
	line[n++] = '\n';
	write_line(line, (size_t)n);
	errno = saved;
}

void gk_log_tell(const char *format, ...)
{
	const char *value = getenv("GPUKIT_LOG");
	int saved = errno;
	char line[512];
	va_list args;
	int n;

	if (value && *value && gk_log_level() == GK_LOG_OFF)
		return;
	gk_log_level();
	va_start(args, format);
	n = vsnprintf(line, sizeof line - 1, format, args);
	va_end(args);
	if (n < 0)
		return;
	if ((size_t)n > sizeof line - 2)
		n = sizeof line - 2;
	line[n++] = '\n';
	if (is_stderr() && write(STDERR_FILENO, line, (size_t)n) < 0) {
		/* a failed write cannot be reported anywhere */
	}
	errno = saved;
}
