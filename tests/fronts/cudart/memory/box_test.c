/* SPDX-License-Identifier: Apache-2.0 */
/*
 * box_test.c - checks copies of boxes: what the driver is asked to copy, where
 * an array counts elements and where bytes, and runs across the ends of rows.
 */
#include "fronts/cudart/cudart_test.h"

/* 10 x 7 elements of 4 bytes. */
#define ARRAY ((cudaArray_t)(uintptr_t)0x7000)
#define OTHER ((cudaArray_t)(uintptr_t)0x8000)
#define AT    ((char *)(uintptr_t)0x10000)

static const CUDA_MEMCPY3D *box(unsigned i)
{
	return &scripted_boxes[i];
}

static int forget(void **state)
{
	(void)state;
	scripted_box_count = 0;
	return 0;
}

static void two_dimensions(void **state)
{
	char host[64] = {0};

	(void)state;
	assert_cuda(
	    cudaMemcpy2D(AT, 512, host, 16, 12, 4, cudaMemcpyHostToDevice),
	    Success);
	assert_int_equal(scripted_box_count, 1);
	assert_int_equal(box(0)->srcMemoryType, CU_MEMORYTYPE_HOST);
	assert_int_equal(box(0)->dstMemoryType, CU_MEMORYTYPE_DEVICE);
	assert_ptr_equal(box(0)->srcHost, host);
	assert_int_equal(box(0)->dstDevice, 0x10000);
	assert_int_equal(box(0)->srcPitch, 16);
	assert_int_equal(box(0)->dstPitch, 512);
	assert_int_equal(box(0)->WidthInBytes, 12);
	assert_int_equal(box(0)->Height, 4);
	assert_int_equal(box(0)->Depth, 1);
	assert_cuda(cudaMemcpy2D(AT, 512, host, 16, 12, 4, cudaMemcpyDefault),
		    Success);
	assert_int_equal(box(1)->srcMemoryType, CU_MEMORYTYPE_UNIFIED);
	assert_int_equal(box(1)->dstMemoryType, CU_MEMORYTYPE_UNIFIED);
	assert_cuda(
	    cudaMemcpy2D(AT, 512, host, 16, 0, 4, cudaMemcpyHostToDevice),
	    Success);
	assert_int_equal(scripted_box_count, 2);
	assert_cuda(cudaMemcpy2DToArray(ARRAY, 8, 3, host, 16, 12, 2,
					cudaMemcpyHostToDevice),
		    Success);
	assert_int_equal(box(2)->dstMemoryType, CU_MEMORYTYPE_ARRAY);
	assert_int_equal(box(2)->dstXInBytes, 8);
	assert_int_equal(box(2)->dstY, 3);
	assert_ptr_equal(box(2)->dstArray, ARRAY);
	assert_cuda(cudaMemcpy2DFromArrayAsync(host, 16, ARRAY, 4, 1, 12, 2,
					       cudaMemcpyDeviceToHost, NULL),
		    Success);
	assert_string_equal(scripted_last(), "cuMemcpy3DAsync_v2");
	assert_int_equal(box(3)->srcXInBytes, 4);
	assert_int_equal(box(3)->dstMemoryType, CU_MEMORYTYPE_HOST);
}

/* Piece i of a run: where in the array, where in memory, how much. */
static void piece(unsigned i, size_t x, size_t y, size_t offset, size_t width,
		  size_t height)
{
	assert_int_equal(box(i)->dstXInBytes, x);
	assert_int_equal(box(i)->dstY, y);
	assert_int_equal(box(i)->srcDevice, 0x10000 + offset);
	assert_int_equal(box(i)->WidthInBytes, width);
	assert_int_equal(box(i)->Height, height);
}

static void a_run_goes_on_in_the_next_row(void **state)
{
	(void)state;
	/* 8 bytes of the first row, two rows of 40, 12 of the last. */
	assert_cuda(
	    cudaMemcpyToArray(ARRAY, 32, 1, AT, 100, cudaMemcpyDeviceToDevice),
	    Success);
	assert_int_equal(scripted_box_count, 3);
	piece(0, 32, 1, 0, 8, 1);
	piece(1, 0, 2, 8, 40, 2);
	piece(2, 0, 4, 88, 12, 1);
	/* Within a row, and exactly a row. */
	assert_cuda(
	    cudaMemcpyToArray(ARRAY, 4, 0, AT, 36, cudaMemcpyDeviceToDevice),
	    Success);
	assert_int_equal(scripted_box_count, 4);
	piece(3, 4, 0, 0, 36, 1);
	assert_cuda(
	    cudaMemcpyToArray(ARRAY, 0, 6, AT, 40, cudaMemcpyDeviceToDevice),
	    Success);
	assert_int_equal(scripted_box_count, 5);
	piece(4, 0, 6, 0, 40, 1);
	assert_cuda(
	    cudaMemcpyToArray(ARRAY, 40, 0, AT, 1, cudaMemcpyDeviceToDevice),
	    ErrorInvalidValue);
	assert_cuda(
	    cudaMemcpyFromArray(AT, ARRAY, 36, 0, 8, cudaMemcpyDeviceToDevice),
	    Success);
	assert_int_equal(scripted_box_count, 7);
	assert_int_equal(box(5)->srcXInBytes, 36);
	assert_int_equal(box(6)->srcY, 1);
	assert_int_equal(box(6)->dstDevice, 0x10004);
}

