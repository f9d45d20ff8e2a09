/* SPDX-License-Identifier: Apache-2.0 */
/* array_test.c - checks arrays and mipmapped arrays. */
#include "fronts/cuda/memory_fixture.h"

static CUarray make(size_t width, size_t height, CUarray_format format,
		    unsigned channels)
{
	const CUDA_ARRAY_DESCRIPTOR d = {width, height, format, channels};
	CUarray a = NULL;

	assert_cuda(CU(cuArrayCreate_v2)(&a, &d), SUCCESS);
	return a;
}

static CUresult make_3d(size_t width, size_t height, size_t depth,
			unsigned flags, CUarray *ret_array)
{
	const CUDA_ARRAY3D_DESCRIPTOR d = {
	    width, height, depth, CU_AD_FORMAT_FLOAT, 1, flags};

	return CU(cuArray3DCreate_v2)(ret_array, &d);
}

static void an_array_is_what_was_asked_for(void **state)
{
	CUarray a = make(100, 30, CU_AD_FORMAT_HALF, 4);
	CUDA_ARRAY3D_DESCRIPTOR d3;
	CUDA_ARRAY_DESCRIPTOR d;
	CUDA_ARRAY_DESCRIPTOR_v1 old;

	(void)state;
	assert_cuda(CU(cuArrayGetDescriptor_v2)(&d, a), SUCCESS);
	assert_int_equal(d.Width, 100);
	assert_int_equal(d.Height, 30);
	assert_int_equal(d.Format, CU_AD_FORMAT_HALF);
	assert_int_equal(d.NumChannels, 4);
	assert_cuda(CU(cuArray3DGetDescriptor_v2)(&d3, a), SUCCESS);
	assert_int_equal(d3.Depth, 0);
	assert_int_equal(d3.Flags, 0);
	assert_cuda(CU(cuArrayGetDescriptor)(&old, a), SUCCESS);
	assert_int_equal(old.Height, 30);
	assert_cuda(CU(cuArrayDestroy)(a), SUCCESS);
	assert_cuda(CU(cuArrayDestroy)(a), ERROR_INVALID_HANDLE);
	assert_cuda(CU(cuArrayGetDescriptor_v2)(&d, a), ERROR_INVALID_HANDLE);
}

static void wrong_arrays_are_told(void **state)
{
	CUDA_ARRAY_DESCRIPTOR d = {16, 16, CU_AD_FORMAT_FLOAT, 3};
	CUarray a = (CUarray)7;

	(void)state;
	assert_cuda(CU(cuArrayCreate_v2)(&a, &d), ERROR_INVALID_VALUE);
	d = (CUDA_ARRAY_DESCRIPTOR){0, 16, CU_AD_FORMAT_FLOAT, 1};
	assert_cuda(CU(cuArrayCreate_v2)(&a, &d), ERROR_INVALID_VALUE);
	d = (CUDA_ARRAY_DESCRIPTOR){16, 16, 0x1f, 1};
	assert_cuda(CU(cuArrayCreate_v2)(&a, &d), ERROR_INVALID_VALUE);
	d = (CUDA_ARRAY_DESCRIPTOR){16, 16, CU_AD_FORMAT_BC1_UNORM, 4};
	assert_cuda(CU(cuArrayCreate_v2)(&a, &d), ERROR_NOT_SUPPORTED);
	d = (CUDA_ARRAY_DESCRIPTOR){1 << 20, 16, CU_AD_FORMAT_FLOAT, 1};
	assert_cuda(CU(cuArrayCreate_v2)(&a, &d), ERROR_INVALID_VALUE);
	d = (CUDA_ARRAY_DESCRIPTOR){16, 1 << 20, CU_AD_FORMAT_FLOAT, 1};
	assert_cuda(CU(cuArrayCreate_v2)(&a, &d), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuArrayCreate_v2)(&a, NULL), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuArrayCreate_v2)(NULL, &d), ERROR_INVALID_VALUE);
	assert_cuda(make_3d(8, 0, 8, 0, &a), ERROR_INVALID_VALUE);
	assert_cuda(make_3d(8, 8, 0, CUDA_ARRAY3D_LAYERED, &a),
		    ERROR_INVALID_VALUE);
	assert_cuda(make_3d(8, 9, 6, CUDA_ARRAY3D_CUBEMAP, &a),
		    ERROR_INVALID_VALUE);
	assert_cuda(make_3d(8, 8, 5, CUDA_ARRAY3D_CUBEMAP, &a),
		    ERROR_INVALID_VALUE);
	assert_cuda(make_3d(8, 8, 8, CUDA_ARRAY3D_SPARSE, &a),
		    ERROR_NOT_SUPPORTED);
	assert_cuda(make_3d(8, 8, 8, 0x8000, &a), ERROR_INVALID_VALUE);
	assert_ptr_equal(a, (CUarray)7);
}

