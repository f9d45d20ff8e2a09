/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copies_driver.c - copies boxes of two and three dimensions between host,
 * device and arrays.
 */
#include "driver.h"

#define W 24
#define H 9
#define D 5

static unsigned char host[D][H][W], back[D][H][W];

static void two(void)
{
	CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
			      .srcHost = host,
			      .srcPitch = W,
			      .srcXInBytes = 2,
			      .srcY = 1,
			      .dstMemoryType = CU_MEMORYTYPE_DEVICE,
			      .dstXInBytes = 3,
			      .WidthInBytes = 7,
			      .Height = 4};
	CUdeviceptr at;
	size_t pitch;

	OK(cuMemAllocPitch(&at, &pitch, W, H, 4));
	REQUIRE(pitch >= W);
	OK(cuMemsetD8(at, 0, pitch * H));
	copy.dstDevice = at;
	copy.dstPitch = pitch;
	OK(cuMemcpy2D(&copy));
	memset(back, 0xee, sizeof back);
	copy = (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
			       .srcDevice = at,
			       .srcPitch = pitch,
			       .dstMemoryType = CU_MEMORYTYPE_HOST,
			       .dstHost = back,
			       .dstPitch = W,
			       .WidthInBytes = W,
			       .Height = H};
	OK(cuMemcpy2D(&copy));
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++) {
			int in = x >= 3 && x < 10 && y < 4;

			EQUAL(back[0][y][x], in ? host[0][y + 1][x - 1] : 0);
		}
	copy.srcPitch = W - 1;
	EXPECT(cuMemcpy2D(&copy), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFree(at));
}

static void three(void)
{
	CUDA_ARRAY3D_DESCRIPTOR shape = {.Width = W,
					 .Height = H,
					 .Depth = D,
					 .Format = CU_AD_FORMAT_UNSIGNED_INT8,
					 .NumChannels = 1},
				found;
	CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
			      .srcHost = host,
			      .srcPitch = W,
			      .srcHeight = H,
			      .dstMemoryType = CU_MEMORYTYPE_ARRAY,
			      .WidthInBytes = W,
			      .Height = H,
			      .Depth = D};
	CUarray array;

	OK(cuArray3DCreate(&array, &shape));
	OK(cuArray3DGetDescriptor(&found, array));
	EQUAL(found.Width, W);
	EQUAL(found.Depth, D);
	EQUAL(found.Format, CU_AD_FORMAT_UNSIGNED_INT8);
	copy.dstArray = array;
	OK(cuMemcpy3D(&copy));
	memset(back, 0, sizeof back);
	copy = (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_ARRAY,
			       .srcArray = array,
			       .srcXInBytes = 1,
			       .srcY = 2,
			       .srcZ = 3,
			       .dstMemoryType = CU_MEMORYTYPE_HOST,
			       .dstHost = back,
			       .dstPitch = W,
			       .dstHeight = H,
			       .dstZ = 1,
			       .WidthInBytes = 4,
			       .Height = 5,
			       .Depth = 2};
	OK(cuMemcpy3D(&copy));
	for (int z = 0; z < D; z++)
		for (int y = 0; y < H; y++)
			for (int x = 0; x < W; x++) {
				int in = x < 4 && y < 5 && z >= 1 && z < 3;

				EQUAL(back[z][y][x],
				      in ? host[z + 2][y + 2][x + 1] : 0);
			}
	copy.srcZ = D;
	EXPECT(cuMemcpy3D(&copy), CUDA_ERROR_INVALID_VALUE);
	OK(cuArrayDestroy(array));
}

int main(void)
{
	unsigned char *all = (unsigned char *)host;

	start();
	for (int i = 0; i < D * H * W; i++)
		all[i] = (unsigned char)(1 + i % 251);
	two();
	three();
	return 0;
}
