/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logger.c - writes cuBLAS' own log: one line per launched kernel, to a
 * callback of the program, stdout, stderr or a file. Off by default.
 */
#include "fronts/cublas/logger.h"
#include "base/assert.h"

#include "fronts/cublas/blas.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

typedef void (*cublasLogCallback)(const char *message);

static struct {
	pthread_mutex_t lock;
	cublasLogCallback callback;
	bool to_stdout, to_stderr;
	FILE *file;
} logger = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Whether anything receives the log; read without the lock. */
static bool listens;

/* Updates `listens`. The caller holds logger.lock. */
static void note_listeners(void)
{
	GK_ASSERT(gk_lock_held(&logger.lock));
	__atomic_store_n(&listens,
			 logger.callback || logger.to_stdout ||
			     logger.to_stderr || logger.file,
			 __ATOMIC_RELEASE);
}

ENTRY(SetLoggerCallback, cublasLogCallback callback)
{
	pthread_mutex_lock(&logger.lock);
	logger.callback = callback;
	note_listeners();
	pthread_mutex_unlock(&logger.lock);
	return CUBLAS_STATUS_SUCCESS;
}

ENTRY(GetLoggerCallback, cublasLogCallback *ret_callback)
{
	REQUIRE(ret_callback);
	pthread_mutex_lock(&logger.lock);
	*ret_callback = logger.callback;
	pthread_mutex_unlock(&logger.lock);
	return CUBLAS_STATUS_SUCCESS;
}

ENTRY(LoggerConfigure, int is_on, int to_stdout, int to_stderr,
      const char *path)
{
	FILE *file = NULL, *old;

	if (is_on && path && *path) {
		file = fopen(path, "we");
		if (!file)
			return CUBLAS_STATUS_INVALID_VALUE;
	}
	pthread_mutex_lock(&logger.lock);
	old = logger.file;
	logger.file = file;
	logger.to_stdout = is_on && to_stdout;
	logger.to_stderr = is_on && to_stderr;
	note_listeners();
	pthread_mutex_unlock(&logger.lock);
	if (old)
		fclose(old);
	return CUBLAS_STATUS_SUCCESS;
}

static void write_line(FILE *file, const char *line)
{
	fprintf(file, "%s\n", line);
	fflush(file);
}

/* The callback may call cuBLAS, so it is called without holding the lock. */
void logger_write(const char *format, ...)
{
	cublasLogCallback callback;
	char line[256];
	va_list args;

	if (!__atomic_load_n(&listens, __ATOMIC_ACQUIRE))
		return;
	va_start(args, format);
	vsnprintf(line, sizeof line, format, args);
	va_end(args);
	pthread_mutex_lock(&logger.lock);
	if (logger.to_stdout)
		write_line(stdout, line);
	if (logger.to_stderr)
		write_line(stderr, line);
	if (logger.file)
		write_line(logger.file, line);
	callback = logger.callback;
	pthread_mutex_unlock(&logger.lock);
	if (callback)
		callback(line);
}