static void all_shapes_are_made(void **state)
{
	static const struct {
		size_t width, height, depth;
		unsigned flags;
	} shapes[] = {{100, 0, 0, 0},
		      {100, 20, 0, 0},
		      {100, 20, 30, 0},
		      {100, 0, 12, CUDA_ARRAY3D_LAYERED},
		      {100, 20, 12, CUDA_ARRAY3D_LAYERED},
		      {64, 64, 6, CUDA_ARRAY3D_CUBEMAP},
		      {64, 64, 12, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED},
		      {100, 20, 0, CUDA_ARRAY3D_SURFACE_LDST}};
	uint64_t before = free_now();
	CUarray a;

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		assert_cuda(make_3d(shapes[i].width, shapes[i].height,
				    shapes[i].depth, shapes[i].flags, &a),
			    SUCCESS);
		assert_true(free_now() < before);
		assert_cuda(CU(cuArrayDestroy)(a), SUCCESS);
	}
	assert_int_equal(free_now(), before);
}

static CUDA_MEMCPY3D cells(CUarray a, void *own, size_t width, size_t height)
{
	return (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_HOST,
			       .srcHost = own,
			       .srcPitch = width,
			       .srcHeight = height,
			       .dstMemoryType = CU_MEMORYTYPE_ARRAY,
			       .dstArray = a};
}

static void cells_keep_what_is_copied_there(void **state)
{
	enum { W = 40 * 4, H = 10, D = 6 };
	static unsigned char own[D][H][W], back[D][H][W];
	CUDA_MEMCPY3D c, out;
	CUarray a;

	(void)state;
	assert_cuda(make_3d(40, H, D, 0, &a), SUCCESS);
	fill_random(own, sizeof(own), 8);
	c = cells(a, own, W, H);
	c.WidthInBytes = W, c.Height = H, c.Depth = D;
	assert_cuda(CU(cuMemcpy3D_v2)(&c), SUCCESS);
	out = (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_ARRAY,
			      .srcArray = a,
			      .dstMemoryType = CU_MEMORYTYPE_HOST,
			      .dstHost = back,
			      .dstPitch = W,
			      .dstHeight = H,
			      .WidthInBytes = W,
			      .Height = H,
			      .Depth = D};
	assert_cuda(CU(cuMemcpy3D_v2)(&out), SUCCESS);
	assert_memory_equal(own, back, sizeof(own));
	/* A brick in the middle. */
	out.srcXInBytes = 8, out.srcY = 2, out.srcZ = 3;
	out.WidthInBytes = 20, out.Height = 5, out.Depth = 2;
	memset(back, 0, sizeof(back));
	assert_cuda(CU(cuMemcpy3DAsync_v2)(&out, NULL), SUCCESS);
	settle();
	for (unsigned z = 0; z < 2; z++)
		for (unsigned y = 0; y < 5; y++)
			assert_memory_equal(back[z][y], &own[z + 3][y + 2][8],
					    20);
	assert_int_equal(back[0][0][20], 0);
	out.srcZ = 5;
	assert_cuda(CU(cuMemcpy3D_v2)(&out), ERROR_INVALID_VALUE);
	out.srcZ = 0, out.srcLOD = 1;
	assert_cuda(CU(cuMemcpy3D_v2)(&out), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuArrayDestroy)(a), SUCCESS);
	assert_cuda(CU(cuMemcpy3D_v2)(&c), ERROR_INVALID_HANDLE);
}

