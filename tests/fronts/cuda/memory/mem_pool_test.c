/* SPDX-License-Identifier: Apache-2.0 */
/* mem_pool_test.c - checks memory pools and stream-ordered memory. */
#include "fronts/cuda/memory_fixture.h"

#include <pthread.h>

static CUmemoryPool standard(void)
{
	CUmemoryPool pool = NULL;

	assert_cuda(CU(cuDeviceGetDefaultMemPool)(&pool, 0), SUCCESS);
	return pool;
}

static uint64_t told(CUmemoryPool pool, CUmemPool_attribute attribute)
{
	cuuint64_t value = 0;

	assert_cuda(CU(cuMemPoolGetAttribute)(pool, attribute, &value),
		    SUCCESS);
	return value;
}

#define RESERVED(pool) told(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)
#define USED(pool)     told(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT)

static const CUmemPoolProps on_device_0 = {
    .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
    .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
};

static CUmemoryPool make_pool(void)
{
	CUmemoryPool pool = NULL;

	assert_cuda(CU(cuMemPoolCreate)(&pool, &on_device_0), SUCCESS);
	return pool;
}

static void memory_comes_and_goes_with_the_stream(void **state)
{
	uint64_t before = free_now();
	unsigned char own[1000];
	CUstream stream;
	CUdeviceptr p;

	(void)state;
	fill_random(own, sizeof(own), 1);
	assert_cuda(CU(cuStreamCreate)(&stream, 0), SUCCESS);
	assert_cuda(CU(cuMemAllocAsync)(&p, 1000, stream), SUCCESS);
	assert_int_equal(before - free_now(), BLOCK);
	assert_cuda(CU(cuMemcpyHtoDAsync_v2)(p, own, 1000, stream), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(stream), SUCCESS);
	device_holds(p, own, 1000);
	assert_cuda(CU(cuMemFreeAsync)(p, stream), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(stream), SUCCESS);
	assert_int_equal(free_now(), before);
	assert_cuda(CU(cuMemFreeAsync)(p, stream), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemFree_v2)(p), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuStreamDestroy_v2)(stream), SUCCESS);
}

/* Earlier work in the stream may still use it. */
static void a_free_waits_for_what_was_before(void **state)
{
	uint64_t before = free_now();
	CUdeviceptr p, none;
	CUstream stream;

	(void)state;
	assert_cuda(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING),
		    SUCCESS);
	assert_cuda(CU(cuMemAllocAsync)(&p, BLOCK, stream), SUCCESS);
	hold(stream);
	assert_cuda(CU(cuMemsetD8Async)(p, 1, BLOCK, stream), SUCCESS);
	assert_cuda(CU(cuMemFreeAsync)(p, stream), SUCCESS);
	assert_cuda(CU(cuMemFreeAsync)(p, stream), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemFree_v2)(p), ERROR_INVALID_VALUE);
	assert_int_equal(before - free_now(), BLOCK);
	/* Nothing is waited for in vain. */
	assert_cuda(CU(cuMemAllocAsync)(&none, 1ULL << 50, stream),
		    ERROR_OUT_OF_MEMORY);
	let_go(NULL);
	assert_cuda(CU(cuStreamSynchronize)(stream), SUCCESS);
	assert_int_equal(free_now(), before);
	assert_cuda(CU(cuStreamDestroy_v2)(stream), SUCCESS);
}

static CUdeviceptr pool_alloc(size_t size, CUstream stream)
{
	CUdeviceptr p = 0;

	assert_cuda(CU(cuMemAllocAsync)(&p, size, stream), SUCCESS);
	return p;
}

