/* SPDX-License-Identifier: Apache-2.0 */
/* test_alloc_pitch.c - allocates rows of memory by cuMemAllocPitch. */
#include "limit/known/driver.h"

#define ROW ((size_t)4096)

static int take(size_t bytes, void **ret_thing)
{
	CUdeviceptr at;
	size_t pitch;

	if (!FITS(cuMemAllocPitch_v2(&at, &pitch, ROW, bytes / ROW, 16)))
		return 0;
	REQUIRE(pitch >= ROW);
	*ret_thing = thing_of(at);
	return 1;
}

/* Rows narrower than their pitch do not overlap. */
static void narrow_rows(void)
{
	unsigned char row[2][100], back[2][100];
	size_t pitch;
	CUdeviceptr at;

	memset(row[0], 1, sizeof row[0]);
	memset(row[1], 2, sizeof row[1]);
	OK(cuMemAllocPitch_v2(&at, &pitch, sizeof row[0], 2, 4));
	REQUIRE(pitch >= sizeof row[0]);
	OK(cuMemcpyHtoD_v2(at, row[0], sizeof row[0]));
	OK(cuMemcpyHtoD_v2(at + pitch, row[1], sizeof row[1]));
	OK(cuMemcpyDtoH_v2(back[0], at, sizeof back[0]));
	OK(cuMemcpyDtoH_v2(back[1], at + pitch, sizeof back[1]));
	REQUIRE(!memcmp(row, back, sizeof row));
	OK(cuMemFree_v2(at));
}

int main(int argc, char **argv)
{
	static const struct known_way way = {.take = take,
					     .check = check_linear,
					     .give = free_linear,
					     .room = driver_room};

	start();
	narrow_rows();
	return known_run(&way, known_limit(argc, argv));
}
