/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed_test.c - checks managed memory: both sides, advice, prefetching,
 * attributes of ranges.
 */
#include "fronts/cuda/memory_fixture.h"

#define PAGE 4096

static CUdeviceptr managed(size_t size)
{
	CUdeviceptr p = 0;

	assert_cuda(CU(cuMemAllocManaged)(&p, size, CU_MEM_ATTACH_GLOBAL),
		    SUCCESS);
	return p;
}

static int told(CUmem_range_attribute a, CUdeviceptr p, size_t count)
{
	int value = -77;

	assert_cuda(
	    CU(cuMemRangeGetAttribute)(&value, sizeof(value), a, p, count),
	    SUCCESS);
	return value;
}

static void both_sides_see_the_same(void **state)
{
	CUdeviceptr p = managed(MIB), q = device_alloc(MIB);
	char *own = (char *)(uintptr_t)p;

	(void)state;
	strcpy(own, "from the host");
	assert_cuda(CU(cuMemcpyDtoD_v2)(q, p, MIB), SUCCESS);
	assert_cuda(CU(cuMemsetD8_v2)(p, 'x', 5), SUCCESS);
	assert_string_equal(own, "xxxxxthe host");
	assert_cuda(CU(cuMemcpyDtoD_v2)(p, q, MIB), SUCCESS);
	settle();
	assert_string_equal(own, "from the host");
	device_free(q);
	device_free(p);
	assert_cuda(CU(cuMemFree_v2)(p), ERROR_INVALID_VALUE);
}

/* More than the device has is fine: pages are on the host. */
static void a_device_may_be_oversubscribed(void **state)
{
	uint64_t before = free_now();
	CUdeviceptr p;

	(void)state;
#ifdef __SANITIZE_THREAD__
	skip(); /* it leaves few addresses */
#endif
	p = managed(200 * GIB);
	*(char *)(uintptr_t)(p + 199 * GIB) = 5;
	assert_int_equal(free_now(), before);
	device_free(p);
}

static void prefetch(CUdeviceptr p, size_t size, CUdevice to)
{
	assert_cuda(CU(cuMemPrefetchAsync)(p, size, to, NULL), SUCCESS);
	settle();
}

static void prefetched_memory_is_the_devices(void **state)
{
	uint64_t before = free_now();
	CUdeviceptr p = managed(20 * BLOCK), small = managed(1000);

	(void)state;
	assert_int_equal(free_now(), before);
	prefetch(p, 20 * BLOCK, 0);
	assert_int_equal(before - free_now(), 20 * BLOCK);
	prefetch(p + BLOCK, 20 * BLOCK - BLOCK, 0);
	assert_int_equal(before - free_now(), 20 * BLOCK);
	prefetch(small, 1, 0);
	assert_int_equal(before - free_now(), 21 * BLOCK);
	prefetch(p + 5 * BLOCK, 3 * BLOCK, CU_DEVICE_CPU);
	assert_int_equal(before - free_now(), 18 * BLOCK);
	device_free(p);
	assert_int_equal(before - free_now(), BLOCK);
	device_free(small);
	assert_int_equal(free_now(), before);
}

/* Memory that needs room on a device gets it. */
static void prefetched_memory_gives_way(void **state)
{
	uint64_t before = free_now(), all = before / BLOCK * BLOCK;
	CUdeviceptr p, q, device;

	(void)state;
#ifdef __SANITIZE_THREAD__
	skip(); /* it leaves few addresses */
#endif
	p = managed(200 * GIB);
	q = managed(BLOCK);
	prefetch(p, 200 * GIB, 0);
	assert_int_equal(free_now(), before - all);
	prefetch(q, BLOCK, 0);
	device = device_alloc(all - 10 * BLOCK);
	assert_in_range(free_now(), before - all, before - all + 10 * BLOCK);
	prefetch(p, 200 * GIB, 0);
	assert_int_equal(free_now(), before - all);
	device_free(p);
	device_free(q);
	assert_int_equal(before - free_now(), all - 10 * BLOCK);
	device_free(device);
	assert_int_equal(free_now(), before);
}

