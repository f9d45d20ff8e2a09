/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owed_test.c - checks memory that was freed while a stopped process held the
 * device's books, or the machine: it stays charged until that process
 * continues, and no longer.
 */
#include "fronts/cuda/memory_fixture.h"
#include "machine/holder.h"
#include "machine/store/process/ledger.h"

static uint64_t held(void **state, unsigned device)
{
	const struct fixture *fx = *state;

	return gkf_held_bytes(fx->m, device);
}

static void freed_memory(void **state)
{
	struct fixture *fx = *state;
	uint64_t before = held(state, 0);
	CUdeviceptr p = device_alloc(5 * BLOCK);
	pid_t holder = holder_start(fx->m, 0);

	device_free(p);
	holder_end(holder);
	assert_int_equal(held(state, 0), before + 5 * BLOCK);
	p = device_alloc(1);
	assert_int_equal(held(state, 0), before + BLOCK);
	device_free(p);
	assert_int_equal(held(state, 0), before);
}

static void memory_of_a_pool(void **state)
{
	struct fixture *fx = *state;
	uint64_t before = held(state, 0), all = UINT64_MAX;
	CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
				.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
	CUmemoryPool pool;
	CUdeviceptr p;
	pid_t holder;

	assert_cuda(CU(cuMemPoolCreate)(&pool, &props), SUCCESS);
	assert_cuda(CU(cuMemPoolSetAttribute)(
			pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all),
		    SUCCESS);
	assert_cuda(CU(cuMemAllocFromPoolAsync)(&p, 3 * BLOCK, pool, NULL),
		    SUCCESS);
	assert_cuda(CU(cuMemFreeAsync)(p, NULL), SUCCESS);
	settle();
	assert_int_equal(held(state, 0), before + 3 * BLOCK);
	holder = holder_start(fx->m, 0);
	assert_cuda(CU(cuMemPoolTrimTo)(pool, 0), SUCCESS);
	assert_cuda(CU(cuMemPoolDestroy)(pool), SUCCESS);
	holder_end(holder);
	device_free(device_alloc(1));
	assert_int_equal(held(state, 0), before);
}

static void managed_memory(void **state)
{
	struct fixture *fx = *state;
	CUdeviceptr p;
	size_t before = free_now();
	pid_t holder;

	assert_cuda(CU(cuMemAllocManaged)(&p, 4 * BLOCK, CU_MEM_ATTACH_GLOBAL),
		    SUCCESS);
	assert_cuda(CU(cuMemPrefetchAsync)(p, 4 * BLOCK, 0, NULL), SUCCESS);
	settle();
	assert_int_equal(before - free_now(), 4 * BLOCK);
	holder = holder_start(fx->m, 0);
	device_free(p);
	holder_end(holder);
	assert_int_equal(before - free_now(), 4 * BLOCK);
	device_free(device_alloc(1));
	assert_int_equal(free_now(), before);
}

static void a_further_context(void **state)
{
	struct fixture *fx = *state;
	uint64_t before = held(state, 0);
	CUcontext further;
	pid_t holder;

	assert_cuda(CU(cuCtxCreate_v2)(&further, 0, 0), SUCCESS);
	assert_true(held(state, 0) > before);
	holder = holder_start(fx->m, 0);
	assert_cuda(CU(cuCtxDestroy_v2)(further), SUCCESS);
	holder_end(holder);
	assert_true(held(state, 0) > before);
	device_free(device_alloc(1));
	assert_int_equal(held(state, 0), before);
}

/* The process is on the device until it can be removed from it. */
static void the_last_context_of_a_device(void **state)
{
	static const unsigned locks[] = {1, HOLD_MACHINE};
	struct fixture *fx = *state;
	uint64_t before = held(state, 1), cost;
	CUcontext on_other, further;
	pid_t holder;

	for (unsigned i = 0; i < 2; i++) {
		assert_cuda(CU(cuCtxCreate_v2)(&on_other, 0, 1), SUCCESS);
		cost = held(state, 1) - before;
		assert_true(cost > 0);
		holder = holder_start(fx->m, locks[i]);
		assert_cuda(CU(cuCtxDestroy_v2)(on_other), SUCCESS);
		holder_end(holder);
		assert_int_equal(held(state, 1), before + cost);
		/* On either device: whichever context comes next. */
		assert_cuda(CU(cuCtxCreate_v2)(&further, 0, (int)i), SUCCESS);
		assert_int_equal(held(state, 1), before + (i ? cost : 0));
		assert_cuda(CU(cuCtxDestroy_v2)(further), SUCCESS);
		assert_int_equal(held(state, 1), before);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(freed_memory),
	    cmocka_unit_test(memory_of_a_pool),
	    cmocka_unit_test(managed_memory),
	    cmocka_unit_test(a_further_context),
	    cmocka_unit_test(the_last_context_of_a_device),
	};

	return cmocka_run_group_tests(tests, memory_setup, memory_teardown);
}
