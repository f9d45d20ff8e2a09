/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_alloc_managed.c - allocates managed memory by cuMemAllocManaged: without
 * a limit it may exceed the GPU's.
 */
#include "limit/known/driver.h"

static int take(size_t bytes, void **ret_thing)
{
	CUdeviceptr at;

	if (!FITS(cuMemAllocManaged(&at, bytes, CU_MEM_ATTACH_GLOBAL)))
		return 0;
	*ret_thing = thing_of(at);
	return 1;
}

/* The host sees what the GPU wrote, and the GPU what the host wrote. */
static void check(void *thing, size_t bytes)
{
	volatile unsigned char *at = thing;
	unsigned char last = 0;

	check_linear(thing, bytes);
	OK(cuCtxSynchronize());
	at[bytes - 1] = 42;
	OK(cuMemcpyDtoH_v2(&last, address_of(thing) + bytes - 1, 1));
	EQUAL(last, 42);
}

int main(int argc, char **argv)
{
	size_t limit = known_limit(argc, argv);
	struct known_way way = {.take = take,
				.check = check,
				.give = free_linear,
				.room = driver_room,
				.lends = !limit};

	start();
	return known_run(&way, limit);
}
