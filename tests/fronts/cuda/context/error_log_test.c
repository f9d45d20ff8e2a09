/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error_log_test.c - checks the log of errors: its content, what it drops, who
 * is notified.
 */
#include "fronts/cuda/loaded.h"

#include <fcntl.h>
#include <sys/stat.h>

#define KEPT 100 /* messages */

/* Causes a message with a number that identifies it. */
static void fail_launch(unsigned number)
{
	static CUfunction f;

	if (!f)
		assert_cuda(CU(cuModuleEnumerateFunctions)(
				&f, 1, module_of("vector_add_13.ptx")),
			    SUCCESS);
	assert_cuda(CU(cuLaunchKernel)(f, number, 1, 1, 5000, 1, 1, 0, NULL,
				       NULL, NULL),
		    ERROR_INVALID_VALUE);
}

static char *dump(CUlogIterator *from, size_t room)
{
	static char buffer[32768];
	size_t size = room;

	assert_true(room <= sizeof buffer);
	assert_cuda(CU(cuLogsDumpToMemory)(from, buffer, &size, 0), SUCCESS);
	assert_int_equal(strlen(buffer), size);
	assert_true(size < room);
	return buffer;
}

static unsigned lines_of(const char *text)
{
	unsigned n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static void a_message_says_what_was_wrong(struct fixture *fx)
{
	CUlogIterator from = 0;
	int hours, minutes, seconds, ms, thread, end = 0;
	const char *text;

	(void)fx;
	begin();
	fail_launch(7);
	text = dump(&from, 4096);
	assert_int_equal(sscanf(text, "[%2d:%2d:%2d.%3d][%d][CUDA][E] %n",
				&hours, &minutes, &seconds, &ms, &thread, &end),
			 5);
	assert_int_equal(thread, getpid());
	assert_string_equal(text + end,
			    "kernel vector_add: a grid of (7,1,1) blocks of "
			    "(5000,1,1) threads exceeds the device's limits\n");
	assert_int_equal(from, 1);
}

static void what_is_refused_is_told(struct fixture *fx)
{
	CUlogIterator from = 0;

	(void)fx;
	begin();
	assert_cuda(CU(cuProfilerInitialize)("a", "b", CU_OUT_CSV),
		    ERROR_NOT_SUPPORTED);
	assert_non_null(strstr(dump(&from, 4096), "cuProfilerInitialize: "));
}

static void the_oldest_are_forgotten(struct fixture *fx)
{
	CUlogIterator from = 0, none = KEPT + 20;
	const char *text;

	(void)fx;
	begin();
	for (unsigned i = 1; i <= KEPT + 20; i++)
		fail_launch(i);
	text = dump(&from, 32768);
	assert_int_equal(lines_of(text), KEPT + 1);
	assert_int_equal(strncmp(text, "[20 older messages", 18), 0);
	assert_null(strstr(text, "(20,1,1)"));
	assert_non_null(strstr(text, "(21,1,1)"));
	assert_non_null(strstr(text, "(120,1,1)"));
	assert_int_equal(from, KEPT + 20);
	assert_string_equal(dump(&none, 4096), "");
}

/* Three messages of about 128 bytes fit after the line about the others. */
static void a_small_buffer_has_the_newest(struct fixture *fx)
{
	CUlogIterator from = 0;
	char one[] = "x";
	size_t size = 1;
	const char *text;

	(void)fx;
	begin();
	for (unsigned i = 1; i <= 10; i++)
		fail_launch(i);
	text = dump(&from, 440);
	assert_int_equal(strncmp(text, "[7 older messages", 17), 0);
	assert_int_equal(lines_of(text), 4);
	assert_non_null(strstr(text, "(10,1,1)"));
	assert_int_equal(from, 10);
	from = 9;
	assert_cuda(CU(cuLogsDumpToMemory)(&from, one, &size, 0),
		    ERROR_INVALID_VALUE);
	assert_int_equal(size, 0);
	assert_int_equal(from, 9);
}

struct heard {
	CUlogsCallbackHandle own;
	unsigned count;
	bool leaves;
};

static void hear(void *data, CUlogLevel level, char *message, size_t length)
{
	struct heard *h = data;

	assert_int_equal(level, CU_LOG_LEVEL_ERROR);
	assert_int_equal(strlen(message), length);
	h->count++;
	fail_launch(1000); /* an error in a callback notifies nobody */
	if (h->leaves)
		CU(cuLogsUnregisterCallback)(h->own);
}

static void callbacks_come_and_go(struct fixture *fx)
{
	struct heard once = {.leaves = true}, always = {0};
	CUlogsCallbackHandle none;

	(void)fx;
	memset(&none, 0x5a, sizeof none);
	begin();
	assert_cuda(CU(cuLogsRegisterCallback)(hear, &once, &once.own),
		    SUCCESS);
	assert_cuda(CU(cuLogsRegisterCallback)(hear, &always, &always.own),
		    SUCCESS);
	fail_launch(1);
	fail_launch(2);
	assert_int_equal(once.count, 1);
	assert_int_equal(always.count, 2);
	assert_cuda(CU(cuLogsUnregisterCallback)(once.own),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuLogsUnregisterCallback)(none), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuLogsUnregisterCallback)(NULL), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuLogsUnregisterCallback)(always.own), SUCCESS);
	fail_launch(3);
	assert_int_equal(always.count, 2);
}

static void files_are_written(struct fixture *fx)
{
	char path[128], line[512], text[512] = "";
	CUlogIterator from;
	FILE *file;

	snprintf(path, sizeof path, "%s/log", fx->dir);
	setenv("CUDA_LOG_FILE", path, 1);
	begin();
	fail_launch(1);
	fail_launch(2);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_non_null(fgets(line, sizeof line, file));
	assert_non_null(strstr(line, "(1,1,1)"));
	assert_non_null(fgets(line, sizeof line, file));
	assert_non_null(strstr(line, "(2,1,1)"));
	fclose(file);
	unsetenv("CUDA_LOG_FILE");
	from = 1;
	assert_cuda(CU(cuLogsDumpToFile)(&from, path, 0), SUCCESS);
	file = fopen(path, "r");
	assert_true(fread(text, 1, sizeof text - 1, file) > 0);
	fclose(file);
	assert_int_equal(lines_of(text), 1);
	assert_non_null(strstr(text, "(2,1,1)"));
	from = 1;
	assert_cuda(CU(cuLogsDumpToFile)(&from, "/nowhere/at/all", 0),
		    ERROR_INVALID_VALUE);
	assert_int_equal(from, 1);
	unlink(path);
}

static void a_pipe_that_nobody_reads_holds_up_nobody(struct fixture *fx)
{
	char path[128], line[256];
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "%s/log", fx->dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	setenv("CUDA_LOG_FILE", path, 1);
	alarm(20);
	begin();
	fail_launch(1);
	fd = open(path, O_RDONLY | O_NONBLOCK);
	assert_true(fd >= 0);
	fail_launch(2);
	n = read(fd, line, sizeof line - 1);
	assert_true(n > 0);
	line[n] = '\0';
	assert_non_null(strstr(line, "(2,1,1)"));
	alarm(0);
	close(fd);
	unlink(path);
}

static const struct alone tests[] = {
    ALONE(a_message_says_what_was_wrong),
    ALONE(what_is_refused_is_told),
    ALONE(the_oldest_are_forgotten),
    ALONE(a_small_buffer_has_the_newest),
    ALONE(callbacks_come_and_go),
    ALONE(files_are_written),
    ALONE(a_pipe_that_nobody_reads_holds_up_nobody),
};

ALONE_MAIN(tests)
