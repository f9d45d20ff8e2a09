/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error_log.c - cuLogs*: the log of this driver's errors. The latest entries
 * are kept in memory. Each new entry is passed to callbacks and appended to the
 * file named by CUDA_LOG_FILE; "stdout" and "stderr" stand for these streams.
 */
#include "base/clock.h"
#include "base/log.h"
#include "fronts/cuda/context/front.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* 25600 bytes in total, the size given in CUDA's documentation. */
#define ENTRIES 100
#define ENTRY   256 /* maximum bytes of an entry, including newline and NUL */

struct CUlogsCallbackEntry_st {
	CUlogsCallback function;
	void *data;
	CUlogsCallbackHandle next;
};

/*
 * Recursive, because a callback may register another callback or cause an
 * error.
 */
static struct {
	pthread_mutex_t lock;
	char text[ENTRIES][ENTRY];
	CUlogIterator next; /* the number of entries logged so far */
	CUlogsCallbackHandle callbacks;
	bool telling;
} logs = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};

/*
 * Writes "[12:00:01.250][4711][CUDA][E] words" and a newline; returns the
 * length.
 */
static size_t write_entry(char entry[ENTRY], CUlogLevel level,
			  const char *words)
{
	struct timespec t = gk_timespec(gk_wall_ns());
	struct tm tm;
	int n;

	localtime_r(&t.tv_sec, &tm);
	n = snprintf(entry, ENTRY - 1,
		     "[%02d:%02d:%02d.%03d][%ld][CUDA][%c] %s", tm.tm_hour,
		     tm.tm_min, tm.tm_sec, (int)(t.tv_nsec / 1000000),
		     syscall(SYS_gettid),
		     level == CU_LOG_LEVEL_ERROR ? 'E' : 'W', words);
	n = n < ENTRY - 2 ? n : ENTRY - 2;
	entry[n++] = '\n';
	entry[n] = '\0';
	return (size_t)n;
}

static void write_file(const char *entry, size_t size)
{
	const char *path = getenv("CUDA_LOG_FILE");
	int fd = -1;

	if (!path || !*path)
		return;
	if (!strcmp(path, "stdout") || !strcmp(path, "stderr"))
		fd = !strcmp(path, "stdout") ? STDOUT_FILENO : STDERR_FILENO;
	else /* O_NONBLOCK: a FIFO may have no reader */
		fd = open(path,
			  O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC |
			      O_NONBLOCK | O_NOCTTY,
			  0600);
	if (fd >= 0 && write(fd, entry, size) < 0) {
		/* a failed write cannot be reported anywhere */
	}
	if (fd > STDERR_FILENO)
		close(fd);
}

/*
 * Passes the entry without its newline. Errors that occur inside a callback are
 * not passed to callbacks.
 */
static void tell_callbacks(CUlogLevel level, char *entry, size_t length)
{
	CUlogsCallbackHandle next;

	if (logs.telling)
		return;
	logs.telling = true;
	for (CUlogsCallbackHandle c = logs.callbacks; c; c = next) {
		char copy[ENTRY];

		next = c->next;
		memcpy(copy, entry, length);
		copy[length] = '\0';
		c->function(c->data, level, copy, length);
	}
	logs.telling = false;
}

void front_log(int level, const char *format, ...)
{
	CUlogLevel told =
	    level > GK_LOG_WARN ? CU_LOG_LEVEL_WARNING : CU_LOG_LEVEL_ERROR;
	char words[ENTRY], entry[ENTRY];
	int error = errno;
	va_list args;
	size_t size;

	va_start(args, format);
	vsnprintf(words, sizeof words, format, args);
	va_end(args);
	gk_log(level, "%s", words);
	size = write_entry(entry, told, words);
	write_file(entry, size);
	pthread_mutex_lock(&logs.lock);
	memcpy(logs.text[logs.next++ % ENTRIES], entry, size + 1);
	tell_callbacks(told, entry, size - 1);
	pthread_mutex_unlock(&logs.lock);
	errno = error;
}

/*
 * Begins a call that works before cuInit() but fails in a forked child. Counts
 * the call if the driver is ready.
 */
static CUresult enter_logs(enum cuda_row row)
{
	int ready = atomic_load(&cuda.ready);

	if (ready == CUDA_READY)
		front_enter(row);
	return ready == CUDA_FORKED ? CUDA_ERROR_NOT_INITIALIZED : CUDA_SUCCESS;
}

