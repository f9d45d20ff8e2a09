/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_runtime_host_alloc.c - allocates page-locked memory by cudaHostAlloc,
 * which the GPU sees too.
 */
#include "limit/known/runtime.h"

static void use(unsigned flags, size_t before)
{
	unsigned char *host;
	void *at, *mapped;

	OK(cudaHostAlloc(&at, PIECE, flags));
	host = at;
	room_is(before);
	check_host_memory(host, PIECE);
	OK(cudaHostGetDevicePointer(&mapped, at, 0));
	OK(cudaMemset(mapped, 9, PIECE));
	OK(cudaDeviceSynchronize());
	EQUAL(host[PIECE - 1], 9);
	OK(cudaFreeHost(at));
	room_is(before);
}

int main(int argc, char **argv)
{
	size_t before;

	start();
	before = room_under(known_limit(argc, argv));
	use(cudaHostAllocMapped, before);
	use(cudaHostAllocMapped | cudaHostAllocPortable, before);
	return 0;
}
