/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pointer_test.c - checks every attribute of pointers to every kind of memory.
 */
#include "fronts/cuda/memory_fixture.h"

#define ATTRIBUTES 21

static CUresult ask(void *value, CUpointer_attribute a, CUdeviceptr p)
{
	return CU(cuPointerGetAttribute)(value, a, p);
}

static unsigned number(CUpointer_attribute a, CUdeviceptr p)
{
	unsigned value = 0xeeeeeeee;

	assert_cuda(ask(&value, a, p), SUCCESS);
	return value;
}

static uint64_t word(CUpointer_attribute a, CUdeviceptr p)
{
	uint64_t value = 0xeeeeeeeeeeeeeeee;

	assert_cuda(ask(&value, a, p), SUCCESS);
	return value;
}

static void device_memory_is_told(void **state)
{
	CUdeviceptr p = device_alloc(5000), q = device_alloc(5000);
	void *host = NULL;

	(void)state;
	p += 100;
	assert_int_equal(word(CU_POINTER_ATTRIBUTE_CONTEXT, p),
			 (uintptr_t)context);
	assert_int_equal(number(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p),
			 CU_MEMORYTYPE_DEVICE);
	assert_int_equal(word(CU_POINTER_ATTRIBUTE_DEVICE_POINTER, p), p);
	assert_cuda(ask(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, p),
		    ERROR_INVALID_VALUE);
	assert_null(host);
	assert_int_equal(number(CU_POINTER_ATTRIBUTE_IS_MANAGED, p), 0);
	assert_int_equal(number(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p), 0);
	assert_int_equal(word(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, p),
			 p - 100);
	assert_int_equal(word(CU_POINTER_ATTRIBUTE_RANGE_SIZE, p), 5000);
	assert_int_equal(number(CU_POINTER_ATTRIBUTE_MAPPED, p), 1);
	assert_int_equal(word(CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, p), 0);
	assert_int_equal(number(CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, p),
			 CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
	assert_int_equal(word(CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p), 0);
	assert_int_equal(word(CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, p),
			 p - 100);
	assert_int_not_equal(word(CU_POINTER_ATTRIBUTE_BUFFER_ID, p),
			     word(CU_POINTER_ATTRIBUTE_BUFFER_ID, q));
	p -= 100;
	device_free(q);
	device_free(p);
}

/*
 * Where kernels of the current context may not use it, it has no device
 * pointer.
 */
static void what_is_out_of_reach_has_no_device_pointer(void **state)
{
	CUdeviceptr p = device_alloc(100);
	CUpointer_attribute two[] = {CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
				     CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
	uint64_t value = 7;
	int ordinal = 7;
	void *values[] = {&value, &ordinal};
	CUcontext other;

	(void)state;
	assert_cuda(CU(cuCtxCreate_v2)(&other, 0, 1), SUCCESS);
	assert_cuda(ask(&value, two[0], p), ERROR_INVALID_VALUE);
	assert_int_equal(value, 7);
	assert_cuda(CU(cuPointerGetAttributes)(2, two, values, p), SUCCESS);
	assert_int_equal(value, 0);
	assert_int_equal(ordinal, 0);
	assert_cuda(CU(cuCtxEnablePeerAccess)(context, 0), SUCCESS);
	assert_int_equal(word(two[0], p), p);
	assert_cuda(CU(cuCtxDestroy_v2)(other), SUCCESS);
	assert_cuda(CU(cuCtxSetCurrent)(NULL), SUCCESS);
	assert_cuda(ask(&value, two[0], p), ERROR_INVALID_CONTEXT);
	assert_cuda(ask(&ordinal, two[1], p), SUCCESS);
	assert_cuda(CU(cuCtxSetCurrent)(context), SUCCESS);
	device_free(p);
}

static void an_id_is_never_used_again(void **state)
{
	CUdeviceptr p = device_alloc(100);
	uint64_t id = word(CU_POINTER_ATTRIBUTE_BUFFER_ID, p);

	(void)state;
	device_free(p);
	p = device_alloc(100);
	assert_int_not_equal(word(CU_POINTER_ATTRIBUTE_BUFFER_ID, p), id);
	device_free(p);
}

static void host_memory_is_told(void **state)
{
	static char own[1000];
	void *locked;
	CUdeviceptr p, q, m;

	(void)state;
	assert_cuda(CU(cuMemHostAlloc)(&locked, 1000, 0), SUCCESS);
	assert_cuda(
	    CU(cuMemHostRegister_v2)(own, 1000, CU_MEMHOSTREGISTER_READ_ONLY),
	    SUCCESS);
	assert_cuda(CU(cuMemAllocManaged)(&m, 1000, CU_MEM_ATTACH_HOST),
		    SUCCESS);
	p = (uintptr_t)locked + 5;
	q = (uintptr_t)own + 5;
	assert_int_equal(number(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p),
			 CU_MEMORYTYPE_HOST);
	assert_int_equal(number(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, q),
			 CU_MEMORYTYPE_HOST);
	assert_int_equal(number(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, m),
			 CU_MEMORYTYPE_DEVICE);
	assert_int_equal(number(CU_POINTER_ATTRIBUTE_IS_MANAGED, m), 1);
	assert_int_equal(word(CU_POINTER_ATTRIBUTE_HOST_POINTER, p), p);
	assert_int_equal(word(CU_POINTER_ATTRIBUTE_DEVICE_POINTER, q), q);
	assert_int_equal(word(CU_POINTER_ATTRIBUTE_HOST_POINTER, m), m);
	assert_int_equal(number(CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, q),
			 CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READ);
	assert_int_equal(word(CU_POINTER_ATTRIBUTE_RANGE_SIZE, q), 1000);
	device_free(m);
	assert_cuda(CU(cuMemHostUnregister)(own), SUCCESS);
	assert_cuda(CU(cuMemFreeHost)(locked), SUCCESS);
}

static void foreign_memory_is_no_memory_of_cuda(void **state)
{
	char own[64];
	uint64_t value;

	(void)state;
	for (int a = 1; a <= ATTRIBUTES; a++) {
		value = 0xeeeeeeeeeeeeeeee;
		assert_cuda(ask(&value, (CUpointer_attribute)a, (uintptr_t)own),
			    ERROR_INVALID_VALUE);
		assert_int_equal(value, 0xeeeeeeeeeeeeeeee);
	}
	assert_cuda(ask(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 0),
		    ERROR_INVALID_VALUE);
}

static void several_attributes_come_at_once(void **state)
{
	CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
				       CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
				       CU_POINTER_ATTRIBUTE_HOST_POINTER,
				       CU_POINTER_ATTRIBUTE_CONTEXT};
	CUdeviceptr p = device_alloc(64);
	void *host = &p, *ctx = &p;
	unsigned type = 99;
	int ordinal = 99;
	void *data[] = {&type, &ordinal, &host, &ctx};

	(void)state;
	assert_cuda(CU(cuPointerGetAttributes)(4, which, data, p), SUCCESS);
	assert_int_equal(type, CU_MEMORYTYPE_DEVICE);
	assert_int_equal(ordinal, 0);
	assert_null(host);
	assert_ptr_equal(ctx, context);
	assert_cuda(
	    CU(cuPointerGetAttributes)(4, which, data, (uintptr_t)which),
	    SUCCESS);
	assert_int_equal(type, 0);
	assert_int_equal(ordinal, -2);
	assert_null(ctx);
	assert_cuda(CU(cuPointerGetAttributes)(0, which, data, p),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuPointerGetAttributes)(4, which, NULL, p),
		    ERROR_INVALID_VALUE);
	data[2] = NULL;
	assert_cuda(CU(cuPointerGetAttributes)(4, which, data, p),
		    ERROR_INVALID_VALUE);
	device_free(p);
}

