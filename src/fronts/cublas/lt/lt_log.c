/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lt_log.c - writes cuBLASLt's own log, which is off unless the program or
 * CUBLASLT_LOG_* turns it on. It goes to a callback, and to a file or stdout.
 */
#include "fronts/cublas/lt/lt.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEVELS           5
#define LINE_SIZE        1024
#define ALL_UP_TO(level) ((1u << (level)) - 1)

static struct {
	pthread_once_t once;
	_Atomic unsigned mask; /* bit (level - 1) is set if that level is on */
	_Atomic bool disabled; /* if true, the log stays off */
	pthread_mutex_t lock;  /* protects writing and the fields below */
	FILE *file;            /* NULL: stdout */
	FILE *own;             /* the file if we opened it */
	cublasLtLoggerCallback_t callback;
} logger = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

/* Opens `path`, with %i replaced by the PID. */
static FILE *open_numbered(const char *path)
{
	const char *at = strstr(path, "%i");
	char name[4096];

	if (!at)
		return fopen(path, "we");
	snprintf(name, sizeof name, "%.*s%d%s", (int)(at - path), path,
		 (int)getpid(), at + 2);
	return fopen(name, "we");
}

static void read_environment(void)
{
	const char *level = getenv("CUBLASLT_LOG_LEVEL");
	const char *mask = getenv("CUBLASLT_LOG_MASK");
	const char *file = getenv("CUBLASLT_LOG_FILE");
	long value = level ? strtol(level, NULL, 10) : 0;

	if (value > 0)
		logger.mask = ALL_UP_TO(value < LEVELS ? value : LEVELS);
	if (mask)
		logger.mask = (unsigned)strtoul(mask, NULL, 0);
	if (file && logger.mask)
		logger.file = logger.own = open_numbered(file);
}

static void lock_logger(void)
{
	pthread_once(&logger.once, read_environment);
	pthread_mutex_lock(&logger.lock);
}

static bool is_logged(enum lt_level level)
{
	pthread_once(&logger.once, read_environment);
	return logger.mask >> (level - 1) & 1 && !logger.disabled;
}

static void unlock_logger(void)
{
	pthread_mutex_unlock(&logger.lock);
}

/* The callback may call cuBLASLt, so it is called without holding the lock. */
void lt_log(enum lt_level level, const char *function, const char *format, ...)
{
	cublasLtLoggerCallback_t callback;
	char line[LINE_SIZE];
	va_list args;

	if (!is_logged(level))
		return;
	va_start(args, format);
	vsnprintf(line, sizeof line, format, args);
	va_end(args);
	lock_logger();
	callback = logger.callback;
	if (!callback || logger.file) {
		FILE *to = logger.file ? logger.file : stdout;

		fprintf(to, "[cublasLt][%d][%s] %s\n", (int)level, function,
			line);
		fflush(to);
	}
	unlock_logger();
	if (callback)
		callback((int)level, function, line);
}

cublasStatus_t lt_end(const char *function, cublasStatus_t status)
{
	lt_log(status ? LT_ERROR : LT_CALL, function, "%s",
	       cublasLtGetStatusName((int)status));
	return status;
}

cublasStatus_t cublasLtLoggerSetCallback(cublasLtLoggerCallback_t callback)
{
	lock_logger();
	logger.callback = callback;
	unlock_logger();
	return CUBLAS_STATUS_SUCCESS;
}

static void use_file(FILE *file, FILE *own)
{
	FILE *old;

	lock_logger();
	old = logger.own;
	logger.file = file;
	logger.own = own;
	unlock_logger();
	if (old)
		fclose(old);
}

cublasStatus_t cublasLtLoggerSetFile(FILE *file)
{
	use_file(file, NULL);
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtLoggerOpenFile(const char *logFile)
{
	FILE *file = logFile ? open_numbered(logFile) : NULL;

	if (!file)
		return CUBLAS_STATUS_INVALID_VALUE;
	use_file(file, file);
	return CUBLAS_STATUS_SUCCESS;
}

static void use_mask(unsigned mask)
{
	pthread_once(&logger.once, read_environment);
	logger.mask = mask;
}

cublasStatus_t cublasLtLoggerSetLevel(int level)
{
	if (level < 0 || level > LEVELS)
		return CUBLAS_STATUS_INVALID_VALUE;
	use_mask(ALL_UP_TO(level));
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtLoggerSetMask(int mask)
{
	use_mask((unsigned)mask);
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtLoggerForceDisable(void)
{
	logger.disabled = true;
	return CUBLAS_STATUS_SUCCESS;
}