static void bytes_go_to_arrays_and_back(void **state)
{
	CUarray a = make(1000, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1);
	CUarray b = make(1000, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1);
	CUdeviceptr p = device_alloc(1000);
	unsigned char own[1000], back[1000];

	(void)state;
	fill_random(own, 1000, 77);
	assert_cuda(CU(cuMemcpyHtoA_v2)(a, 0, own, 1000), SUCCESS);
	assert_cuda(CU(cuMemcpyAtoA_v2)(b, 100, a, 50, 500), SUCCESS);
	assert_cuda(CU(cuMemcpyAtoH_v2)(back, b, 100, 500), SUCCESS);
	assert_memory_equal(back, own + 50, 500);
	assert_cuda(CU(cuMemcpyAtoD_v2)(p, a, 0, 1000), SUCCESS);
	device_holds(p, own, 1000);
	assert_cuda(CU(cuMemcpyDtoA_v2)(b, 0, p, 1000), SUCCESS);
	assert_cuda(CU(cuMemcpyAtoHAsync_v2)(back, b, 0, 1000, NULL), SUCCESS);
	assert_memory_equal(back, own, 1000);
	own[0] ^= 1;
	assert_cuda(CU(cuMemcpyHtoAAsync_v2)(b, 0, own, 1, NULL), SUCCESS);
	assert_cuda(CU(cuMemcpyAtoH_v2)(back, b, 0, 1), SUCCESS);
	assert_int_equal(back[0], own[0]);
	assert_cuda(CU(cuMemcpyHtoA_v2)(a, 1, own, 1000), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemcpyHtoA_v2)(a, SIZE_MAX, own, 2),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemcpyHtoA_v2)(NULL, 0, own, 2), ERROR_INVALID_HANDLE);
	assert_cuda(CU(cuMemcpyHtoA_v2)(a, 0, NULL, 2), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuArrayDestroy)(a), SUCCESS);
	assert_cuda(CU(cuArrayDestroy)(b), SUCCESS);
	device_free(p);
}

static void what_needs_other_arrays_says_so(void **state)
{
	CUarray a = make(10, 10, CU_AD_FORMAT_FLOAT, 1), plane;
	CUDA_ARRAY_MEMORY_REQUIREMENTS needs;
	CUDA_ARRAY_SPARSE_PROPERTIES sparse;

	(void)state;
	assert_cuda(CU(cuArrayGetMemoryRequirements)(&needs, a, 0),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuArrayGetMemoryRequirements)(&needs, NULL, 0),
		    ERROR_INVALID_HANDLE);
	assert_cuda(CU(cuArrayGetMemoryRequirements)(&needs, a, 99),
		    ERROR_INVALID_DEVICE);
	assert_cuda(CU(cuArrayGetSparseProperties)(&sparse, a),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuArrayGetPlane)(&plane, a, 0), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuArrayDestroy)(a), SUCCESS);
}

static void levels_are_halves(void **state)
{
	const CUDA_ARRAY3D_DESCRIPTOR d = {100, 40, 0, CU_AD_FORMAT_FLOAT,
					   2,   0};
	uint64_t before = free_now();
	CUDA_ARRAY_DESCRIPTOR level;
	CUmipmappedArray m;
	CUarray a, first;

	(void)state;
	assert_cuda(CU(cuMipmappedArrayCreate)(&m, &d, 0), SUCCESS);
	assert_cuda(CU(cuMipmappedArrayGetLevel)(&a, m, 0), SUCCESS);
	assert_cuda(CU(cuMipmappedArrayGetLevel)(&a, m, 1),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMipmappedArrayDestroy)(m), SUCCESS);
	assert_cuda(CU(cuMipmappedArrayCreate)(&m, &d, 30), SUCCESS);
	for (unsigned i = 0; i < 7; i++) {
		assert_cuda(CU(cuMipmappedArrayGetLevel)(&a, m, i), SUCCESS);
		assert_cuda(CU(cuArrayGetDescriptor_v2)(&level, a), SUCCESS);
		assert_int_equal(level.Width, 100 >> i);
		assert_int_equal(level.Height, 40 >> i ? 40 >> i : 1);
	}
	assert_cuda(CU(cuMipmappedArrayGetLevel)(&a, m, 7),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMipmappedArrayGetLevel)(&first, m, 0), SUCCESS);
	assert_cuda(CU(cuArrayDestroy)(first), ERROR_INVALID_HANDLE);
	assert_cuda(CU(cuMipmappedArrayDestroy)(m), SUCCESS);
	assert_cuda(CU(cuMipmappedArrayDestroy)(m), ERROR_INVALID_HANDLE);
	assert_cuda(CU(cuArrayGetDescriptor_v2)(&level, first),
		    ERROR_INVALID_HANDLE);
	assert_int_equal(free_now(), before);
}

static CUresult make_bytes(size_t width, size_t height, size_t depth,
			   unsigned flags, unsigned levels)
{
	const CUDA_ARRAY3D_DESCRIPTOR d = {
	    width, height, depth, CU_AD_FORMAT_UNSIGNED_INT8, 1, flags};
	CUmipmappedArray m;
	CUarray a;
	CUresult r = levels ? CU(cuMipmappedArrayCreate)(&m, &d, levels)
			    : CU(cuArray3DCreate_v2)(&a, &d);

	if (r)
		return r;
	return levels ? CU(cuMipmappedArrayDestroy)(m) : CU(cuArrayDestroy)(a);
}