/* A synchronous copy within a device is also done when the call returns. */
static void copies_are_made_synchronous(void **state)
{
	CUdeviceptr p = device_alloc(4096), q = device_alloc(4096);
	unsigned on = 1;
	CUstream stream, other;

	(void)state;
	assert_cuda(CU(cuStreamCreate)(&stream, 0), SUCCESS);
	assert_cuda(CU(cuStreamCreate)(&other, CU_STREAM_NON_BLOCKING),
		    SUCCESS);
	assert_int_equal(number(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p), 0);
	assert_cuda(CU(cuPointerSetAttribute)(
			&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p + 7),
		    SUCCESS);
	assert_int_equal(number(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p), 1);
	hold(stream);
	assert_cuda(CU(cuMemcpyDtoDAsync_v2)(q, p, 4096, stream), SUCCESS);
	assert_cuda(CU(cuMemsetD8Async)(p, 1, 4096, stream), SUCCESS);
	assert_cuda(CU(cuStreamQuery)(stream), ERROR_NOT_READY);
	assert_cuda(CU(cuLaunchHostFunc)(other, let_go_later, NULL), SUCCESS);
	assert_cuda(CU(cuMemcpyDtoD_v2)(q, p, 4096), SUCCESS);
	assert_true(atomic_load(&is_let_go));
	assert_cuda(CU(cuStreamQuery)(stream), SUCCESS);
	/* Earlier work ends before the attribute is set. */
	hold(stream);
	assert_cuda(CU(cuMemsetD8_v2)(q, 1, 4096), SUCCESS);
	assert_cuda(CU(cuLaunchHostFunc)(other, let_go_later, NULL), SUCCESS);
	assert_cuda(
	    CU(cuPointerSetAttribute)(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, q),
	    SUCCESS);
	assert_true(atomic_load(&is_let_go));
	assert_cuda(CU(cuStreamDestroy_v2)(stream), SUCCESS);
	assert_cuda(CU(cuStreamDestroy_v2)(other), SUCCESS);
	device_free(p);
	device_free(q);
}

