/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_host_register.c - page-locks the program's own memory by
 * cuMemHostRegister.
 */
#include "limit/known/driver.h"

int main(int argc, char **argv)
{
	size_t limit = known_limit(argc, argv), before, total, after;
	unsigned char *at = aligned_alloc(4096, PIECE);

	REQUIRE(at);
	start();
	driver_room(&before, &total);
	if (limit)
		EQUAL(total, limit);
	OK(cuMemHostRegister_v2(at, PIECE, 0));
	EXPECT(cuMemHostRegister_v2(at, PIECE, 0),
	       CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
	driver_room(&after, &total);
	EQUAL(after, before);
	check_host_memory(at, PIECE);
	OK(cuMemHostUnregister(at));
	free(at);
	driver_room(&after, &total);
	EQUAL(after, before);
	return 0;
}