#define ENTER_LOGS(symbol)                                                     \
	do {                                                                   \
		CUresult entered = enter_logs(ROW_##symbol);                   \
		if (entered)                                                   \
			return entered;                                        \
	} while (0)

CUresult cuLogsRegisterCallback(CUlogsCallback callbackFunc, void *userData,
				CUlogsCallbackHandle *callback_out)
{
	CUlogsCallbackHandle c, *at;

	ENTER_LOGS(cuLogsRegisterCallback);
	if (!callbackFunc)
		return CUDA_ERROR_INVALID_VALUE;
	c = handle_new(HANDLE_LOGS, sizeof *c);
	if (!c)
		return CUDA_ERROR_OUT_OF_MEMORY;
	c->function = callbackFunc;
	c->data = userData;
	pthread_mutex_lock(&logs.lock);
	for (at = &logs.callbacks; *at; at = &(*at)->next)
		;
	*at = c;
	pthread_mutex_unlock(&logs.lock);
	if (callback_out)
		*callback_out = c;
	return CUDA_SUCCESS;
}

/*
 * Once this has returned, the callback is not called again. A callback may
 * unregister itself.
 */
CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle callback)
{
	CUlogsCallbackHandle *at;
	bool found;

	ENTER_LOGS(cuLogsUnregisterCallback);
	pthread_mutex_lock(&logs.lock);
	for (at = &logs.callbacks; *at && *at != callback; at = &(*at)->next)
		;
	found = callback && *at;
	if (found) {
		*at = callback->next;
		handle_free(callback);
	}
	pthread_mutex_unlock(&logs.lock);
	return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuLogsCurrent(CUlogIterator *iterator_out, unsigned int flags)
{
	ENTER_LOGS(cuLogsCurrent);
	if (!iterator_out || flags)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&logs.lock);
	*iterator_out = logs.next;
	pthread_mutex_unlock(&logs.lock);
	return CUDA_SUCCESS;
}

/* ---- dumping ---- */

static const char *entry_at(CUlogIterator i)
{
	return logs.text[i % ENTRIES];
}

/*
 * Returns the first entry to dump. *lost receives the number of requested
 * entries that were overwritten.
 */
static CUlogIterator begin_dump(const CUlogIterator *iterator, unsigned *lost)
{
	CUlogIterator oldest = logs.next > ENTRIES ? logs.next - ENTRIES : 0;
	CUlogIterator from = iterator ? *iterator : 0;

	*lost = from < oldest ? oldest - from : 0;
	from = from < oldest ? oldest : from;
	return from < logs.next ? from : logs.next;
}

static size_t size_of_entries(CUlogIterator from)
{
	size_t size = 0;

	for (; from != logs.next; from++)
		size += strlen(entry_at(from));
	return size;
}

/* Writes a first line that says how many entries are missing. */
static void write_lost(char head[ENTRY], unsigned lost)
{
	snprintf(head, ENTRY, "[%u older messages were dropped]\n", lost);
}

/*
 * Copies as many of the newest entries as fit, after a line about the missing
 * entries. Returns false if not even one entry fits.
 */
static bool dump_to_memory(CUlogIterator from, unsigned lost, char *buffer,
			   size_t *size)
{
	char head[ENTRY] = "";
	size_t at;

	for (;; from++, lost++) {
		if (from == logs.next)
			return false;
		if (lost)
			write_lost(head, lost);
		if (strlen(head) + size_of_entries(from) < *size)
			break;
	}
	at = strlen(head);
	memcpy(buffer, head, at);
	for (; from != logs.next; from++) {
		size_t length = strlen(entry_at(from));

		memcpy(buffer + at, entry_at(from), length);
		at += length;
	}
	buffer[at] = '\0';
	*size = at;
	return true;
}

CUresult cuLogsDumpToMemory(CUlogIterator *iterator, char *buffer, size_t *size,
			    unsigned int flags)
{
	CUresult r = CUDA_SUCCESS;
	CUlogIterator from;
	unsigned lost;

	ENTER_LOGS(cuLogsDumpToMemory);
	if (!buffer || !size || !*size || flags)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&logs.lock);
	from = begin_dump(iterator, &lost);
	if (from == logs.next) {
		*buffer = '\0';
		*size = 0;
	} else if (!dump_to_memory(from, lost, buffer, size)) {
		*size = 0;
		r = CUDA_ERROR_INVALID_VALUE;
	}
	if (!r && iterator)
		*iterator = logs.next;
	pthread_mutex_unlock(&logs.lock);
	return r;
}

static bool dump_to_file(CUlogIterator from, unsigned lost, const char *path)
{
	char head[ENTRY] = "";
	FILE *file = fopen(path, "we");

	if (!file)
		return false;
	if (lost)
		write_lost(head, lost);
	fputs(head, file);
	for (; from != logs.next; from++)
		fputs(entry_at(from), file);
	return !fclose(file);
}

CUresult cuLogsDumpToFile(CUlogIterator *iterator, const char *pathToFile,
			  unsigned int flags)
{
	CUlogIterator from;
	unsigned lost;
	bool written;

	ENTER_LOGS(cuLogsDumpToFile);
	if (!pathToFile || flags)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&logs.lock);
	from = begin_dump(iterator, &lost);
	written = dump_to_file(from, lost, pathToFile);
	if (written && iterator)
		*iterator = logs.next;
	pthread_mutex_unlock(&logs.lock);
	return written ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
