/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warps.cu - checks lanes of a warp that act together: groups, tiles,
 * divergence, locks.
 */
#include "runtime.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

#define THREADS 64
#define ALL     0xffffffffu

/* Odd and even lanes reach the same exchange by different paths. */
__global__ void meets(unsigned *swapped, unsigned *said)
{
	unsigned i = threadIdx.x;

	if (i & 1) {
		swapped[i] = __shfl_xor_sync(ALL, i * 10, 1);
		said[i] = __ballot_sync(ALL, i % 3 == 0);
	} else {
		swapped[i] = __shfl_xor_sync(ALL, i * 7, 1) + 1;
		said[i] = __ballot_sync(ALL, i % 5 == 0);
	}
}

static void check_meetings(void)
{
	unsigned *at;

	OK(cudaMallocManaged(&at, 2 * THREADS * sizeof *at));
	meets<<<1, THREADS>>>(at, at + THREADS);
	LAUNCHED();
	OK(cudaDeviceSynchronize());
	for (unsigned i = 0; i < THREADS; i++) {
		unsigned other = i ^ 1, said = 0;

		for (unsigned k = i & ~31u, l = 0; l < 32; k++, l++)
			said |= (unsigned)((k & 1 ? k % 3 : k % 5) == 0) << l;
		EQUAL(at[i], i & 1 ? other * 7 : other * 10 + 1);
		EQUAL(at[THREADS + i], said);
	}
	OK(cudaFree(at));
}

/* Tiles of eight and groups of equal lanes, all at one instruction. */
__global__ void groups(unsigned *any, unsigned *ballot, unsigned *equals)
{
	auto tile = cg::tiled_partition<8>(cg::this_thread_block());
	unsigned i = threadIdx.x, same = __match_any_sync(ALL, i % 5);

	any[i] = tile.any(i == 17);
	ballot[i] = tile.ballot(i % 3 == 0);
	equals[i] = __ballot_sync(same, i > 20);
}

static void check_groups(void)
{
	unsigned *at;

	OK(cudaMallocManaged(&at, 3 * THREADS * sizeof *at));
	groups<<<1, THREADS>>>(at, at + THREADS, at + 2 * THREADS);
	LAUNCHED();
	OK(cudaDeviceSynchronize());
	for (unsigned i = 0; i < THREADS; i++) {
		unsigned said = 0, equal = 0;

		for (unsigned l = 0; l < 8; l++)
			said |= (unsigned)(((i & ~7u) + l) % 3 == 0) << l;
		for (unsigned k = i & ~31u, l = 0; l < 32; k++, l++)
			equal |= (unsigned)(k % 5 == i % 5 && k > 20) << l;
		EQUAL(at[i], i / 8 == 2);
		EQUAL(at[THREADS + i], said);
		EQUAL(at[2 * THREADS + i], equal);
	}
	OK(cudaFree(at));
}

__device__ __noinline__ void lock(int *at)
{
	while (atomicCAS(at, 0, 1))
		;
}

__device__ __noinline__ void unlock(int *at)
{
	__threadfence();
	atomicExch(at, 0);
}

/* Lanes in a function wait for one that has left it. */
__global__ void counts(int *at, volatile int *count)
{
	lock(at);
	*count = *count + 1;
	unlock(at);
}

static void check_locks(void)
{
	int *at;

	OK(cudaMallocManaged(&at, 2 * sizeof *at));
	at[0] = at[1] = 0;
	counts<<<4, THREADS>>>(at, at + 1);
	LAUNCHED();
	OK(cudaDeviceSynchronize());
	EQUAL(at[0], 0);
	EQUAL(at[1], 4 * THREADS);
	OK(cudaFree(at));
}

int main(void)
{
	check_meetings();
	check_groups();
	check_locks();
	return 0;
}
