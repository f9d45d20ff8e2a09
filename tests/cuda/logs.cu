/* SPDX-License-Identifier: Apache-2.0 */
/* logs.cu - checks the log of errors that the driver gave the runtime. */
#include "runtime.h"

__global__ void nothing()
{
}

static int told;

static void count(void *data, cudaLogLevel level, char *message, size_t length)
{
	if (data != &told || level != cudaLogLevelError || !length || !*message)
		WRONG("a message of %zu bytes", length);
	told++;
}

int main()
{
	cudaLogsCallbackHandle handle;
	cudaLogIterator from;
	static char buffer[32768];
	size_t size = sizeof buffer;

	OK(cudaFree(0));
	OK(cudaLogsCurrent(&from, 0));
	OK(cudaLogsRegisterCallback(count, &told, &handle));
	nothing<<<1, 4096>>>();
	if (cudaGetLastError() == cudaSuccess)
		WRONG("4096 threads in a block");
	if (!told)
		WRONG("nobody was told");
	OK(cudaLogsDumpToMemory(&from, buffer, &size, 0));
	if (!size || strlen(buffer) != size)
		WRONG("%zu bytes", size);
	size = sizeof buffer;
	OK(cudaLogsDumpToMemory(&from, buffer, &size, 0));
	EQUAL(size, (size_t)0);
	OK(cudaLogsUnregisterCallback(handle));
	return 0;
}
