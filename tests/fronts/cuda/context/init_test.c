/* SPDX-License-Identifier: Apache-2.0 */
/* init_test.c - checks cuInit: on which machines, by many threads, how fast. */
#include "base/clock.h"
#include "fronts/cuda/alone.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/file.h"
#include "machine/trouble/fault.h"

#include <pthread.h>

static void flags_must_be_none(struct fixture *fx)
{
	(void)fx;
	assert_cuda(CU(cuInit)(1), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuInit)(0), SUCCESS);
	assert_cuda(CU(cuInit)(0), SUCCESS);
	assert_cuda(CU(cuInit)(1), ERROR_INVALID_VALUE);
}

static void without_a_machine_there_is_no_device(struct fixture *fx)
{
	int version = 0;

	setenv("GPUKIT_MACHINE", "/nowhere/at/all", 1);
	assert_cuda(CU(cuInit)(0), ERROR_NO_DEVICE);
	assert_cuda(CU(cuDriverGetVersion)(&version), SUCCESS);
	assert_int_equal(version, 13000);
	setenv("GPUKIT_MACHINE", fx->path, 1);
	assert_cuda(CU(cuInit)(0), SUCCESS);
}

static void the_machine_has_another_driver(struct fixture *fx)
{
	strcpy(fx->file->driver_version, "535.261.03");
	assert_cuda(CU(cuInit)(0), ERROR_SYSTEM_DRIVER_MISMATCH);
	strcpy(fx->file->driver_version, "580.95.05");
	fx->file->version++;
	assert_cuda(CU(cuInit)(0), ERROR_SYSTEM_DRIVER_MISMATCH);
	fx->file->version--;
	assert_cuda(CU(cuInit)(0), SUCCESS);
}

/* The library of another driver needs a machine of that driver. */
static void a_library_of_another_generation(struct fixture *fx)
{
	int version = 0;

	cuda_load(FAKE_DIR "/535/libcuda.so.1");
	assert_cuda(CU(cuInit)(0), ERROR_SYSTEM_DRIVER_MISMATCH);
	strcpy(fx->file->driver_version, "535.261.03");
	fx->file->cuda_version = 12020;
	assert_cuda(CU(cuInit)(0), SUCCESS);
	assert_cuda(CU(cuDriverGetVersion)(&version), SUCCESS);
	assert_int_equal(version, 12020);
	assert_null(dlsym(cuda_library, "cuCtxCreate_v4"));
}

static void a_broken_machine_says_how(struct fixture *fx)
{
	static const struct {
		enum gkf_machine_fault fault;
		CUresult says;
	} rows[] = {
	    {GKF_MACHINE_FAULT_DRIVER_MISMATCH,
	     CUDA_ERROR_SYSTEM_DRIVER_MISMATCH},
	    {GKF_MACHINE_FAULT_DRIVER_NOT_LOADED, CUDA_ERROR_NO_DEVICE},
	    {GKF_MACHINE_FAULT_INIT_NO_PERMISSION, CUDA_ERROR_NO_DEVICE},
	    {GKF_MACHINE_FAULT_INIT_UNKNOWN, CUDA_ERROR_UNKNOWN},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		gkf_machine_fault_set(fx->m, rows[i].fault, true);
		assert_int_equal(CU(cuInit)(0), rows[i].says);
		gkf_machine_fault_set(fx->m, rows[i].fault, false);
	}
	assert_cuda(CU(cuInit)(0), SUCCESS);
}

static void *init_and_count(void *result)
{
	int count = 0;
	CUresult r = CU(cuInit)(0);

	if (!r)
		r = CU(cuDeviceGetCount)(&count);
	*(CUresult *)result = r || count == 2 ? r : CUDA_ERROR_UNKNOWN;
	return NULL;
}

static void all_threads_may_begin(struct fixture *fx)
{
	pthread_t thread[16];
	CUresult result[16];

	(void)fx;
	for (int i = 0; i < 16; i++)
		pthread_create(&thread[i], NULL, init_and_count, &result[i]);
	for (int i = 0; i < 16; i++) {
		pthread_join(thread[i], NULL);
		assert_int_equal(result[i], CUDA_SUCCESS);
	}
}

static void calls_are_counted(struct fixture *fx)
{
	static const char *const names[] = {
#define CUDA_SYMBOL(symbol, ...) #symbol,
#include "abi/cuda/cuda_symbols.def"
	};
	uint64_t calls = 0, others = 0;
	int count;

	assert_cuda(CU(cuInit)(0), SUCCESS);
	for (int i = 0; i < 5; i++)
		CU(cuDeviceGetCount)(&count);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!strcmp(names[i], "cuDeviceGetCount"))
			calls = fx->file->cuda_calls[i];
		else if (strcmp(names[i], "cuInit") != 0)
			others += fx->file->cuda_calls[i];
	}
	assert_int_equal(calls, 5);
	assert_int_equal(others, 0);
}

/* Far above the target of 5 ms; bench/ measures it. */
static void it_is_quick(struct fixture *fx)
{
	uint64_t began = gk_mono_ns(), took;

	(void)fx;
	assert_cuda(CU(cuInit)(0), SUCCESS);
	took = gk_mono_ns() - began;
	print_message("cuInit: %.3f ms\n", (double)took / 1e6);
	assert_true(took < 2 * GK_NS_PER_S);
}

static const struct alone tests[] = {
    ALONE(flags_must_be_none),
    ALONE(without_a_machine_there_is_no_device),
    ALONE(the_machine_has_another_driver),
    ALONE(a_library_of_another_generation),
    ALONE(a_broken_machine_says_how),
    ALONE(all_threads_may_begin),
    ALONE(calls_are_counted),
    ALONE(it_is_quick),
};

ALONE_MAIN(tests)