/* A stream that frees and allocates again needs the memory once. */
static void a_stream_has_again_what_it_freed(void **state)
{
	size_t size = free_now() / 4 * 3, small = 1000;
	cuuint64_t zero = 0;
	CUstream stream;
	CUdeviceptr p, q;

	(void)state;
	assert_cuda(CU(cuMemPoolSetAttribute)(
			standard(), CU_MEMPOOL_ATTR_USED_MEM_HIGH, &zero),
		    SUCCESS);
	assert_cuda(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING),
		    SUCCESS);
	hold(stream);
	p = pool_alloc(size, stream);
	q = pool_alloc(small, stream);
	for (int i = 0; i < 100; i++) {
		assert_cuda(CU(cuMemFreeAsync)(p, stream), SUCCESS);
		assert_cuda(CU(cuMemFreeAsync)(q, stream), SUCCESS);
		assert_cuda(CU(cuMemFreeAsync)(q, stream), ERROR_INVALID_VALUE);
		assert_int_equal(pool_alloc(small - i, stream), q);
		assert_int_equal(pool_alloc(size - i, stream), p);
	}
	assert_cuda(CU(cuMemsetD8Async)(q, 1, small - 99, stream), SUCCESS);
	assert_cuda(CU(cuMemsetD8Async)(q, 1, small - 98, stream),
		    ERROR_INVALID_VALUE);
	assert_true(told(standard(), CU_MEMPOOL_ATTR_USED_MEM_HIGH) <=
		    size + BLOCK);
	let_go(NULL);
	assert_cuda(CU(cuStreamSynchronize)(stream), SUCCESS);
	device_free(p);
	device_free(q);
	assert_int_equal(USED(standard()), 0);
	assert_cuda(CU(cuStreamDestroy_v2)(stream), SUCCESS);
}

static void soon(void *data)
{
	(void)data;
	usleep(50000);
}

/* Memory that another stream still has to free is waited for. */
static void what_leaves_is_waited_for(void **state)
{
	size_t size = free_now() / 4 * 3;
	CUmemoryPool pool = make_pool();
	CUstream a, b;
	CUdeviceptr p;
	int off = 0;

	(void)state;
	assert_cuda(CU(cuStreamCreate)(&a, CU_STREAM_NON_BLOCKING), SUCCESS);
	assert_cuda(CU(cuStreamCreate)(&b, CU_STREAM_NON_BLOCKING), SUCCESS);
	p = pool_alloc(size, a);
	for (int i = 1; i < 5; i++) {
		assert_cuda(CU(cuLaunchHostFunc)(a, soon, NULL), SUCCESS);
		assert_cuda(CU(cuMemFreeAsync)(p, a), SUCCESS);
		p = pool_alloc(size + BLOCK * i, i & 1 ? b : a);
	}
	assert_cuda(CU(cuStreamSynchronize)(a), SUCCESS);
	assert_cuda(CU(cuMemFreeAsync)(p, b), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(b), SUCCESS);
	assert_cuda(
	    CU(cuMemPoolSetAttribute)(
		pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, &off),
	    SUCCESS);
	p = pool_alloc(size, a);
	hold(a);
	assert_cuda(CU(cuMemFreeAsync)(p, a), SUCCESS);
	assert_cuda(CU(cuMemAllocFromPoolAsync)(&p, size, pool, b),
		    ERROR_OUT_OF_MEMORY);
	assert_cuda(CU(cuLaunchHostFunc)(b, let_go_later, NULL), SUCCESS);
	assert_cuda(CU(cuMemAllocFromPoolAsync)(&p, size + BLOCK, pool, a),
		    SUCCESS);
	device_free(p);
	assert_cuda(CU(cuMemPoolDestroy)(pool), SUCCESS);
	assert_cuda(CU(cuStreamDestroy_v2)(a), SUCCESS);
	assert_cuda(CU(cuStreamDestroy_v2)(b), SUCCESS);
}

/*
 * Pieces that leave while an allocation fails are found by another attempt:
 * each piece needs the memory of the one before, and the streams never rest.
 */
static void what_leaves_just_now_is_found(void **state)
{
	size_t size = free_now() / 4 * 3;
	CUstream streams[2];
	CUdeviceptr p;

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_cuda(
		    CU(cuStreamCreate)(&streams[i], CU_STREAM_NON_BLOCKING),
		    SUCCESS);
	for (int i = 0; i < 2000; i++) {
		p = pool_alloc(size, streams[i & 1]);
		assert_cuda(CU(cuMemFreeAsync)(p, streams[i & 1]), SUCCESS);
	}
	for (int i = 0; i < 2; i++) {
		assert_cuda(CU(cuStreamSynchronize)(streams[i]), SUCCESS);
		assert_cuda(CU(cuStreamDestroy_v2)(streams[i]), SUCCESS);
	}
}

#define WORDS 3000 /* the most that a piece has */