/* Another device is charged, and a context that ends leaves nothing behind. */
static void memory_moves_between_devices(void **state)
{
	uint64_t before = free_now(), there;
	CUdeviceptr p = managed(4 * BLOCK);
	CUcontext other;

	(void)state;
	prefetch(p, 4 * BLOCK, 0);
	assert_cuda(CU(cuCtxCreate_v2)(&other, 0, 1), SUCCESS);
	there = free_now();
	prefetch(p, 2 * BLOCK, 1);
	assert_int_equal(there - free_now(), 2 * BLOCK);
	assert_cuda(CU(cuCtxDestroy_v2)(other), SUCCESS);
	assert_int_equal(before - free_now(), 2 * BLOCK);
	assert_cuda(CU(cuCtxCreate_v2)(&other, 0, 1), SUCCESS);
	assert_int_equal(free_now(), there);
	prefetch(p, 4 * BLOCK, 1);
	assert_int_equal(there - free_now(), 4 * BLOCK);
	assert_cuda(CU(cuCtxDestroy_v2)(other), SUCCESS);
	device_free(p);
	assert_int_equal(free_now(), before);
}

static void wrong_asks_are_told(void **state)
{
	CUdeviceptr p = 3, q = managed(PAGE), d = device_alloc(PAGE);
	const CUmemLocation nowhere = {CU_MEM_LOCATION_TYPE_INVALID, 0};
	int value;

	(void)state;
	assert_cuda(CU(cuMemAllocManaged)(&p, 0, 1), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemAllocManaged)(&p, 1, 0), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemAllocManaged)(&p, 1, 3), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemAllocManaged)(&p, 1, CU_MEM_ATTACH_SINGLE),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemAllocManaged)(NULL, 1, 1), ERROR_INVALID_VALUE);
	assert_int_equal(p, 3);
	assert_cuda(CU(cuMemAdvise)(d, PAGE, CU_MEM_ADVISE_SET_READ_MOSTLY, 0),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemAdvise)(q, 0, CU_MEM_ADVISE_SET_READ_MOSTLY, 0),
		    ERROR_INVALID_VALUE);
	assert_cuda(
	    CU(cuMemAdvise)(q, PAGE + 1, CU_MEM_ADVISE_SET_READ_MOSTLY, 0),
	    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemAdvise)(q, PAGE, (CUmem_advise)9, 0),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemAdvise)(q, PAGE, CU_MEM_ADVISE_SET_ACCESSED_BY, 17),
		    ERROR_INVALID_DEVICE);
	assert_cuda(CU(cuMemAdvise_v2)(
			q, PAGE, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, nowhere),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemPrefetchAsync)(d, PAGE, 0, NULL),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemPrefetchAsync)(q, PAGE, 17, NULL),
		    ERROR_INVALID_DEVICE);
	assert_cuda(CU(cuMemPrefetchAsync)(q, PAGE, 0, (CUstream)&p),
		    ERROR_INVALID_HANDLE);
	assert_cuda(CU(cuMemRangeGetAttribute)(
			&value, 3, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, q, 1),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemRangeGetAttribute)(
			NULL, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, q, 1),
		    ERROR_INVALID_VALUE);
	device_free(q);
	device_free(d);
}

static void advice_holds_for_the_pages_it_was_given(void **state)
{
	CUdeviceptr p = managed(16 * PAGE);

	(void)state;
	assert_int_equal(told(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, 16 * PAGE),
			 0);
	assert_cuda(CU(cuMemAdvise)(p + 4 * PAGE + 5, 2 * PAGE,
				    CU_MEM_ADVISE_SET_READ_MOSTLY, 0),
		    SUCCESS);
	for (unsigned i = 0; i < 16; i++)
		assert_int_equal(told(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
				      p + i * PAGE, PAGE),
				 i >= 4 && i < 7);
	assert_int_equal(
	    told(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p + 4 * PAGE, 3 * PAGE),
	    1);
	assert_int_equal(told(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p + 4 * PAGE,
			      3 * PAGE + 1),
			 0);
	assert_cuda(
	    CU(cuMemAdvise)(p, 6 * PAGE, CU_MEM_ADVISE_UNSET_READ_MOSTLY, -9),
	    SUCCESS);
	assert_int_equal(
	    told(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p + 6 * PAGE, PAGE), 1);
	assert_int_equal(
	    told(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p + 5 * PAGE, PAGE), 0);
	device_free(p);
	/* A new piece at the same address does not inherit it. */
	p = managed(16 * PAGE);
	assert_int_equal(
	    told(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p + 6 * PAGE, PAGE), 0);
	device_free(p);
}