static void three_dimensions(void **state)
{
	struct cudaMemcpy3DParms p = {
	    .srcPtr = {AT, 64, 48, 5},
	    .srcPos = {8, 1, 2},
	    .dstPtr = {AT + 4096, 128, 48, 7},
	    .dstPos = {16, 3, 1},
	    .extent = {12, 2, 3},
	    .kind = cudaMemcpyDeviceToDevice,
	};

	(void)state;
	assert_cuda(cudaMemcpy3D(&p), Success);
	assert_int_equal(box(0)->srcXInBytes, 8);
	assert_int_equal(box(0)->srcZ, 2);
	assert_int_equal(box(0)->srcHeight, 5);
	assert_int_equal(box(0)->dstHeight, 7);
	assert_int_equal(box(0)->WidthInBytes, 12);
	assert_int_equal(box(0)->Depth, 3);
	/* With an array the width and its own x count elements. */
	p.dstPtr = (struct cudaPitchedPtr){0};
	p.dstArray = ARRAY;
	p.dstPos = (struct cudaPos){3, 1, 0};
	p.extent = (struct cudaExtent){5, 2, 1};
	assert_cuda(cudaMemcpy3DAsync(&p, NULL), Success);
	assert_int_equal(box(1)->srcXInBytes, 8);
	assert_int_equal(box(1)->dstXInBytes, 12);
	assert_int_equal(box(1)->WidthInBytes, 20);
	/* Two targets, and none. */
	p.dstPtr = (struct cudaPitchedPtr){AT, 64, 48, 5};
	assert_cuda(cudaMemcpy3D(&p), ErrorInvalidValue);
	p.dstPtr = (struct cudaPitchedPtr){0};
	p.dstArray = NULL;
	assert_cuda(cudaMemcpy3D(&p), ErrorInvalidValue);
	assert_cuda(cudaMemcpy3D(NULL), ErrorInvalidValue);
}

static void between_arrays(void **state)
{
	(void)state;
	assert_cuda(cudaMemcpy2DArrayToArray(ARRAY, 4, 1, OTHER, 8, 2, 12, 3,
					     cudaMemcpyDeviceToDevice),
		    Success);
	assert_ptr_equal(box(0)->dstArray, ARRAY);
	assert_ptr_equal(box(0)->srcArray, OTHER);
	assert_int_equal(box(0)->srcXInBytes, 8);
	assert_cuda(cudaMemcpyArrayToArray(ARRAY, 36, 0, OTHER, 36, 2, 8,
					   cudaMemcpyDeviceToDevice),
		    Success);
	assert_int_equal(scripted_box_count, 3);
	assert_int_equal(box(2)->dstY, 1);
	assert_int_equal(box(2)->srcY, 3);
	assert_int_equal(box(2)->WidthInBytes, 4);
}

static void what_arrays_are(void **state)
{
	struct cudaChannelFormatDesc format;
	struct cudaPitchedPtr pitched;
	struct cudaExtent extent;
	unsigned flags;

	(void)state;
	assert_cuda(cudaArrayGetInfo(&format, &extent, &flags, ARRAY), Success);
	assert_int_equal(format.x, 16);
	assert_int_equal(format.y, 16);
	assert_int_equal(format.z, 0);
	assert_int_equal(format.f, cudaChannelFormatKindSigned);
	assert_int_equal(extent.width, 10);
	assert_int_equal(extent.depth, 0);
	assert_int_equal(flags, cudaArraySurfaceLoadStore);
	format =
	    cudaCreateChannelDesc(8, 8, 8, 8, cudaChannelFormatKindUnsigned);
	assert_int_equal(format.w, 8);
	assert_cuda(cudaMalloc3D(&pitched, (struct cudaExtent){600, 3, 5}),
		    Success);
	assert_int_equal(pitched.pitch, 1024);
	assert_int_equal(pitched.xsize, 600);
	assert_int_equal(pitched.ysize, 3);
	assert_int_equal((uintptr_t)pitched.ptr, 0x100000 + 1024 * 15);
	assert_cuda(cudaMalloc3D(&pitched, (struct cudaExtent){1, SIZE_MAX, 2}),
		    ErrorMemoryAllocation);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(two_dimensions, forget),
	    cmocka_unit_test_setup(a_run_goes_on_in_the_next_row, forget),
	    cmocka_unit_test_setup(three_dimensions, forget),
	    cmocka_unit_test_setup(between_arrays, forget),
	    cmocka_unit_test_setup(what_arrays_are, forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