/* Allocates and frees pieces in its stream; what it writes must stay. */
static void *use_the_pool(void *data)
{
	uint64_t seed = (uintptr_t)data;
	unsigned *own = malloc(WORDS * sizeof(*own));
	CUresult bad = CU(cuCtxSetCurrent)(context);
	CUdeviceptr p[4] = {0};
	size_t words[4];
	CUstream stream;

	bad |= CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING);
	for (unsigned i = 0; !bad && i < 500; i++) {
		unsigned at = next_random(&seed) % 4;

		if (p[at]) {
			bad |= CU(cuMemcpyDtoHAsync_v2)(own, p[at],
							words[at] * 4, stream);
			bad |= CU(cuMemFreeAsync)(p[at], stream);
			for (size_t w = 0; w < words[at]; w++)
				bad |= own[w] != ((uintptr_t)data << 8 | at);
		}
		words[at] = 1 + next_random(&seed) % 5 * (WORDS / 5);
		bad |=
		    CU(cuMemAllocAsync)(&p[at], words[at] * 4 - i % 3, stream);
		words[at]--;
		bad |= CU(cuMemsetD32Async)(p[at], (uintptr_t)data << 8 | at,
					    words[at], stream);
	}
	for (unsigned at = 0; at < 4; at++)
		bad |= p[at] ? CU(cuMemFreeAsync)(p[at], stream) : 0;
	bad |= CU(cuStreamSynchronize)(stream);
	bad |= CU(cuStreamDestroy_v2)(stream);
	free(own);
	return bad ? data : NULL;
}

static void threads_share_a_pool(void **state)
{
	uint64_t before = free_now();
	pthread_t threads[8];
	void *bad;

	(void)state;
	for (uintptr_t i = 0; i < 8; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, use_the_pool,
						(void *)(i + 1)),
				 0);
	for (unsigned i = 0; i < 8; i++) {
		pthread_join(threads[i], &bad);
		assert_null(bad);
	}
	assert_int_equal(USED(standard()), 0);
	assert_int_equal(free_now(), before);
}

/* The stream decides where, whatever context is current. */
static void a_streams_device_gives_the_memory(void **state)
{
	uint64_t before = free_now(), there;
	CUcontext other;
	CUstream stream;
	CUdeviceptr p;
	int device = 7;

	(void)state;
	assert_cuda(CU(cuCtxCreate_v2)(&other, 0, 1), SUCCESS);
	assert_cuda(CU(cuStreamCreate)(&stream, 0), SUCCESS);
	there = free_now();
	assert_cuda(CU(cuCtxSetCurrent)(context), SUCCESS);
	p = pool_alloc(BLOCK, stream);
	assert_int_equal(free_now(), before);
	assert_cuda(CU(cuPointerGetAttribute)(
			&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p),
		    SUCCESS);
	assert_int_equal(device, 1);
	assert_cuda(CU(cuMemFreeAsync)(p, stream), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(stream), SUCCESS);
	assert_cuda(CU(cuMemAllocFromPoolAsync)(&p, 1, standard(), stream),
		    SUCCESS);
	assert_int_equal(before - free_now(), BLOCK);
	assert_cuda(CU(cuMemFreeAsync)(p, stream), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(stream), SUCCESS);
	assert_int_equal(free_now(), before);
	assert_cuda(CU(cuMemAllocAsync)(&p, 1, (CUstream)&p),
		    ERROR_INVALID_HANDLE);
	/* A handle is enough: no context needs to be current. */
	while (!CU(cuCtxPopCurrent_v2)(NULL))
		;
	p = pool_alloc(1, stream);
	assert_cuda(CU(cuMemFreeAsync)(p, NULL), ERROR_INVALID_CONTEXT);
	assert_cuda(CU(cuMemFreeAsync)(p, stream), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(stream), SUCCESS);
	assert_cuda(CU(cuMemAllocAsync)(&p, 1, NULL), ERROR_INVALID_CONTEXT);
	assert_cuda(CU(cuCtxSetCurrent)(other), SUCCESS);
	assert_int_equal(free_now(), there);
	assert_cuda(CU(cuCtxDestroy_v2)(other), SUCCESS);
	assert_cuda(CU(cuCtxSetCurrent)(context), SUCCESS);
}

