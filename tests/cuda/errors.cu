/* SPDX-License-Identifier: Apache-2.0 */
/*
 * errors.cu - checks what the runtime refuses, and how the last error is
 * reported.
 */
#include "runtime.h"

__global__ void nothing(void)
{
}

static void last_error(void)
{
	void *at = NULL;

	EXPECT(cudaSetDevice(-1), cudaErrorInvalidDevice);
	EXPECT(cudaPeekAtLastError(), cudaErrorInvalidDevice);
	EXPECT(cudaPeekAtLastError(), cudaErrorInvalidDevice);
	EXPECT(cudaGetLastError(), cudaErrorInvalidDevice);
	OK(cudaGetLastError());
	/* A success does not clear an error. */
	EXPECT(cudaSetDevice(devices()), cudaErrorInvalidDevice);
	OK(cudaMalloc(&at, 1));
	EXPECT(cudaGetLastError(), cudaErrorInvalidDevice);
	OK(cudaFree(at));
}

static void memory(void)
{
	char *at, here;

	OK(cudaMalloc(&at, 100));
	OK(cudaFree(at));
	EXPECT(cudaFree(at), cudaErrorInvalidValue);
	EXPECT(cudaFree(&here), cudaErrorInvalidValue);
	OK(cudaFree(NULL));
	OK(cudaMalloc(&at, 100));
	EXPECT(cudaFree(at + 4), cudaErrorInvalidValue);
	OK(cudaFree(at));
	OK(cudaFreeHost(NULL));
	EXPECT(cudaMalloc(NULL, 10), cudaErrorInvalidValue);
	at = &here;
	OK(cudaMalloc(&at, 0));
	EQUAL(at, 0);
	cudaGetLastError();
}

static void launches(void)
{
	nothing<<<0, 1>>>();
	EXPECT(cudaGetLastError(), cudaErrorInvalidConfiguration);
	nothing<<<1, 1025>>>();
	EXPECT(cudaGetLastError(), cudaErrorInvalidConfiguration);
	nothing<<<1, dim3(1, 1, 65)>>>();
	EXPECT(cudaGetLastError(), cudaErrorInvalidConfiguration);
	nothing<<<dim3(1, 65536), 1>>>();
	EXPECT(cudaGetLastError(), cudaErrorInvalidConfiguration);
	nothing<<<1, 1, 10 << 20>>>();
	EXPECT(cudaGetLastError(), cudaErrorInvalidValue);
	nothing<<<1, 1>>>();
	LAUNCHED();
	OK(cudaDeviceSynchronize());
	EXPECT(cudaLaunchKernel((void *)memory, dim3(1), dim3(1), NULL, 0, 0),
	       cudaErrorInvalidDeviceFunction);
	cudaGetLastError();
}

static void names(void)
{
	REQUIRE(!strcmp(cudaGetErrorName(cudaErrorMemoryAllocation),
			"cudaErrorMemoryAllocation"));
	REQUIRE(!strcmp(cudaGetErrorString(cudaErrorMemoryAllocation),
			"out of memory"));
	REQUIRE(!strcmp(cudaGetErrorString(cudaSuccess), "no error"));
	REQUIRE(!strcmp(cudaGetErrorName((cudaError_t)123456),
			"unrecognized error code"));
}

int main(void)
{
	last_error();
	memory();
	launches();
	names();
	return 0;
}
