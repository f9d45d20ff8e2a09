/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork_storm_driver.c - forks hundreds of children at once: fork_storm_driver
 * [WORKERS [HEIRS]]. Workers are forked before cuInit() and work independently;
 * heirs are forked from a process with a context, and may use nothing of it.
 */
#include "driver.h"

#include <sys/wait.h>
#include <unistd.h>

#define N 1000

static void work(int nth)
{
	int host[N], n = N;
	CUdeviceptr at;
	void *params[] = {&at, &n};

	start();
	OK(cuMemAlloc(&at, sizeof host));
	OK(cuMemsetD32(at, (unsigned)nth, N));
	OK(cuLaunchKernel(kernel(kernels(), "increment"), (N + 63) / 64, 1, 1,
			  64, 1, 1, 0, NULL, params, NULL));
	OK(cuMemcpyDtoH(host, at, sizeof host));
	for (int i = 0; i < N; i++)
		EQUAL(host[i], nth + 1);
	if (nth % 2) /* every other one leaves it to the exit */
		OK(cuMemFree(at));
}

static CUdeviceptr inherited;

static void inherit(int nth)
{
	CUdeviceptr at;
	CUcontext context;
	char byte;
	int n;

	(void)nth;
	EXPECT(cuMemAlloc(&at, 1000), CUDA_ERROR_NOT_INITIALIZED);
	EXPECT(cuMemFree(inherited), CUDA_ERROR_NOT_INITIALIZED);
	EXPECT(cuMemcpyDtoH(&byte, inherited, 1), CUDA_ERROR_NOT_INITIALIZED);
	EXPECT(cuCtxSynchronize(), CUDA_ERROR_NOT_INITIALIZED);
	EXPECT(cuCtxGetCurrent(&context), CUDA_ERROR_NOT_INITIALIZED);
	EXPECT(cuDeviceGetCount(&n), CUDA_ERROR_NOT_INITIALIZED);
	EXPECT(cuInit(0), CUDA_ERROR_NOT_INITIALIZED);
}

/*
 * Forks this many children that run what() at the same time; all must exit with
 * status 0.
 */
static void storm(int children, void (*what)(int nth))
{
	int go[2], status;
	char byte;

	REQUIRE(!pipe(go));
	for (int i = 0; i < children; i++) {
		pid_t child = fork();

		REQUIRE(child >= 0);
		if (child)
			continue;
		close(go[1]);
		REQUIRE(!read(go[0], &byte, 1));
		what(i);
		exit(0);
	}
	close(go[0]);
	close(go[1]);
	for (int i = 0; i < children; i++) {
		REQUIRE(wait(&status) > 0);
		EQUAL(status, 0);
	}
}

int main(int argc, char **argv)
{
	/* By default few enough to fit on any GPU. */
	storm(argc > 1 ? atoi(argv[1]) : 8, work);
	start();
	OK(cuMemAlloc(&inherited, 1000));
	OK(cuMemsetD8(inherited, 7, 1000));
	storm(argc > 2 ? atoi(argv[2]) : 30, inherit);
	OK(cuMemsetD8(inherited, 1, 1000));
	OK(cuCtxSynchronize());
	OK(cuMemFree(inherited));
	return 0;
}