static void either_memory_is_freed_by_either_call(void **state)
{
	uint64_t before = free_now();
	CUdeviceptr p;

	(void)state;
	assert_cuda(CU(cuMemAllocAsync)(&p, 100, NULL), SUCCESS);
	device_free(p);
	p = device_alloc(100);
	assert_cuda(CU(cuMemFreeAsync_ptsz)(p, NULL), SUCCESS);
	settle();
	assert_int_equal(free_now(), before);
}

static void a_threshold_keeps_memory(void **state)
{
	uint64_t before = free_now();
	cuuint64_t keep = 8 * BLOCK, zero = 0, one = 1;
	CUmemoryPool pool = make_pool();
	CUdeviceptr p, q;

	(void)state;
	assert_int_equal(told(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD), 0);
	assert_cuda(CU(cuMemPoolSetAttribute)(
			pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep),
		    SUCCESS);
	assert_cuda(CU(cuMemAllocFromPoolAsync)(&p, 10 * BLOCK, pool, NULL),
		    SUCCESS);
	assert_cuda(CU(cuMemAllocFromPoolAsync)(&q, 1, pool, NULL), SUCCESS);
	assert_int_equal(RESERVED(pool), 11 * BLOCK);
	assert_int_equal(USED(pool), 10 * BLOCK + 512);
	assert_cuda(CU(cuMemFreeAsync)(p, NULL), SUCCESS);
	settle();
	assert_int_equal(RESERVED(pool), 8 * BLOCK);
	assert_int_equal(before - free_now(), 8 * BLOCK);
	assert_int_equal(USED(pool), 512);
	assert_cuda(CU(cuMemPoolTrimTo)(pool, 3 * BLOCK), SUCCESS);
	assert_int_equal(RESERVED(pool), 3 * BLOCK);
	assert_cuda(CU(cuMemPoolTrimTo)(pool, 0), SUCCESS);
	assert_int_equal(RESERVED(pool), BLOCK);
	assert_int_equal(told(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH),
			 11 * BLOCK);
	assert_cuda(CU(cuMemPoolSetAttribute)(
			pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &one),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemPoolSetAttribute)(
			pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &zero),
		    SUCCESS);
	assert_int_equal(told(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH), BLOCK);
	assert_int_equal(told(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH),
			 10 * BLOCK + 512);
	assert_cuda(CU(cuMemPoolSetAttribute)(
			pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &zero),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemFreeAsync)(q, NULL), SUCCESS);
	settle();
	assert_cuda(CU(cuMemPoolDestroy)(pool), SUCCESS);
	assert_int_equal(free_now(), before);
}

/* It goes away with its last piece. */
/* A pool's reserve counts when it needs more memory, but not twice. */
static void a_reserve_is_no_memory_of_its_own(void **state)
{
	cuuint64_t keep = 10 * BLOCK;
	CUmemoryPool pool = make_pool();
	CUdeviceptr p, rest;

	(void)state;
	assert_cuda(CU(cuMemPoolSetAttribute)(
			pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep),
		    SUCCESS);
	assert_cuda(CU(cuMemAllocFromPoolAsync)(&p, keep, pool, NULL), SUCCESS);
	device_free(p);
	assert_int_equal(RESERVED(pool), keep);
	rest = device_alloc(free_now() / BLOCK * BLOCK - 4 * BLOCK);
	assert_cuda(CU(cuMemAllocFromPoolAsync)(&p, 15 * BLOCK, pool, NULL),
		    ERROR_OUT_OF_MEMORY);
	assert_cuda(CU(cuMemAllocFromPoolAsync)(&p, 14 * BLOCK, pool, NULL),
		    SUCCESS);
	assert_true(free_now() < BLOCK);
	device_free(p);
	device_free(rest);
	assert_cuda(CU(cuMemPoolDestroy)(pool), SUCCESS);
}

static void a_destroyed_pools_memory_lives_on(void **state)
{
	uint64_t before = free_now();
	CUmemoryPool pool = make_pool(), none = (CUmemoryPool)1;
	CUdeviceptr p;

	(void)state;
	assert_cuda(CU(cuMemAllocFromPoolAsync)(&p, 100, pool, NULL), SUCCESS);
	assert_cuda(CU(cuMemPoolDestroy)(pool), SUCCESS);
	assert_cuda(CU(cuMemPoolDestroy)(pool), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemsetD8_v2)(p, 1, 100), SUCCESS);
	assert_cuda(CU(cuPointerGetAttribute)(
			&none, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p),
		    SUCCESS);
	assert_null(none);
	assert_cuda(CU(cuMemFreeAsync)(p, NULL), SUCCESS);
	settle();
	assert_int_equal(free_now(), before);
}

