/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_alloc_hold.c - holds most of the GPU's memory until its input ends, so
 * that others can look at it. Prints "holding BYTES" when it does, and checks
 * its values at the end.
 */
#include "limit/known/driver.h"

int main(int argc, char **argv)
{
	size_t limit = known_limit(argc, argv), room, total, bytes;
	unsigned value = 0;
	CUdeviceptr at, more;

	start();
	driver_room(&room, &total);
	if (limit)
		EQUAL(total, limit);
	bytes = room / 4 * 3 / BLOCK * BLOCK;
	OK(cuMemAlloc_v2(&at, bytes));
	check_ends(at, bytes);
	EXPECT(cuMemAlloc_v2(&more, bytes), CUDA_ERROR_OUT_OF_MEMORY);
	printf("holding %zu\n", bytes);
	fflush(stdout);
	while (getchar() != EOF)
		;
	OK(cuMemcpyDtoH_v2(&value, at + bytes - 4, 4));
	EQUAL(value, 0x0ddba11u);
	OK(cuMemFree_v2(at));
	return 0;
}
