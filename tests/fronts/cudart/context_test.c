/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context_test.c - checks which context a call works on, devices, last errors.
 */
#include "fronts/common/export_table.h"
#include "fronts/cudart/cudart_test.h"

#include <pthread.h>

/* The device on which this thread allocates, from the address. */
static int device_of_allocation(void)
{
	void *p = NULL;

	CHECK_CUDA(cudaMalloc(&p, 16), Success);
	return (int)((uintptr_t)p / 0x1000000);
}

static void *another_thread(void *unused)
{
	int device = -1;

	(void)unused;
	CHECK_CUDA(cudaGetDevice(&device), Success);
	CHECK(device == 0);
	CHECK(device_of_allocation() == 0);
	CHECK_CUDA(cudaSetDevice(2), Success);
	CHECK(device_of_allocation() == 2);
	return NULL;
}

static void each_thread_has_its_device(void)
{
	pthread_t thread;
	int device = -1;

	CHECK_CUDA(cudaGetDevice(&device), Success);
	CHECK(device == 0);
	CHECK(scripted_calls("cuDevicePrimaryCtxRetain") == 0);
	CHECK_CUDA(cudaSetDevice(1), Success);
	CHECK(scripted_calls("cuDevicePrimaryCtxRetain") == 1);
	CHECK(device_of_allocation() == 1);
	CHECK(!pthread_create(&thread, NULL, another_thread, NULL));
	pthread_join(thread, NULL);
	CHECK(device_of_allocation() == 1);
	CHECK_CUDA(cudaGetDevice(&device), Success);
	CHECK(device == 1);
	CHECK(scripted_calls("cuDevicePrimaryCtxRetain") == 3);
	CHECK_CUDA(cudaSetDevice(SCRIPTED_DEVICES), ErrorInvalidDevice);
	CHECK_CUDA(cudaSetDevice(-1), ErrorInvalidDevice);
	CHECK(device_of_allocation() == 1);
}

/* Contexts that a program made by the driver's functions are used. */
static void the_driver_may_choose(void)
{
	CUcontext made, primary;
	int device;

	CHECK(!cuCtxCreate_v2(&made, 0, 2));
	CHECK_CUDA(cudaGetDevice(&device), Success);
	CHECK(device == 2);
	CHECK(device_of_allocation() == 2);
	CHECK(scripted_calls("cuDevicePrimaryCtxRetain") == 0);
	/* The runtime may not reset it. */
	CHECK_CUDA(cudaDeviceReset(), Success);
	CHECK(scripted_calls("cuDevicePrimaryCtxReset_v2") == 0);
	CHECK(!cuCtxSetCurrent(NULL));
	CHECK(device_of_allocation() == 0);
	CHECK(!cuDevicePrimaryCtxRetain(&primary, 1));
	CHECK(!cuCtxSetCurrent(primary));
	CHECK(device_of_allocation() == 1);
	/* It may reset a primary one, whoever holds it. */
	CHECK_CUDA(cudaDeviceReset(), Success);
	CHECK(scripted_calls("cuDevicePrimaryCtxReset_v2") == 1);
	CHECK_CUDA(cudaSetDevice(0), Success);
	CHECK(device_of_allocation() == 0);
}

static pthread_barrier_t both;

static void *bystander(void *unused)
{
	(void)unused;
	CHECK_CUDA(cudaSetDevice(1), Success);
	CHECK(device_of_allocation() == 1);
	pthread_barrier_wait(&both);
	pthread_barrier_wait(&both); /* reset in between */
	CHECK(device_of_allocation() == 1);
	return NULL;
}

static void after_a_reset_all_begins_anew(void)
{
	pthread_t thread;

	pthread_barrier_init(&both, NULL, 2);
	CHECK(!pthread_create(&thread, NULL, bystander, NULL));
	pthread_barrier_wait(&both);
	CHECK_CUDA(cudaSetDevice(1), Success);
	CHECK(device_of_allocation() == 1);
	CHECK_CUDA(cudaDeviceReset(), Success);
	CHECK(scripted_calls("cuDevicePrimaryCtxReset_v2") == 1);
	pthread_barrier_wait(&both);
	pthread_join(thread, NULL);
	CHECK(device_of_allocation() == 1);
	CHECK(scripted_calls("cuDevicePrimaryCtxRetain") == 2);
}