static void a_pool_may_be_bounded(void **state)
{
	CUmemPoolProps props = on_device_0;
	CUmemoryPool pool;
	CUdeviceptr p, q;

	(void)state;
	props.maxSize = 2 * BLOCK;
	assert_cuda(CU(cuMemPoolCreate)(&pool, &props), SUCCESS);
	assert_cuda(CU(cuMemAllocFromPoolAsync)(&p, 2 * BLOCK, pool, NULL),
		    SUCCESS);
	assert_cuda(CU(cuMemAllocFromPoolAsync)(&q, 1, pool, NULL),
		    ERROR_OUT_OF_MEMORY);
	assert_cuda(CU(cuMemFreeAsync)(p, NULL), SUCCESS);
	settle();
	assert_cuda(CU(cuMemPoolDestroy)(pool), SUCCESS);
}

static void a_device_has_a_current_pool(void **state)
{
	CUmemoryPool pool = make_pool(), got;
	CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
	CUdeviceptr p;

	(void)state;
	assert_cuda(CU(cuDeviceGetMemPool)(&got, 0), SUCCESS);
	assert_ptr_equal(got, standard());
	assert_cuda(CU(cuDeviceSetMemPool)(1, pool), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuDeviceSetMemPool)(0, pool), SUCCESS);
	assert_cuda(
	    CU(cuMemGetMemPool)(&got, &here, CU_MEM_ALLOCATION_TYPE_PINNED),
	    SUCCESS);
	assert_ptr_equal(got, pool);
	assert_cuda(CU(cuMemGetDefaultMemPool)(&got, &here,
					       CU_MEM_ALLOCATION_TYPE_PINNED),
		    SUCCESS);
	assert_ptr_equal(got, standard());
	assert_cuda(CU(cuMemAllocAsync)(&p, 100, NULL), SUCCESS);
	assert_int_equal(USED(pool), 512);
	assert_cuda(CU(cuPointerGetAttribute)(
			&got, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p),
		    SUCCESS);
	assert_ptr_equal(got, pool);
	assert_cuda(CU(cuMemFreeAsync)(p, NULL), SUCCESS);
	settle();
	assert_cuda(CU(cuMemPoolDestroy)(pool), SUCCESS);
	assert_cuda(CU(cuDeviceGetMemPool)(&got, 0), SUCCESS);
	assert_ptr_equal(got, standard());
	assert_cuda(CU(cuMemPoolDestroy)(standard()), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuDeviceGetMemPool)(&got, 99), ERROR_INVALID_DEVICE);
}

