/* SPDX-License-Identifier: Apache-2.0 */
/* arrays.cu - fills and reads arrays, which are opaque, by copies. */
#include "runtime.h"

#define W 37
#define H 11

int main(void)
{
	static float host[H][W], back[H][W];
	cudaChannelFormatDesc format = cudaCreateChannelDesc<float>(), found;
	cudaExtent extent;
	cudaArray_t array;
	unsigned flags;

	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			host[y][x] = (float)(x + 100 * y);
	OK(cudaMallocArray(&array, &format, W, H));
	OK(cudaArrayGetInfo(&found, &extent, &flags, array));
	EQUAL(found.x, 32);
	EQUAL(found.y, 0);
	EQUAL(found.f, cudaChannelFormatKindFloat);
	EQUAL(extent.width, W);
	EQUAL(extent.height, H);
	EQUAL(extent.depth, 0);
	EQUAL(flags, 0);
	OK(cudaMemcpy2DToArray(array, 0, 0, host, W * sizeof(float),
			       W * sizeof(float), H, cudaMemcpyHostToDevice));
	OK(cudaMemcpy2DFromArray(back, W * sizeof(float), array, 0, 0,
				 W * sizeof(float), H,
				 cudaMemcpyDeviceToHost));
	REQUIRE(!memcmp(host, back, sizeof host));
	memset(back, 0, sizeof back);
	OK(cudaMemcpy2DFromArray(back, W * sizeof(float), array,
				 5 * sizeof(float), 3, 2 * sizeof(float), 4,
				 cudaMemcpyDeviceToHost));
	EQUAL_FLOAT(back[3][1], host[6][6]);
	EQUAL_FLOAT(back[3][2], 0);
	EXPECT(cudaMemcpy2DToArray(array, 0, 0, host, W * sizeof(float),
				   W * sizeof(float), H + 1,
				   cudaMemcpyHostToDevice),
	       cudaErrorInvalidValue);
	OK(cudaFreeArray(array));
	OK(cudaFreeArray(NULL));
	return 0;
}
