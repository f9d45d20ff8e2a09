/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_host_alloc.c - allocates page-locked memory by cuMemHostAlloc, which the
 * GPU sees too.
 */
#include "limit/known/driver.h"

static void use(unsigned flags)
{
	size_t before, total, after;
	CUdeviceptr mapped;
	unsigned char *host;
	void *at;

	driver_room(&before, &total);
	OK(cuMemHostAlloc(&at, PIECE, flags));
	host = at;
	driver_room(&after, &total);
	EQUAL(after, before);
	check_host_memory(host, PIECE);
	OK(cuMemHostGetDevicePointer_v2(&mapped, at, 0));
	OK(cuMemsetD8_v2(mapped, 9, PIECE));
	OK(cuCtxSynchronize());
	EQUAL(host[PIECE - 1], 9);
	OK(cuMemFreeHost(at));
	driver_room(&after, &total);
	EQUAL(after, before);
}

int main(int argc, char **argv)
{
	size_t limit = known_limit(argc, argv), room, total;

	start();
	use(CU_MEMHOSTALLOC_DEVICEMAP);
	use(CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE);
	driver_room(&room, &total);
	if (limit)
		EQUAL(total, limit);
	return 0;
}