static void places_are_told(void **state)
{
	const CUmemLocation numa = {CU_MEM_LOCATION_TYPE_HOST_NUMA, 1};
	CUdeviceptr p = managed(4 * PAGE);
	int by[4];

	(void)state;
	assert_int_equal(
	    told(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, PAGE),
	    CU_DEVICE_INVALID);
	assert_cuda(CU(cuMemAdvise)(p, 4 * PAGE,
				    CU_MEM_ADVISE_SET_PREFERRED_LOCATION, 1),
		    SUCCESS);
	assert_int_equal(
	    told(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, 4 * PAGE), 1);
	assert_cuda(CU(cuMemAdvise_v2)(
			p, PAGE, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, numa),
		    SUCCESS);
	assert_int_equal(
	    told(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, 2 * PAGE),
	    CU_DEVICE_INVALID);
	assert_int_equal(
	    told(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, p, PAGE),
	    CU_MEM_LOCATION_TYPE_HOST_NUMA);
	assert_int_equal(
	    told(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID, p, PAGE), 1);
	assert_cuda(CU(cuMemPrefetchAsync)(p, 4 * PAGE, 0, NULL), SUCCESS);
	assert_cuda(CU(cuMemPrefetchAsync_ptsz)(p, PAGE, CU_DEVICE_CPU, NULL),
		    SUCCESS);
	assert_int_equal(
	    told(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p, PAGE),
	    CU_DEVICE_CPU);
	assert_int_equal(told(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION,
			      p + PAGE, 3 * PAGE),
			 0);
	for (int d = -1; d < 2; d++)
		assert_cuda(
		    CU(cuMemAdvise)(p, PAGE, CU_MEM_ADVISE_SET_ACCESSED_BY, d),
		    SUCCESS);
	assert_cuda(
	    CU(cuMemAdvise)(p, PAGE, CU_MEM_ADVISE_UNSET_ACCESSED_BY, 0),
	    SUCCESS);
	assert_cuda(
	    CU(cuMemRangeGetAttribute)(
		by, sizeof(by), CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p, PAGE),
	    SUCCESS);
	assert_int_equal(by[0], 1);
	assert_int_equal(by[1], CU_DEVICE_CPU);
	assert_int_equal(by[2], CU_DEVICE_INVALID);
	assert_int_equal(by[3], CU_DEVICE_INVALID);
	device_free(p);
}

static void several_are_told_at_once(void **state)
{
	CUmem_range_attribute which[] = {
	    CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
	    CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION};
	size_t sizes[] = {4, 4};
	CUdeviceptr p = managed(PAGE);
	int mostly = 9, last = 9;
	void *data[] = {&mostly, &last};

	(void)state;
	assert_cuda(CU(cuMemPrefetchAsync)(p, PAGE, 1, NULL), SUCCESS);
	assert_cuda(CU(cuMemRangeGetAttributes)(data, sizes, which, 2, p, PAGE),
		    SUCCESS);
	assert_int_equal(mostly, 0);
	assert_int_equal(last, 1);
	assert_cuda(CU(cuMemRangeGetAttributes)(data, sizes, which, 0, p, PAGE),
		    ERROR_INVALID_VALUE);
	device_free(p);
}

static void batches_fetch_each_to_its_place(void **state)
{
	CUdeviceptr p[3] = {managed(PAGE), managed(PAGE), managed(PAGE)};
	size_t sizes[3] = {PAGE, PAGE, PAGE}, from[2] = {0, 2};
	CUmemLocation places[2] = {{CU_MEM_LOCATION_TYPE_DEVICE, 1},
				   {CU_MEM_LOCATION_TYPE_HOST, 0}};
	CUstream stream;

	(void)state;
	assert_cuda(CU(cuStreamCreate)(&stream, 0), SUCCESS);
	assert_cuda(CU(cuMemPrefetchBatchAsync)(p, sizes, 3, places, from, 2, 0,
						stream),
		    SUCCESS);
	assert_int_equal(
	    told(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p[1], PAGE), 1);
	assert_int_equal(
	    told(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p[2], PAGE),
	    CU_DEVICE_CPU);
	assert_cuda(CU(cuMemDiscardBatchAsync)(p, sizes, 3, 0, stream),
		    SUCCESS);
	assert_cuda(CU(cuMemDiscardBatchAsync)(p, sizes, 3, 0, NULL),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemPrefetchBatchAsync)(p, sizes, 3, places, from, 2, 0,
						CU_STREAM_LEGACY),
		    ERROR_INVALID_VALUE);
	from[1] = 3;
	assert_cuda(CU(cuMemPrefetchBatchAsync)(p, sizes, 3, places, from, 2, 0,
						stream),
		    ERROR_INVALID_VALUE);
	sizes[1] = PAGE + 1;
	assert_cuda(CU(cuMemDiscardBatchAsync)(p, sizes, 3, 0, stream),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuStreamDestroy_v2)(stream), SUCCESS);
	for (unsigned i = 0; i < 3; i++)
		device_free(p[i]);
}

