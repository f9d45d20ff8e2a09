/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork_driver.c - checks that a child of a process that called cuInit may use
 * nothing.
 */
#include "driver.h"

#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	CUdeviceptr at;
	int status = -1;
	pid_t child;

	start();
	OK(cuMemAlloc(&at, 1000));
	child = fork();
	if (!child) {
		EXPECT(cuMemAlloc(&at, 1000), CUDA_ERROR_NOT_INITIALIZED);
		EXPECT(cuCtxSynchronize(), CUDA_ERROR_NOT_INITIALIZED);
		EXPECT(cuInit(0), CUDA_ERROR_NOT_INITIALIZED);
		_exit(0);
	}
	waitpid(child, &status, 0);
	EQUAL(status, 0);
	OK(cuMemsetD8(at, 1, 1000));
	OK(cuCtxSynchronize());
	OK(cuMemFree(at));
	return 0;
}
