/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_create_3d_array.c - makes arrays of three dimensions, and layers, by
 * cuArray3DCreate.
 */
#include "limit/known/driver.h"

#define SIDE  ((size_t)1024)
#define SLICE (SIDE * SIDE * 4)

static unsigned flags;

static int take(size_t bytes, void **ret_thing)
{
	const CUDA_ARRAY3D_DESCRIPTOR wanted = {.Width = SIDE,
						.Height = SIDE,
						.Depth = bytes / SLICE,
						.Format =
						    CU_AD_FORMAT_UNSIGNED_INT32,
						.NumChannels = 1,
						.Flags = flags};
	CUarray array;

	if (!FITS(cuArray3DCreate_v2(&array, &wanted)))
		return 0;
	*ret_thing = array;
	return 1;
}

static void copy_slice(CUarray array, size_t slice, unsigned *host,
		       int to_array)
{
	CUDA_MEMCPY3D copy = {
	    .WidthInBytes = SIDE * 4, .Height = SIDE, .Depth = 1};

	if (to_array) {
		copy.srcMemoryType = CU_MEMORYTYPE_HOST;
		copy.srcHost = host;
		copy.srcPitch = SIDE * 4;
		copy.srcHeight = SIDE;
		copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
		copy.dstArray = array;
		copy.dstZ = slice;
	} else {
		copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
		copy.srcArray = array;
		copy.srcZ = slice;
		copy.dstMemoryType = CU_MEMORYTYPE_HOST;
		copy.dstHost = host;
		copy.dstPitch = SIDE * 4;
		copy.dstHeight = SIDE;
	}
	OK(cuMemcpy3D_v2(&copy));
}

static void check(void *thing, size_t bytes)
{
	static unsigned slice[2][SIDE * SIDE];
	size_t last = bytes / SLICE - 1;

	for (size_t i = 0; i < SIDE * SIDE; i++)
		slice[0][i] = (unsigned)(i * 2654435761u);
	copy_slice(thing, last, slice[0], 1);
	copy_slice(thing, last, slice[1], 0);
	REQUIRE(!memcmp(slice[0], slice[1], sizeof slice[0]));
}

static void give(void *thing)
{
	OK(cuArrayDestroy(thing));
}

int main(int argc, char **argv)
{
	size_t limit = known_limit(argc, argv);
	const struct known_way way = {.take = take,
				      .check = check,
				      .give = give,
				      .room = driver_room,
				      .slack = PIECE / 8};

	start();
	known_total(&way, limit);
	known_one(&way);
	if (limit)
		known_fill(&way);
	flags = CUDA_ARRAY3D_LAYERED;
	known_one(&way);
	return 0;
}