/* A node holds memory, but only processors access it. */
static void nodes_are_places_not_processors(void **state)
{
	CUmemLocation node = {CU_MEM_LOCATION_TYPE_HOST_NUMA, 0};
	const CUmemLocation near = {CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 77};
	CUdeviceptr p = managed(PAGE);

	(void)state;
	assert_cuda(
	    CU(cuMemAdvise_v2)(p, PAGE, CU_MEM_ADVISE_SET_ACCESSED_BY, node),
	    ERROR_INVALID_VALUE);
	assert_cuda(
	    CU(cuMemAdvise_v2)(p, PAGE, CU_MEM_ADVISE_SET_ACCESSED_BY, near),
	    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemAdvise_v2)(
			p, PAGE, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, near),
		    SUCCESS);
	assert_int_equal(
	    told(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, p, PAGE),
	    CU_MEM_LOCATION_TYPE_HOST_NUMA);
	assert_int_not_equal(
	    told(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID, p, PAGE), 77);
	device_free(p);
}

/* The stream and the target may each belong to another device. */
static void any_stream_fetches_to_any_place(void **state)
{
	uint64_t before = free_now();
	CUdeviceptr p = managed(BLOCK);
	CUcontext other;
	CUstream stream;

	(void)state;
	assert_cuda(CU(cuCtxCreate_v2)(&other, 0, 1), SUCCESS);
	assert_cuda(CU(cuStreamCreate)(&stream, 0), SUCCESS);
	assert_cuda(CU(cuCtxSetCurrent)(context), SUCCESS);
	assert_cuda(CU(cuMemPrefetchAsync)(p, BLOCK, 0, stream), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(stream), SUCCESS);
	assert_int_equal(before - free_now(), BLOCK);
	assert_cuda(CU(cuCtxDestroy_v2)(other), SUCCESS);
	device_free(p);
}

static void memory_is_attached_to_streams(void **state)
{
	CUdeviceptr p = managed(1000), d = device_alloc(1000);
	CUstream stream;

	(void)state;
	assert_cuda(CU(cuStreamCreate)(&stream, 0), SUCCESS);
	assert_cuda(
	    CU(cuStreamAttachMemAsync)(stream, p, 0, CU_MEM_ATTACH_SINGLE),
	    SUCCESS);
	assert_cuda(
	    CU(cuStreamAttachMemAsync)(stream, p, 1000, CU_MEM_ATTACH_HOST),
	    SUCCESS);
	assert_cuda(
	    CU(cuStreamAttachMemAsync)(stream, p, 999, CU_MEM_ATTACH_HOST),
	    ERROR_INVALID_VALUE);
	assert_cuda(
	    CU(cuStreamAttachMemAsync)(NULL, p, 0, CU_MEM_ATTACH_SINGLE),
	    ERROR_INVALID_VALUE);
	assert_cuda(
	    CU(cuStreamAttachMemAsync)(stream, d, 0, CU_MEM_ATTACH_GLOBAL),
	    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuStreamAttachMemAsync)(stream, p, 0, 7),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuStreamDestroy_v2)(stream), SUCCESS);
	device_free(p);
	device_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(both_sides_see_the_same),
	    cmocka_unit_test(a_device_may_be_oversubscribed),
	    cmocka_unit_test(prefetched_memory_is_the_devices),
	    cmocka_unit_test(prefetched_memory_gives_way),
	    cmocka_unit_test(memory_moves_between_devices),
	    cmocka_unit_test(wrong_asks_are_told),
	    cmocka_unit_test(advice_holds_for_the_pages_it_was_given),
	    cmocka_unit_test(places_are_told),
	    cmocka_unit_test(several_are_told_at_once),
	    cmocka_unit_test(batches_fetch_each_to_its_place),
	    cmocka_unit_test(nodes_are_places_not_processors),
	    cmocka_unit_test(any_stream_fetches_to_any_place),
	    cmocka_unit_test(memory_is_attached_to_streams),
	};

	return cmocka_run_group_tests(tests, memory_setup, memory_teardown);
}