/* The bounds of an A100, as its attributes report them. */
static void flags_and_levels_have_bounds_of_their_own(void **state)
{
	const unsigned surface = CUDA_ARRAY3D_SURFACE_LDST;
	const unsigned gather = CUDA_ARRAY3D_TEXTURE_GATHER;
	const size_t big = 32768;

	(void)state;
	assert_cuda(make_bytes(4 * big, 0, 0, 0, 0), SUCCESS);
	assert_cuda(make_bytes(4 * big + 1, 0, 0, 0, 0), ERROR_INVALID_VALUE);
	assert_cuda(make_bytes(big, 0, 0, surface, 0), SUCCESS);
	assert_cuda(make_bytes(big + 1, 0, 0, surface, 0), ERROR_INVALID_VALUE);
	assert_cuda(make_bytes(big, 0, 0, 0, 20), SUCCESS);
	assert_cuda(make_bytes(big + 1, 0, 0, 0, 20), ERROR_INVALID_VALUE);
	assert_cuda(make_bytes(8, big, 0, 0, 20), SUCCESS);
	assert_cuda(make_bytes(8, big + 1, 0, 0, 20), ERROR_INVALID_VALUE);
	assert_cuda(make_bytes(8, big + 1, 0, 0, 0), SUCCESS);
	assert_cuda(make_bytes(8, big, 0, gather, 0), SUCCESS);
	assert_cuda(make_bytes(8, big + 1, 0, gather, 0), ERROR_INVALID_VALUE);
	assert_cuda(make_bytes(8, 8, 8, gather, 0), ERROR_INVALID_VALUE);
	assert_cuda(make_bytes(8, 0, 0, gather, 0), ERROR_INVALID_VALUE);
	assert_cuda(make_bytes(8, 8, big, 0, 0), SUCCESS);
	assert_cuda(make_bytes(8, 8, big + 1, 0, 0), ERROR_INVALID_VALUE);
	assert_cuda(make_bytes(8, big / 2, 8, 0, 0), SUCCESS);
	assert_cuda(make_bytes(8, big / 2, big / 2 + 1, 0, 0),
		    ERROR_INVALID_VALUE);
	assert_cuda(make_bytes(8, 8, big, surface, 0), ERROR_INVALID_VALUE);
}

static void arrays_end_with_their_context(void **state)
{
	const CUDA_ARRAY3D_DESCRIPTOR d = {64, 64, 0, CU_AD_FORMAT_FLOAT, 1, 0};
	CUDA_ARRAY_DESCRIPTOR told;
	CUmipmappedArray m;
	CUcontext other;
	CUarray a, kept = make(8, 8, CU_AD_FORMAT_FLOAT, 1), level;

	(void)state;
	assert_cuda(CU(cuCtxCreate_v2)(&other, 0, 0), SUCCESS);
	a = make(8, 8, CU_AD_FORMAT_FLOAT, 1);
	assert_cuda(CU(cuMipmappedArrayCreate)(&m, &d, 3), SUCCESS);
	assert_cuda(CU(cuMipmappedArrayGetLevel)(&level, m, 2), SUCCESS);
	assert_cuda(CU(cuCtxDestroy_v2)(other), SUCCESS);
	assert_cuda(CU(cuCtxSetCurrent)(context), SUCCESS);
	assert_cuda(CU(cuArrayGetDescriptor_v2)(&told, a),
		    ERROR_INVALID_HANDLE);
	assert_cuda(CU(cuArrayGetDescriptor_v2)(&told, level),
		    ERROR_INVALID_HANDLE);
	assert_cuda(CU(cuMipmappedArrayDestroy)(m), ERROR_INVALID_HANDLE);
	assert_cuda(CU(cuArrayGetDescriptor_v2)(&told, kept), SUCCESS);
	assert_cuda(CU(cuArrayDestroy)(kept), SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_array_is_what_was_asked_for),
	    cmocka_unit_test(wrong_arrays_are_told),
	    cmocka_unit_test(all_shapes_are_made),
	    cmocka_unit_test(cells_keep_what_is_copied_there),
	    cmocka_unit_test(bytes_go_to_arrays_and_back),
	    cmocka_unit_test(what_needs_other_arrays_says_so),
	    cmocka_unit_test(levels_are_halves),
	    cmocka_unit_test(flags_and_levels_have_bounds_of_their_own),
	    cmocka_unit_test(arrays_end_with_their_context),
	};

	return cmocka_run_group_tests(tests, memory_setup, memory_teardown);
}