/* A plugin with its own runtime, or the program itself. */
static void somebody_else_resets(void)
{
	CHECK(device_of_allocation() == 0);
	CHECK(!cuDevicePrimaryCtxReset_v2(0));
	CHECK(device_of_allocation() == 0);
	CHECK(scripted_calls("cuDevicePrimaryCtxRetain") == 2);
	CHECK(!cuDevicePrimaryCtxReset_v2(0));
	CHECK_CUDA(cudaDeviceReset(), Success);
	CHECK(device_of_allocation() == 0);
	CHECK(scripted_calls("cuDevicePrimaryCtxRetain") == 3);
}

/* The driver may give a reset context's handle to another. */
static void a_handle_is_used_again(void)
{
	CUcontext made;
	int device;

	CHECK(device_of_allocation() == 0);
	CHECK_CUDA(cudaDeviceReset(), Success);
	CHECK(!cuCtxCreate_v2(&made, SCRIPTED_SAME_HANDLE, 2));
	CHECK_CUDA(cudaGetDevice(&device), Success);
	CHECK(device == 2);
	CHECK(device_of_allocation() == 2);
	CHECK(scripted_calls("cuDevicePrimaryCtxRetain") == 1);
}

static void devices_in_order_of_choice(void)
{
	int order[] = {2, 1}, wrong[] = {0, SCRIPTED_DEVICES}, device;

	CHECK_CUDA(cudaSetValidDevices(wrong, 2), ErrorInvalidDevice);
	CHECK_CUDA(cudaSetValidDevices(NULL, 1), ErrorInvalidValue);
	CHECK_CUDA(cudaSetValidDevices(order, SCRIPTED_DEVICES + 1),
		   ErrorInvalidValue);
	CHECK_CUDA(cudaSetValidDevices(order, 2), Success);
	CHECK_CUDA(cudaGetDevice(&device), Success);
	CHECK(device == 2);
	CHECK(device_of_allocation() == 2);
}

static void what_binds_fails(void)
{
	void *p = NULL;

	scripted_answer("cuDevicePrimaryCtxRetain",
			CUDA_ERROR_DEVICE_UNAVAILABLE);
	CHECK_CUDA(cudaMalloc(&p, 1), ErrorDevicesUnavailable);
	/* All were tried. */
	CHECK(scripted_calls("cuDevicePrimaryCtxRetain") == SCRIPTED_DEVICES);
	CHECK_CUDA(cudaSetDevice(1), ErrorDevicesUnavailable);
	scripted_answer("cuDevicePrimaryCtxRetain", CUDA_SUCCESS);
	CHECK_CUDA(cudaMalloc(&p, 1), Success);
}

static void *fresh_thread(void *unused)
{
	(void)unused;
	CHECK_CUDA(cudaGetLastError(), Success);
	return NULL;
}

static void the_last_error(void)
{
	pthread_t thread;
	int device;
	void *p;

	scripted_answer("cuMemAlloc_v2", CUDA_ERROR_OUT_OF_MEMORY);
	CHECK_CUDA(cudaMalloc(&p, 1), ErrorMemoryAllocation);
	CHECK_CUDA(cudaFree(NULL), Success);
	CHECK_CUDA(cudaPeekAtLastError(), ErrorMemoryAllocation);
	CHECK(!pthread_create(&thread, NULL, fresh_thread, NULL));
	pthread_join(thread, NULL);
	CHECK_CUDA(cudaGetLastError(), ErrorMemoryAllocation);
	CHECK_CUDA(cudaGetLastError(), Success);
	CHECK_CUDA(cudaPeekAtLastError(), Success);
	scripted_answer("cuEventQuery", CUDA_ERROR_NOT_READY);
	CHECK_CUDA(cudaEventQuery(NULL), ErrorNotReady);
	CHECK_CUDA(cudaGetLastError(), ErrorNotReady);
	/* An error of the context stays until the device is reset. */
	scripted_answer("cuCtxSynchronize", CUDA_ERROR_ILLEGAL_ADDRESS);
	CHECK_CUDA(cudaDeviceSynchronize(), ErrorIllegalAddress);
	CHECK_CUDA(cudaGetLastError(), ErrorIllegalAddress);
	CHECK_CUDA(cudaGetLastError(), ErrorIllegalAddress);
	scripted_answer("cuCtxGetDevice", CUDA_ERROR_ILLEGAL_ADDRESS);
	CHECK_CUDA(cudaFree(NULL), ErrorIllegalAddress);
	CHECK_CUDA(cudaGetDevice(&device), Success);
	CHECK_CUDA(cudaDeviceReset(), Success);
	scripted_answer("cuCtxGetDevice", CUDA_SUCCESS);
	CHECK_CUDA(cudaGetLastError(), Success);
}

