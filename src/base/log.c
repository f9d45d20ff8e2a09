/* log.c - GPUKIT_LOG, read once; see log.h. */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *const names[] = {"off", "error", "warn", "info", "debug"};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic int level_in_force = -1;
static int log_fd = STDERR_FILENO;

static int level_by_name(const char *name, size_t len)
{
	for (int i = 0; i <= GK_LOG_DEBUG; i++)
		if (strlen(names[i]) == len && !memcmp(names[i], name, len))
			return i;
	return GK_LOG_WARN;
}

static void read_environment(void)
{
	const char *value = getenv("GPUKIT_LOG");
	int level = GK_LOG_OFF;

	if (value && *value) {
		size_t len = strcspn(value, ":");

		level = level_by_name(value, len);
		if (value[len] == ':') {
			int fd = open(value + len + 1,
				      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
				      0600);

			if (fd >= 0)
				log_fd = fd;
		}
	}
	atomic_store(&level_in_force, level);
}

int gk_log_level(void)
{
	int level = atomic_load_explicit(&level_in_force, memory_order_relaxed);
	int error;

	if (level >= 0)
		return level;
	error = errno;
	pthread_once(&once, read_environment);
	errno = error;
	return atomic_load(&level_in_force);
}

void gk_log_write(int level, const char *format, ...)
{
	int saved = errno;
	char line[512];
	va_list args;
	int n, m;

	n = snprintf(line, sizeof line, "gpukit[%d/%ld] %s: ", (int)getpid(),
		     syscall(SYS_gettid), names[level]);
	va_start(args, format);
	m = vsnprintf(line + n, sizeof line - (size_t)n - 1, format, args);
	va_end(args);
	n = m < 0 ? n : n + m;
	if ((size_t)n > sizeof line - 2)
		n = sizeof line - 2;
	line[n++] = '\n';
	if (write(log_fd, line, (size_t)n) < 0) {
		/* nowhere left to say so */
	}
	errno = saved;
}
