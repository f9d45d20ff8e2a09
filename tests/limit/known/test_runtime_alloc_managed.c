/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_runtime_alloc_managed.c - allocates managed memory by cudaMallocManaged:
 * without a limit it may exceed the GPU's.
 */
#include "limit/known/runtime.h"

static int take(size_t bytes, void **ret_thing)
{
	return FITS(cudaMallocManaged(ret_thing, bytes, cudaMemAttachGlobal));
}

/* The host sees what the GPU wrote, and the GPU what the host wrote. */
static void check(void *thing, size_t bytes)
{
	volatile unsigned char *at = thing;
	unsigned char last = 0;

	check_device_memory(thing, bytes);
	OK(cudaDeviceSynchronize());
	at[bytes - 1] = 42;
	OK(cudaMemcpy(&last, (char *)thing + bytes - 1, 1,
		      cudaMemcpyDeviceToHost));
	EQUAL(last, 42);
}

int main(int argc, char **argv)
{
	size_t limit = known_limit(argc, argv);
	const struct known_way way = {.take = take,
				      .check = check,
				      .give = free_device,
				      .room = runtime_room,
				      .lends = !limit};

	start();
	return known_run(&way, limit);
}
