/* SPDX-License-Identifier: Apache-2.0 */
/* test_runtime_alloc.c - allocates device memory by cudaMalloc. */
#include "limit/known/runtime.h"

static int take(size_t bytes, void **ret_thing)
{
	return FITS(cudaMalloc(ret_thing, bytes));
}

int main(int argc, char **argv)
{
	static const struct known_way way = {.take = take,
					     .check = check_device_memory,
					     .give = free_device,
					     .room = runtime_room};

	start();
	return known_run(&way, known_limit(argc, argv));
}