static void only_one_attribute_is_set(void **state)
{
	CUdeviceptr p = device_alloc(64);
	unsigned on = 1;

	(void)state;
	assert_cuda(
	    CU(cuPointerSetAttribute)(&on, CU_POINTER_ATTRIBUTE_IS_MANAGED, p),
	    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuPointerSetAttribute)(
			NULL, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuPointerSetAttribute)(
			&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, (uintptr_t)&on),
		    ERROR_INVALID_VALUE);
	assert_cuda(ask(&on, (CUpointer_attribute)0, p), ERROR_INVALID_VALUE);
	assert_cuda(ask(&on, (CUpointer_attribute)22, p), ERROR_INVALID_VALUE);
	assert_cuda(ask(NULL, CU_POINTER_ATTRIBUTE_MAPPED, p),
		    ERROR_INVALID_VALUE);
	assert_cuda(ask(&on, CU_POINTER_ATTRIBUTE_P2P_TOKENS, p),
		    ERROR_NOT_SUPPORTED);
	device_free(p);
}

/* Notes are found and forgotten, however many there are. */
static void many_pieces_are_noted(void **state)
{
	enum { N = 3000 };
	static CUdeviceptr p[N];
	unsigned on = 1;

	(void)state;
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < N; i++) {
			p[i] = device_alloc(512);
			if (i % 3)
				assert_cuda(
				    CU(cuPointerSetAttribute)(
					&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS,
					p[i]),
				    SUCCESS);
		}
		for (unsigned i = 0; i < N; i++) {
			assert_int_equal(
			    number(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p[i]),
			    i % 3 != 0);
			device_free(p[i]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(device_memory_is_told),
	    cmocka_unit_test(what_is_out_of_reach_has_no_device_pointer),
	    cmocka_unit_test(an_id_is_never_used_again),
	    cmocka_unit_test(host_memory_is_told),
	    cmocka_unit_test(foreign_memory_is_no_memory_of_cuda),
	    cmocka_unit_test(several_attributes_come_at_once),
	    HOLDING_TEST(copies_are_made_synchronous),
	    cmocka_unit_test(only_one_attribute_is_set),
	    cmocka_unit_test(many_pieces_are_noted),
	};

	return cmocka_run_group_tests(tests, memory_setup, memory_teardown);
}
