/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memset_test.c - checks filling memory: exactly what was requested, and
 * errors.
 */
#include "fronts/cuda/memory_fixture.h"

static void sets_fill_exactly_what_they_say(void **state)
{
	CUdeviceptr p = device_alloc(4096);
	unsigned char model[4096];
	uint16_t *half = (uint16_t *)model;
	uint32_t *word = (uint32_t *)model;

	(void)state;
	memset(model, 3, sizeof(model));
	assert_cuda(CU(cuMemsetD8_v2)(p, 3, 4096), SUCCESS);
	assert_cuda(CU(cuMemsetD8Async)(p + 5, 0xab, 17, NULL), SUCCESS);
	memset(model + 5, 0xab, 17);
	assert_cuda(CU(cuMemsetD16_v2_ptds)(p + 100, 0x1234, 9), SUCCESS);
	for (unsigned i = 50; i < 59; i++)
		half[i] = 0x1234;
	assert_cuda(CU(cuMemsetD32Async_ptsz)(p + 200, 0xdeadbeef, 3, NULL),
		    SUCCESS);
	for (unsigned i = 50; i < 53; i++)
		word[i] = 0xdeadbeef;
	settle();
	assert_cuda(CU(cuMemsetD2D32_v2)(p + 1024, 256, 77, 5, 4), SUCCESS);
	assert_cuda(CU(cuMemsetD2D8Async)(p + 2048, 100, 1, 3, 4, NULL),
		    SUCCESS);
	assert_cuda(CU(cuMemsetD2D16Async)(p + 3000, 10, 2, 5, 4, NULL),
		    SUCCESS);
	for (unsigned y = 0; y < 4; y++) {
		for (unsigned x = 0; x < 5; x++)
			word[(1024 + y * 256) / 4 + x] = 77;
		memset(model + 2048 + y * 100, 1, 3);
		for (unsigned x = 0; x < 5; x++)
			half[(3000 + y * 10) / 2 + x] = 2;
	}
	device_holds(p, model, sizeof(model));
	device_free(p);
}

static void wrong_sets_are_told(void **state)
{
	CUdeviceptr p = device_alloc(4096);
	unsigned char own[64];

	(void)state;
	assert_cuda(CU(cuMemsetD8_v2)(p, 1, 4097), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemsetD32_v2)(p, 1, SIZE_MAX / 2),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemsetD16_v2)(p + 1, 1, 1), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemsetD32_v2)(p + 2, 1, 1), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemsetD8_v2)((uintptr_t)own, 1, 1),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemsetD8_v2)(0, 1, 1), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemsetD2D32_v2)(p, 16, 1, 5, 2), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemsetD2D32_v2)(p, 18, 1, 4, 2), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemsetD2D8_v2)(p, 1ULL << 31, 1, 1, 2),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemsetD2D8_v2)(p, 512, 1, 512, 9),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemsetD8_v2)(p, 1, 0), SUCCESS);
	assert_cuda(CU(cuMemsetD2D8_v2)(p, 512, 1, 512, 8), SUCCESS);
	settle();
	device_free(p);
	assert_cuda(CU(cuMemsetD8_v2)(p, 1, 1), ERROR_INVALID_VALUE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sets_fill_exactly_what_they_say),
	    cmocka_unit_test(wrong_sets_are_told),
	};

	return cmocka_run_group_tests(tests, memory_setup, memory_teardown);
}