static void access_is_kept(void **state)
{
	CUmemoryPool pool = make_pool();
	CUmemAccessDesc peer = {{CU_MEM_LOCATION_TYPE_DEVICE, 1},
				CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	CUmemAccessDesc own = {{CU_MEM_LOCATION_TYPE_DEVICE, 0},
			       CU_MEM_ACCESS_FLAGS_PROT_NONE};
	CUmemAccess_flags flags;

	(void)state;
	assert_cuda(CU(cuMemPoolGetAccess)(&flags, pool, &own.location),
		    SUCCESS);
	assert_int_equal(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
	assert_cuda(CU(cuMemPoolGetAccess)(&flags, pool, &peer.location),
		    SUCCESS);
	assert_int_equal(flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
	assert_cuda(CU(cuMemPoolSetAccess)(pool, &peer, 1), SUCCESS);
	assert_cuda(CU(cuMemPoolGetAccess)(&flags, pool, &peer.location),
		    SUCCESS);
	assert_int_equal(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
	assert_cuda(CU(cuMemPoolSetAccess)(pool, &own, 1), ERROR_INVALID_VALUE);
	peer.location.id = 2;
	assert_cuda(CU(cuMemPoolSetAccess)(pool, &peer, 1),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemPoolDestroy)(pool), SUCCESS);
}

static void switches_are_kept(void **state)
{
	CUmemoryPool pool = make_pool();
	int on = -1, off = 0;

	(void)state;
	for (int a = CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES;
	     a <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES; a++) {
		assert_cuda(CU(cuMemPoolGetAttribute)(
				pool, (CUmemPool_attribute)a, &on),
			    SUCCESS);
		assert_int_equal(on, 1);
		assert_cuda(CU(cuMemPoolSetAttribute)(
				pool, (CUmemPool_attribute)a, &off),
			    SUCCESS);
		assert_cuda(CU(cuMemPoolGetAttribute)(
				pool, (CUmemPool_attribute)a, &on),
			    SUCCESS);
		assert_int_equal(on, 0);
	}
	assert_cuda(
	    CU(cuMemPoolGetAttribute)(pool, (CUmemPool_attribute)99, &on),
	    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemPoolDestroy)(pool), SUCCESS);
}

static void what_is_not_there_is_refused(void **state)
{
	CUmemPoolProps props = on_device_0;
	CUmemoryPool pool = (CUmemoryPool)5;
	char handle[64];
	CUdeviceptr p = 3;

	(void)state;
	props.handleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
	assert_cuda(CU(cuMemPoolCreate)(&pool, &props), ERROR_NOT_SUPPORTED);
	props = on_device_0;
	props.location.type = CU_MEM_LOCATION_TYPE_HOST;
	assert_cuda(CU(cuMemPoolCreate)(&pool, &props), ERROR_NOT_SUPPORTED);
	props.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
	assert_cuda(CU(cuMemPoolCreate)(&pool, &props), ERROR_INVALID_VALUE);
	props.location.type = CU_MEM_LOCATION_TYPE_NONE;
	assert_cuda(CU(cuMemPoolCreate)(&pool, &props), ERROR_INVALID_VALUE);
	props.allocType = CU_MEM_ALLOCATION_TYPE_MANAGED;
	assert_cuda(CU(cuMemPoolCreate)(&pool, &props), ERROR_NOT_SUPPORTED);
	props.location.type = 9;
	assert_cuda(CU(cuMemPoolCreate)(&pool, &props), ERROR_INVALID_VALUE);
	props = on_device_0;
	props.location.id = 9;
	assert_cuda(CU(cuMemPoolCreate)(&pool, &props), ERROR_INVALID_VALUE);
	props = on_device_0;
	props.allocType = CU_MEM_ALLOCATION_TYPE_INVALID;
	assert_cuda(CU(cuMemPoolCreate)(&pool, &props), ERROR_INVALID_VALUE);
	assert_ptr_equal(pool, (CUmemoryPool)5);
	assert_cuda(CU(cuMemPoolExportToShareableHandle)(
			handle, standard(),
			CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemAllocAsync)(&p, 0, NULL), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemAllocAsync)(NULL, 1, NULL), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemAllocAsync)(&p, 1ULL << 50, NULL),
		    ERROR_OUT_OF_MEMORY);
	assert_cuda(CU(cuMemAllocAsync)(&p, 1, (CUstream)handle),
		    ERROR_INVALID_HANDLE);
	assert_cuda(CU(cuMemAllocFromPoolAsync)(&p, 1, pool, NULL),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemFreeAsync)((uintptr_t)handle, NULL),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemFreeAsync)(0, NULL), ERROR_INVALID_VALUE);
	assert_int_equal(p, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(memory_comes_and_goes_with_the_stream),
	    HOLDING_TEST(a_free_waits_for_what_was_before),
	    HOLDING_TEST(a_stream_has_again_what_it_freed),
	    HOLDING_TEST(what_leaves_is_waited_for),
	    HOLDING_TEST(what_leaves_just_now_is_found),
	    cmocka_unit_test(threads_share_a_pool),
	    cmocka_unit_test(a_streams_device_gives_the_memory),
	    cmocka_unit_test(either_memory_is_freed_by_either_call),
	    cmocka_unit_test(a_threshold_keeps_memory),
	    cmocka_unit_test(a_reserve_is_no_memory_of_its_own),
	    cmocka_unit_test(a_destroyed_pools_memory_lives_on),
	    cmocka_unit_test(a_pool_may_be_bounded),
	    cmocka_unit_test(a_device_has_a_current_pool),
	    cmocka_unit_test(access_is_kept),
	    cmocka_unit_test(switches_are_kept),
	    cmocka_unit_test(what_is_not_there_is_refused),
	};

	return cmocka_run_group_tests(tests, memory_setup, memory_teardown);
}
