/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_runtime_alloc_host.c - allocates page-locked memory by cudaMallocHost,
 * which no limit of a GPU applies to.
 */
#include "limit/known/runtime.h"

int main(int argc, char **argv)
{
	size_t before;
	void *at;

	start();
	before = room_under(known_limit(argc, argv));
	OK(cudaMallocHost(&at, PIECE));
	room_is(before);
	check_host_memory(at, PIECE);
	OK(cudaFreeHost(at));
	room_is(before);
	return 0;
}
