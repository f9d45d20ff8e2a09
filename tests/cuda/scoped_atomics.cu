/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scoped_atomics.cu - checks words that threads share by libcu++: cuda::atomic
 * of every scope.
 */
#include "runtime.h"

#include <cuda/atomic>

__device__ cuda::std::atomic<unsigned> largest;

__global__ void work(int *at)
{
	__shared__ cuda::atomic<unsigned, cuda::thread_scope_block> seen;
	cuda::atomic_ref<int, cuda::thread_scope_device> count(at[0]);
	cuda::atomic_ref<int, cuda::thread_scope_system> sum(at[1]);
	unsigned i = threadIdx.x, old = largest.load();
	int e = sum.load(cuda::memory_order_relaxed);

	if (!i)
		seen = 0;
	__syncthreads();
	count.fetch_add(1, cuda::memory_order_relaxed);
	count.fetch_add(1);
	while (!sum.compare_exchange_weak(e, e + 3,
					  cuda::memory_order_acq_rel))
		;
	while (old < i && !largest.compare_exchange_weak(old, i))
		;
	seen.fetch_or(1U << i % 32, cuda::memory_order_release);
	__syncthreads();
	if (!i)
		cuda::atomic_ref<int>(at[2 + blockIdx.x])
		    .store((int)seen.load(cuda::memory_order_acquire));
	cuda::atomic_thread_fence(cuda::memory_order_seq_cst,
				  cuda::thread_scope_device);
}

int main(void)
{
	unsigned most;
	int *at, end[4];

	OK(cudaMalloc(&at, sizeof end));
	OK(cudaMemset(at, 0, sizeof end));
	work<<<2, 80>>>(at);
	LAUNCHED();
	OK(cudaMemcpy(end, at, sizeof end, cudaMemcpyDeviceToHost));
	OK(cudaMemcpyFromSymbol(&most, largest, sizeof most));
	EQUAL(end[0], 2 * 2 * 80);
	EQUAL(end[1], 2 * 3 * 80);
	EQUAL(end[2], -1);
	EQUAL(end[3], -1);
	EQUAL(most, 79);
	OK(cudaFree(at));
	return 0;
}