static void results_have_the_drivers_numbers(void)
{
	for (int i = 1; i < 1000; i++) {
		const char *name = cudaGetErrorName((cudaError_t)i);
		bool known = strcmp(name, "unrecognized error code") != 0;

		scripted_answer("cuCtxSynchronize", (CUresult)i);
		CHECK((int)cudaDeviceSynchronize() ==
		      (known ? i : (int)cudaErrorUnknown));
	}
}

static void flags_of_a_device(void)
{
	unsigned flags = 0;

	CHECK_CUDA(cudaSetDeviceFlags(3), ErrorInvalidValue);
	CHECK_CUDA(cudaSetDeviceFlags(1 << 20), ErrorInvalidValue);
	CHECK_CUDA(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync |
				      cudaDeviceMapHost),
		   Success);
	CHECK(scripted_calls("cuDevicePrimaryCtxSetFlags_v2") == 1);
	CHECK(scripted_calls("cuDevicePrimaryCtxRetain") == 1);
	CHECK_CUDA(cudaGetDeviceFlags(&flags), Success);
	CHECK(flags & cudaDeviceMapHost);
	CHECK_CUDA(cudaInitDevice(2, cudaDeviceScheduleYield,
				  cudaInitDeviceFlagsAreValid),
		   Success);
	CHECK(scripted_calls("cuDevicePrimaryCtxRetain") == 2);
	CHECK(device_of_allocation() == 0);
	CHECK_CUDA(cudaInitDevice(3, 0, 0), ErrorInvalidDevice);
	CHECK_CUDA(cudaInitDevice(0, 0, 2), ErrorInvalidValue);
}

static void properties_are_attributes(void)
{
	struct cudaDeviceProp p, want = {.totalGlobalMem = (size_t)5 << 29};
	int device, value;

#if CUDART_MAJOR == 12
	char old[sizeof p];

	memset(old, 0x55, sizeof old);
	CHECK_CUDA(cudaGetDeviceProperties((struct cudaDeviceProp *)old, 1),
		   Success);
	CHECK(!strcmp(old, "scripted1"));
	CHECK(old[727] != 0x55 && old[728] == 0x55);
	CHECK_CUDA(cudaGetDeviceProperties_v2(&p, 1), Success);
	CHECK(!memcmp(old, &p, 728));
	CHECK(p.clockRate == 1000 + CU_DEVICE_ATTRIBUTE_CLOCK_RATE + 1);
#else
	CHECK_CUDA(cudaGetDeviceProperties(&p, 1), Success);
	CHECK(p.hostNumaId == 1000 + CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID + 1);
#endif
	CHECK(!strcmp(p.name, "scripted1"));
	CHECK(p.totalGlobalMem == (size_t)2 << 30);
	CHECK(p.major == 1000 + 75 + 1 && p.minor == 1000 + 76 + 1);
	CHECK(p.maxGridSize[2] == 1000 + 7 + 1);
	CHECK(p.sharedMemPerBlockOptin == 1000 + 97 + 1);
	CHECK_CUDA(cudaGetDeviceProperties(&p, SCRIPTED_DEVICES),
		   ErrorInvalidDevice);
	CHECK_CUDA(cudaGetDeviceProperties(NULL, 0), ErrorInvalidValue);
	CHECK_CUDA(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 2),
		   Success);
	CHECK(value == 1000 + 10 + 2);
	CHECK_CUDA(cudaChooseDevice(&device, &want), Success);
	CHECK(device == 2);
	CHECK(scripted_calls("cuDevicePrimaryCtxRetain") == 0);
}

