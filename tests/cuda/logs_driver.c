/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logs_driver.c - checks the driver's log of errors: dumped, by iterator, and
 * by callback.
 */
#include "driver.h"

#include <unistd.h>

static int told;

static void count(void *data, CUlogLevel level, char *message, size_t length)
{
	if (data != &told || level != CU_LOG_LEVEL_ERROR || !length ||
	    strlen(message) < length)
		WRONG("a message of %zu bytes", length);
	told++;
}

/* Blocks with more threads than any GPU accepts. */
static void fail(CUfunction f)
{
	EXPECT(cuLaunchKernel(f, 1, 1, 1, 4096, 1, 1, 0, NULL, NULL, NULL),
	       CUDA_ERROR_INVALID_VALUE);
}

static size_t dump(CUlogIterator *from, char *buffer, size_t size)
{
	OK(cuLogsDumpToMemory(from, buffer, &size, 0));
	EQUAL(strlen(buffer), size);
	return size;
}

int main(void)
{
	CUlogsCallbackHandle handle;
	CUlogIterator from, unused;
	char buffer[32768], small[4], name[] = "/tmp/cuda-logs-XXXXXX";
	CUfunction f;
	size_t size, all;
	int driver, before;
	FILE *file;

	OK(cuDriverGetVersion(&driver));
	if (driver < 12090)
		skip("the driver keeps no log");
	start();
	f = kernel(kernels(), "increment");
	OK(cuLogsCurrent(&from, 0));
	EXPECT(cuLogsCurrent(&from, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuLogsCurrent(NULL, 0), CUDA_ERROR_INVALID_VALUE);
	EQUAL(dump(&from, buffer, sizeof buffer), (size_t)0);

	OK(cuLogsRegisterCallback(count, &told, &handle));
	fail(f);
	if (!told)
		WRONG("nobody was told");
	size = sizeof small;
	EXPECT(cuLogsDumpToMemory(&from, small, &size, 0),
	       CUDA_ERROR_INVALID_VALUE);
	EQUAL(size, (size_t)0);
	all = dump(&from, buffer, sizeof buffer);
	if (!all || buffer[all - 1] != '\n')
		WRONG("no lines: %zu", all);
	EQUAL(dump(&from, buffer, sizeof buffer), (size_t)0);
	/* Without an iterator everything is dumped. */
	if (dump(NULL, buffer, sizeof buffer) < all)
		WRONG("less than the last ones");

	OK(cuLogsUnregisterCallback(handle));
	before = told;
	OK(cuLogsCurrent(&unused, 0));
	fail(f);
	EQUAL(told, before);
	close(mkstemp(name));
	OK(cuLogsDumpToFile(&unused, name, 0));
	file = fopen(name, "r");
	if (!file || !fgets(buffer, sizeof buffer, file))
		WRONG("nothing in %s", name);
	fclose(file);
	unlink(name);
	EQUAL(dump(&unused, buffer, sizeof buffer), (size_t)0);
	return 0;
}
