/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_alloc_host.c - allocates page-locked memory by cuMemAllocHost, which no
 * limit of a GPU applies to.
 */
#include "limit/known/driver.h"

int main(int argc, char **argv)
{
	size_t limit = known_limit(argc, argv), before, total, after;
	void *at;

	start();
	driver_room(&before, &total);
	if (limit)
		EQUAL(total, limit);
	OK(cuMemAllocHost_v2(&at, PIECE));
	driver_room(&after, &total);
	EQUAL(after, before);
	check_host_memory(at, PIECE);
	OK(cuMemFreeHost(at));
	driver_room(&after, &total);
	EQUAL(after, before);
	return 0;
}