static void driver_entry_points(void)
{
	enum cudaDriverEntryPointQueryResult status;
	void *at = NULL, *other = NULL;

	CHECK_CUDA(cudaGetDriverEntryPoint("cuMemcpy", &at, cudaEnableDefault,
					   &status),
		   Success);
	CHECK(status == cudaDriverEntryPointSuccess);
	CHECK(at == (void *)cuMemcpy);
	CHECK_CUDA(cudaGetDriverEntryPoint_ptsz("cuMemcpy", &other,
						cudaEnableDefault, NULL),
		   Success);
	CHECK(other == (void *)cuMemcpy_ptds);
	CHECK_CUDA(cudaGetDriverEntryPointByVersion("cuMemAlloc", &at, 3000,
						    cudaEnableDefault, &status),
		   Success);
	CHECK(at == (void *)cuMemAlloc);
	CHECK_CUDA(cudaGetDriverEntryPoint("cuNoSuch", &at, cudaEnableDefault,
					   &status),
		   Success);
	CHECK(!at && status == cudaDriverEntryPointSymbolNotFound);
	CHECK_CUDA(cudaGetDriverEntryPointByVersion("cuLibraryLoadData", &at,
						    11080, cudaEnableDefault,
						    &status),
		   Success);
	CHECK(!at && status == cudaDriverEntryPointVersionNotSufficent);
	CHECK_CUDA(cudaGetDriverEntryPointByVersion("cuMemAlloc", &at, 14000,
						    cudaEnableDefault, &status),
		   ErrorInvalidValue);
	CHECK_CUDA(cudaGetDriverEntryPoint("cuMemcpy", &at, 7, &status),
		   ErrorInvalidValue);
}

static void refusals_are_counted_by_name(void)
{
	struct cudaExternalMemoryHandleDesc desc = {0};
	cudaExternalMemory_t memory = NULL;
	const void *table = NULL;

	CHECK_CUDA(cudaImportExternalMemory(&memory, &desc), ErrorNotSupported);
	CHECK(!strcmp(scripted_refused(), "cudaImportExternalMemory"));
	CHECK(scripted_reason() && strstr(scripted_reason(), "other APIs"));
	CHECK_CUDA(cudaGetLastError(), ErrorNotSupported);
	/* An older driver does not ask for reasons. */
	scripted_table_size = offsetof(struct gpukit_table, refused_for);
	CHECK_CUDA(cudaDestroyExternalMemory(NULL), ErrorNotSupported);
	CHECK(!strcmp(scripted_refused(), "cudaDestroyExternalMemory"));
	CHECK(!scripted_reason());
	scripted_table_size = 0;
	CHECK_CUDA(cudaDestroyExternalSemaphore(NULL), ErrorNotSupported);
	CHECK(!strcmp(scripted_refused(), "cudaDestroyExternalMemory"));
	CHECK_CUDA(cudaGetExportTable(&table, &(cudaUUID_t){{0}}),
		   ErrorInvalidValue);
}

#define IN_CHILD(work)                                                         \
	static void work##_there(void **state)                                 \
	{                                                                      \
		(void)state;                                                   \
		in_child(work);                                                \
	}
IN_CHILD(each_thread_has_its_device)
IN_CHILD(the_driver_may_choose)
IN_CHILD(after_a_reset_all_begins_anew)
IN_CHILD(somebody_else_resets)
IN_CHILD(a_handle_is_used_again)
IN_CHILD(devices_in_order_of_choice)
IN_CHILD(what_binds_fails)
IN_CHILD(the_last_error)
IN_CHILD(results_have_the_drivers_numbers)
IN_CHILD(flags_of_a_device)
IN_CHILD(properties_are_attributes)
IN_CHILD(driver_entry_points)
IN_CHILD(refusals_are_counted_by_name)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_thread_has_its_device_there),
	    cmocka_unit_test(the_driver_may_choose_there),
	    cmocka_unit_test(after_a_reset_all_begins_anew_there),
	    cmocka_unit_test(somebody_else_resets_there),
	    cmocka_unit_test(a_handle_is_used_again_there),
	    cmocka_unit_test(devices_in_order_of_choice_there),
	    cmocka_unit_test(what_binds_fails_there),
	    cmocka_unit_test(the_last_error_there),
	    cmocka_unit_test(results_have_the_drivers_numbers_there),
	    cmocka_unit_test(flags_of_a_device_there),
	    cmocka_unit_test(properties_are_attributes_there),
	    cmocka_unit_test(driver_entry_points_there),
	    cmocka_unit_test(refusals_are_counted_by_name_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
