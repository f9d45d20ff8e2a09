/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out_of_memory.cu - checks that memory runs out, reports it, and is free
 * again; figures agree.
 */
#include "runtime.h"

#define GIB ((size_t)1 << 30)
#define MOST 4096

static size_t unused(void)
{
	size_t free_bytes, total;

	OK(cudaMemGetInfo(&free_bytes, &total));
	return free_bytes;
}

int main(void)
{
	static void *at[MOST];
	size_t before, chunk, total;
	int n = 0;
	void *one;

	before = unused();
	OK(cudaMemGetInfo(&before, &total));
	EXPECT(cudaMalloc(&one, total + 1), cudaErrorMemoryAllocation);
	EXPECT(cudaGetLastError(), cudaErrorMemoryAllocation);
	EXPECT(cudaMalloc(&one, ~(size_t)0), cudaErrorMemoryAllocation);
	cudaGetLastError();

	/* A request is allocated at once, in units of 2 MiB. */
	OK(cudaMalloc(&one, 64 << 20));
	EQUAL(before - unused(), 64 << 20);
	OK(cudaFree(one));
	EQUAL(unused(), before);

	chunk = before > 64 * GIB ? 4 * GIB : GIB;
	while (n < MOST && cudaMalloc(&at[n], chunk) == cudaSuccess)
		n++;
	EXPECT(cudaGetLastError(), cudaErrorMemoryAllocation);
	REQUIRE(n > 0);
	REQUIRE(unused() < chunk);
	while (n)
		OK(cudaFree(at[--n]));
	EQUAL(unused(), before);
	OK(cudaMalloc(&one, chunk));
	OK(cudaMemset((char *)one + chunk - 1, 1, 1));
	OK(cudaFree(one));
	return 0;
}
