/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_driver.c - checks device memory: ranges, copies and sets of all
 * widths, what is refused.
 */
#include "driver.h"

#define N 10000

static unsigned char host[N], back[N];

static void sets(CUdeviceptr at)
{
	unsigned short shorts[4];
	unsigned words[4];

	OK(cuMemsetD8(at, 0, N));
	OK(cuMemsetD8(at + 1, 0xab, 2));
	OK(cuMemcpyDtoH(back, at, 4));
	EQUAL(back[0], 0);
	EQUAL(back[1], 0xab);
	EQUAL(back[2], 0xab);
	EQUAL(back[3], 0);
	OK(cuMemsetD16(at, 0x1234, 3));
	OK(cuMemcpyDtoH(shorts, at, sizeof shorts));
	EQUAL(shorts[2], 0x1234);
	EQUAL(shorts[3], 0);
	OK(cuMemsetD32(at, 0xdeadbeef, 3));
	OK(cuMemcpyDtoH(words, at, sizeof words));
	EQUAL(words[2], 0xdeadbeef);
	EQUAL(words[3], 0);
	EXPECT(cuMemsetD32(at + 1, 0, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemsetD16(at + 1, 0, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemsetD8(at, 0, N));
	OK(cuMemsetD2D8(at + 10, 100, 0xff, 5, 3));
	OK(cuMemcpyDtoH(back, at, N));
	for (int i = 0; i < N; i++) {
		int row = (i - 10) / 100, col = (i - 10) % 100;
		int in = i >= 10 && row < 3 && col < 5;

		EQUAL(back[i], in ? 0xff : 0);
	}
}

static void ranges(CUdeviceptr at)
{
	CUdeviceptr base, other;
	CUcontext context, now;
	unsigned type, ordinal;
	size_t size;

	OK(cuMemGetAddressRange(&base, &size, at + 77));
	EQUAL(base, at);
	EQUAL(size, N);
	OK(cuMemAlloc(&other, 1));
	OK(cuMemGetAddressRange(NULL, &size, other));
	EQUAL(size, 1);
	OK(cuMemFree(other));
	EXPECT(cuMemGetAddressRange(&base, &size, other), CUDA_ERROR_NOT_FOUND);
	OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at));
	EQUAL(type, CU_MEMORYTYPE_DEVICE);
	OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
				 at));
	EQUAL(ordinal, 0);
	OK(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, at));
	OK(cuCtxGetCurrent(&now));
	EQUAL(context, now);
	EXPECT(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
				     (CUdeviceptr)&type),
	       CUDA_ERROR_INVALID_VALUE);
}

static void refused(CUdeviceptr at)
{
	CUdeviceptr other;
	size_t unused, total;

	EXPECT(cuMemAlloc(&other, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemAlloc(NULL, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemGetInfo(&unused, &total));
	EXPECT(cuMemAlloc(&other, total + 1), CUDA_ERROR_OUT_OF_MEMORY);
	EXPECT(cuMemcpyHtoD(at, host, (size_t)1 << 40),
	       CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemcpyDtoH(back, at - ((CUdeviceptr)1 << 50), 1),
	       CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemFree(at + 256), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemFree((CUdeviceptr)host), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemAlloc(&other, 10));
	OK(cuMemFree(other));
	EXPECT(cuMemFree(other), CUDA_ERROR_INVALID_VALUE);
}

int main(void)
{
	CUdeviceptr at, twin;

	start();
	for (int i = 0; i < N; i++)
		host[i] = (unsigned char)(i * 31);
	OK(cuMemAlloc(&at, N));
	OK(cuMemAlloc(&twin, N));
	EQUAL(at % 256, 0);
	OK(cuMemcpyHtoD(at, host, N));
	OK(cuMemcpyDtoD(twin, at, N));
	OK(cuMemcpy((CUdeviceptr)back, twin, N));
	REQUIRE(!memcmp(host, back, N));
	sets(at);
	ranges(at);
	refused(at);
	OK(cuMemFree(at));
	OK(cuMemFree(twin));
	return 0;
}
