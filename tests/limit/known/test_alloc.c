/* SPDX-License-Identifier: Apache-2.0 */
/* test_alloc.c - allocates device memory by cuMemAlloc. */
#include "limit/known/driver.h"

static int take(size_t bytes, void **ret_thing)
{
	CUdeviceptr at;

	if (!FITS(cuMemAlloc_v2(&at, bytes)))
		return 0;
	*ret_thing = thing_of(at);
	return 1;
}

int main(int argc, char **argv)
{
	static const struct known_way way = {.take = take,
					     .check = check_linear,
					     .give = free_linear,
					     .room = driver_room};

	start();
	return known_run(&way, known_limit(argc, argv));
}
