/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_create_array.c - makes arrays by cuArrayCreate: rows of floats within
 * the largest width and height.
 */
#include "limit/known/driver.h"

#define WIDTH ((size_t)8192)
#define ROW   (WIDTH * 4 * sizeof(float))

static int take(size_t bytes, void **ret_thing)
{
	const CUDA_ARRAY_DESCRIPTOR wanted = {.Width = WIDTH,
					      .Height = bytes / ROW,
					      .Format = CU_AD_FORMAT_FLOAT,
					      .NumChannels = 4};
	CUarray array;

	if (!FITS(cuArrayCreate_v2(&array, &wanted)))
		return 0;
	*ret_thing = array;
	return 1;
}

static void copy_row(CUarray array, size_t row, float *host, int to_array)
{
	CUDA_MEMCPY2D copy = {.WidthInBytes = ROW, .Height = 1};

	if (to_array) {
		copy.srcMemoryType = CU_MEMORYTYPE_HOST;
		copy.srcHost = host;
		copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
		copy.dstArray = array;
		copy.dstY = row;
	} else {
		copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
		copy.srcArray = array;
		copy.srcY = row;
		copy.dstMemoryType = CU_MEMORYTYPE_HOST;
		copy.dstHost = host;
	}
	OK(cuMemcpy2D_v2(&copy));
}

static void check(void *thing, size_t bytes)
{
	static float row[2][WIDTH * 4];
	size_t last = bytes / ROW - 1;

	for (size_t i = 0; i < WIDTH * 4; i++)
		row[0][i] = (float)i;
	copy_row(thing, last, row[0], 1);
	copy_row(thing, last, row[1], 0);
	/* NOLINTNEXTLINE: copied byte by byte */
	REQUIRE(!memcmp(row[0], row[1], sizeof row[0]));
}

static void give(void *thing)
{
	OK(cuArrayDestroy(thing));
}

static void describes_itself(void)
{
	CUDA_ARRAY_DESCRIPTOR is;
	void *array;

	REQUIRE(take(PIECE, &array));
	OK(cuArrayGetDescriptor_v2(&is, array));
	EQUAL(is.Width, WIDTH);
	EQUAL(is.Height, PIECE / ROW);
	EQUAL(is.NumChannels, 4);
	give(array);
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
	describes_itself();
	known_total(&way, limit);
	known_one(&way);
	if (limit)
		known_fill(&way);
	known_one(&way);
	return 0;
}
