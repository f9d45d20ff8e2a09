/* SPDX-License-Identifier: Apache-2.0 */
/* copy_batch_test.c - checks copies in batches. */
#include "fronts/cuda/memory_fixture.h"

static void batches_are_copied_whole_or_not_at_all(void **state)
{
	unsigned char own[3][100];
	CUdeviceptr p = device_alloc(1000);
	CUdeviceptr dst[3] = {p, p + 300, p + 600};
	CUdeviceptr src[3] = {(uintptr_t)own[0], (uintptr_t)own[1],
			      (uintptr_t)own[2]};
	size_t sizes[3] = {100, 50, 100}, from[1] = {0}, fail = 77;
	CUmemcpyAttributes attributes = {.srcAccessOrder =
					     CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
	CUstream stream;

	(void)state;
	fill_random(own, sizeof(own), 5);
	assert_cuda(CU(cuStreamCreate)(&stream, 0), SUCCESS);
	assert_cuda(CU(cuMemcpyBatchAsync)(dst, src, sizes, 3, &attributes,
					   from, 1, &fail, stream),
		    SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(stream), SUCCESS);
	device_holds(p, own[0], 100);
	device_holds(p + 300, own[1], 50);
	device_holds(p + 600, own[2], 100);
	dst[1] = p + 990;
	own[0][0] ^= 1;
	assert_cuda(CU(cuMemcpyBatchAsync)(dst, src, sizes, 3, &attributes,
					   from, 1, &fail, stream),
		    ERROR_INVALID_VALUE);
	assert_int_equal(fail, 1);
	own[0][0] ^= 1;
	device_holds(p, own[0], 100);
	assert_cuda(CU(cuMemcpyBatchAsync_v2)(dst, src, sizes, 1, &attributes,
					      from, 1, NULL),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemcpyBatchAsync_v2)(dst, src, sizes, 1, &attributes,
					      from, 0, stream),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuStreamDestroy_v2)(stream), SUCCESS);
	device_free(p);
}

static void batches_copy_bricks(void **state)
{
	enum { W = 12, H = 5, D = 3 };
	unsigned char own[D][H][W], back[D][H][W] = {{{0}}};
	CUDA_MEMCPY3D_BATCH_OP op = {
	    .src = {.type = CU_MEMCPY_OPERAND_TYPE_POINTER},
	    .dst = {.type = CU_MEMCPY_OPERAND_TYPE_POINTER},
	    .extent = {W - 2, H - 1, D},
	    .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL};
	CUdeviceptr p = device_alloc((W - 2) * (H - 1) * D);
	size_t fail = 5;
	CUstream stream;

	(void)state;
	fill_random(own, sizeof(own), 6);
	op.src.op.ptr.ptr = (uintptr_t)own;
	op.src.op.ptr.rowLength = W;
	op.src.op.ptr.layerHeight = H;
	op.dst.op.ptr.ptr = p;
	assert_cuda(CU(cuStreamCreate)(&stream, 0), SUCCESS);
	assert_cuda(CU(cuMemcpy3DBatchAsync)(1, &op, &fail, 0, stream),
		    SUCCESS);
	op.src = op.dst;
	op.dst.op.ptr.ptr = (uintptr_t)back;
	op.dst.op.ptr.rowLength = W;
	op.dst.op.ptr.layerHeight = H;
	assert_cuda(CU(cuMemcpy3DBatchAsync_v2)(1, &op, 0, stream), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(stream), SUCCESS);
	for (unsigned z = 0; z < D; z++) {
		for (unsigned y = 0; y < H - 1; y++)
			assert_memory_equal(own[z][y], back[z][y], W - 2);
		assert_int_equal(back[z][H - 1][0], 0);
	}
	op.extent.depth++;
	assert_cuda(CU(cuMemcpy3DBatchAsync)(1, &op, &fail, 0, stream),
		    ERROR_INVALID_VALUE);
	assert_int_equal(fail, 0);
	assert_cuda(CU(cuStreamDestroy_v2)(stream), SUCCESS);
	device_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(batches_are_copied_whole_or_not_at_all),
	    cmocka_unit_test(batches_copy_bricks),
	};

	return cmocka_run_group_tests(tests, memory_setup, memory_teardown);
}
