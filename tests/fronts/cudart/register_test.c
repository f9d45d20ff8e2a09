/* SPDX-License-Identifier: Apache-2.0 */
/*
 * register_test.c - checks programs as nvcc 12 and 13 emit them, written by
 * hand: images of code and their contents, stubs that launch, managed
 * variables.
 */
#include "fronts/cudart/cudart_test.h"

#include <pthread.h>

/* The type of __fatDeviceText; the driver gets its address. */
struct wrapper {
	int magic, version;
	const void *data;
	void *prelinked;
};

static const struct wrapper good = {0x466243b1, 1, "image", NULL};
static const struct wrapper bad = {0x466243b1, 1, "machine code only", NULL};
static const struct wrapper unknown = {0x466243b1, 1, "nonsense", NULL};

static const char *const good_names[] = {"_Z3addPfi", "_Z4scalPf", "table",
					 "counter", NULL};
static const char *const bad_names[] = {NULL};

/* The variables' shadows, and the pointer of a managed one. */
static float table[16];
static int *counter;
static char lost;

static void **handle, **bad_handle, **unknown_handle;

/* A stub is a function of which only the address matters. */
static void add(void)
{
}

static void scale(void)
{
}

static void not_there(void)
{
}

static void unsuited(void)
{
}

static void strange(void)
{
}

static void entry(void **of, void (*stub)(void), const char *name)
{
	__cudaRegisterFunction(of, (const char *)stub, (char *)(uintptr_t)name,
			       name, -1, NULL, NULL, NULL, NULL, NULL);
}

/* As the constructors of three source files do. */
static int load(void **state)
{
	(void)state;
	scripted_images[0] =
	    (struct scripted_image){.code = &good, .names = good_names};
	scripted_images[1] =
	    (struct scripted_image){.code = &bad,
				    .names = bad_names,
				    .result = CUDA_ERROR_NO_BINARY_FOR_GPU};
	handle = __cudaRegisterFatBinary((void *)(uintptr_t)&good);
	entry(handle, add, "_Z3addPfi");
	entry(handle, scale, "_Z4scalPf");
	entry(handle, not_there, "_Z4gonev");
	__cudaRegisterVar(handle, (char *)table, NULL, "table", 0, sizeof table,
			  1, 0);
	__cudaRegisterVar(handle, &lost, NULL, "lost", 0, 1, 0, 0);
	__cudaRegisterManagedVar(handle, (void **)&counter, NULL, "counter", 0,
				 sizeof *counter, 0, 0);
	__cudaRegisterFatBinaryEnd(handle);
	bad_handle = __cudaRegisterFatBinary((void *)(uintptr_t)&bad);
	entry(bad_handle, unsuited, "_Z8unsuitedv");
	__cudaRegisterFatBinaryEnd(bad_handle);
	unknown_handle = __cudaRegisterFatBinary((void *)(uintptr_t)&unknown);
	entry(unknown_handle, strange, "_Z7strangev");
	__cudaRegisterFatBinaryEnd(unknown_handle);
	return 0;
}

static void registering_touches_no_driver(void **state)
{
	(void)state;
	assert_non_null(handle);
	assert_int_equal(scripted_calls(NULL), 0);
	assert_null(counter);
}

/* add<<<grid, block, shared, stream>>>(args) by the code of nvcc 12. */
static cudaError_t launch_12(void (*stub)(void), dim3 grid, dim3 block,
			     size_t shared, cudaStream_t stream, void **args)
{
	cudaStream_t popped;

	if (__cudaPushCallConfiguration(grid, block, shared, stream))
		return cudaErrorUnknown;
	if (__cudaPopCallConfiguration(&grid, &block, &shared, &popped))
		return cudaErrorMissingConfiguration;
	return cudaLaunchKernel((const void *)stub, grid, block, args, shared,
				popped);
}

/* And by that of nvcc 13, which keeps the handle, whatever it is. */
static cudaError_t launch_13(void (*stub)(void), dim3 grid, dim3 block,
			     size_t shared, cudaStream_t stream, void **args)
{
	cudaKernel_t kernel = NULL;
	cudaStream_t popped;

	__cudaGetKernel(&kernel, (const void *)stub);
	if (__cudaPushCallConfiguration(grid, block, shared, stream))
		return cudaErrorUnknown;
	if (__cudaPopCallConfiguration(&grid, &block, &shared, &popped))
		return cudaErrorMissingConfiguration;
	return __cudaLaunchKernel(kernel, grid, block, args, shared, popped);
}

static void launches(cudaError_t (*launch)(void (*stub)(void), dim3 grid,
					   dim3 block, size_t shared,
					   cudaStream_t stream, void **args))
{
	cudaStream_t stream = (cudaStream_t)(uintptr_t)0x5000;
	dim3 grid = {3, 2, 1}, block = {64, 4, 1}, none = {0, 1, 1};
	void *args[2] = {NULL, NULL};

	cudaGetLastError(); /* of an earlier test */
	assert_cuda(launch(add, grid, block, 96, stream, args), Success);
	assert_string_equal(scripted_launch.kernel, "_Z3addPfi");
	assert_int_equal(scripted_launch.grid[0], 3);
	assert_int_equal(scripted_launch.grid[1], 2);
	assert_int_equal(scripted_launch.block[0], 64);
	assert_int_equal(scripted_launch.block[1], 4);
	assert_int_equal(scripted_launch.shared, 96);
	assert_ptr_equal(scripted_launch.stream, stream);
	assert_ptr_equal(scripted_launch.args, args);
	assert_false(scripted_launch.per_thread);
	assert_cuda(launch(scale, grid, block, 0, NULL, args), Success);
	assert_string_equal(scripted_launch.kernel, "_Z4scalPf");
	assert_cuda(cudaGetLastError(), Success);

	/* The error is returned at each launch. */
	for (int i = 0; i < 2; i++) {
		assert_cuda(launch(unsuited, grid, block, 0, NULL, args),
			    ErrorNoKernelImageForDevice);
		assert_cuda(cudaGetLastError(), ErrorNoKernelImageForDevice);
		assert_cuda(launch(not_there, grid, block, 0, NULL, args),
			    ErrorInvalidDeviceFunction);
		assert_cuda(launch(strange, grid, block, 0, NULL, args),
			    ErrorInvalidKernelImage);
		assert_cuda(launch((void (*)(void))launches, grid, block, 0,
				   NULL, args),
			    ErrorInvalidDeviceFunction);
		assert_cuda(launch(add, none, block, 0, NULL, args),
			    ErrorInvalidConfiguration);
		assert_cuda(launch(add, grid, none, 0, NULL, args),
			    ErrorInvalidConfiguration);
		assert_cuda(
		    launch(add, grid, block, (size_t)1 << 32, NULL, args),
		    ErrorInvalidValue);
	}
}

static void as_nvcc_12_emits_it(void **state)
{
	(void)state;
	launches(launch_12);
	assert_int_equal(scripted_images[0].loads, 1);
}

static void as_nvcc_13_emits_it(void **state)
{
	(void)state;
	launches(launch_13);
	assert_int_equal(scripted_images[0].loads, 1);
}

static void per_thread_stubs_have_their_own_stream(void **state)
{
	dim3 one = {1, 1, 1};
	cudaKernel_t kernel;

	(void)state;
	assert_cuda(
	    cudaLaunchKernel_ptsz((const void *)add, one, one, NULL, 0, NULL),
	    Success);
	assert_true(scripted_launch.per_thread);
	assert_cuda(__cudaGetKernel(&kernel, (const void *)scale), Success);
	assert_cuda(__cudaLaunchKernel_ptsz(kernel, one, one, NULL, 0, NULL),
		    Success);
	assert_true(scripted_launch.per_thread);
	assert_string_equal(scripted_launch.kernel, "_Z4scalPf");
}

/* f<<<...>>>(g(h<<<...>>>...)): the arguments launch in between. */
static void configurations_nest(void **state)
{
	dim3 outer = {7, 1, 1}, inner = {9, 1, 1}, one = {1, 1, 1}, grid, block;
	cudaStream_t stream;
	size_t shared;

	(void)state;
	assert_int_equal(__cudaPushCallConfiguration(outer, one, 1, NULL), 0);
	assert_int_equal(__cudaPushCallConfiguration(inner, one, 2, NULL), 0);
	assert_cuda(__cudaPopCallConfiguration(&grid, &block, &shared, &stream),
		    Success);
	assert_int_equal(grid.x, 9);
	assert_int_equal(shared, 2);
	assert_cuda(__cudaPopCallConfiguration(&grid, &block, &shared, &stream),
		    Success);
	assert_int_equal(grid.x, 7);
	assert_cuda(__cudaPopCallConfiguration(&grid, &block, &shared, &stream),
		    ErrorMissingConfiguration);
}

/* f<<<...>>>(throws()), repeatedly: its configuration stays behind. */
static void configurations_may_be_left_behind(void **state)
{
	dim3 one = {1, 1, 1}, last = {5, 1, 1}, grid, block;
	cudaStream_t stream;
	size_t shared;

	(void)state;
	for (int i = 0; i < 100; i++)
		assert_int_equal(__cudaPushCallConfiguration(one, one, 0, NULL),
				 0);
	assert_int_equal(__cudaPushCallConfiguration(last, one, 3, NULL), 0);
	assert_cuda(__cudaPopCallConfiguration(&grid, &block, &shared, &stream),
		    Success);
	assert_int_equal(grid.x, 5);
	assert_int_equal(shared, 3);
	while (!__cudaPopCallConfiguration(&grid, &block, &shared, &stream))
		assert_int_equal(grid.x, 1);
	cudaGetLastError();
}

static void kernels_by_handle(void **state)
{
	dim3 one = {1, 1, 1};
	cudaFunction_t function;
	cudaKernel_t kernel;

	(void)state;
	assert_cuda(cudaGetKernel(&kernel, (const void *)add), Success);
	assert_ptr_equal(kernel, &good_names[0]);
	assert_cuda(cudaGetFuncBySymbol(&function, (const void *)add), Success);
	assert_cuda(cudaLaunchKernel(kernel, one, one, NULL, 0, NULL), Success);
	assert_string_equal(scripted_launch.kernel, "_Z3addPfi");
	assert_cuda(cudaGetKernel(&kernel, &lost), ErrorInvalidDeviceFunction);
	assert_cuda(cudaLaunchKernel(NULL, one, one, NULL, 0, NULL),
		    ErrorInvalidDeviceFunction);
}

static void launches_with_attributes(void **state)
{
	cudaLaunchAttribute attribute = {
	    .id = cudaLaunchAttributePriority,
	    .val.priority = -3,
	};
	cudaLaunchConfig_t config = {
	    .gridDim = {4, 1, 1},
	    .blockDim = {32, 2, 1},
	    .dynamicSmemBytes = 128,
	    .stream = (cudaStream_t)(uintptr_t)0x5000,
	    .attrs = &attribute,
	    .numAttrs = 1,
	};

	(void)state;
	assert_cuda(cudaLaunchKernelExC(&config, (const void *)scale, NULL),
		    Success);
	assert_string_equal(scripted_launch.kernel, "_Z4scalPf");
	assert_int_equal(scripted_launch.grid[0], 4);
	assert_int_equal(scripted_launch.block[1], 2);
	assert_int_equal(scripted_launch.shared, 128);
	assert_ptr_equal(scripted_launch.stream, config.stream);
	assert_int_equal(scripted_launch.attributes, 1);
	assert_int_equal(scripted_launch.first.id,
			 CU_LAUNCH_ATTRIBUTE_PRIORITY);
	assert_int_equal(scripted_launch.first.value.priority, -3);
	assert_cuda(
	    cudaLaunchKernelExC_ptsz(&config, (const void *)scale, NULL),
	    Success);
	assert_true(scripted_launch.per_thread);
	config.gridDim.y = 0;
	assert_cuda(cudaLaunchKernelExC(&config, (const void *)scale, NULL),
		    ErrorInvalidConfiguration);
	assert_cuda(cudaLaunchKernelExC(NULL, (const void *)scale, NULL),
		    ErrorInvalidValue);
	assert_cuda(cudaLaunchCooperativeKernel((const void *)add,
						(dim3){2, 1, 1},
						(dim3){8, 1, 1}, NULL, 0, NULL),
		    Success);
	assert_true(scripted_launch.cooperative);
	assert_int_equal(scripted_launch.grid[0], 2);
}

static void attributes_of_kernels(void **state)
{
	struct cudaFuncAttributes a;
	int blocks;

	(void)state;
	assert_cuda(cudaFuncGetAttributes(&a, (const void *)add), Success);
	assert_int_equal(a.maxThreadsPerBlock, 0);
	assert_int_equal(a.sharedSizeBytes,
			 100 * CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
	assert_int_equal(a.numRegs, 100 * CU_FUNC_ATTRIBUTE_NUM_REGS);
	assert_int_equal(a.maxDynamicSharedSizeBytes,
			 100 * CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
	assert_cuda(cudaFuncGetAttributes(&a, &lost),
		    ErrorInvalidDeviceFunction);
	assert_cuda(cudaFuncSetAttribute(
			(const void *)add,
			cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 16),
		    Success);
	assert_string_equal(scripted_last(), "cuFuncSetAttribute");
	assert_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
			&blocks, (const void *)add, 128, 0),
		    Success);
	assert_string_equal(scripted_last(),
			    "cuOccupancyMaxActiveBlocksPerMultiprocessor");
	assert_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
			&blocks, &lost, 128, 0, 0),
		    ErrorInvalidDeviceFunction);
}

static void symbols(void **state)
{
	char *memory = scripted_images[0].memory;
	void *at = NULL;
	size_t size = 0;

	(void)state;
	assert_cuda(cudaGetSymbolAddress(&at, table), Success);
	assert_ptr_equal(at, memory);
	assert_cuda(cudaGetSymbolSize(&size, table), Success);
	assert_int_equal(size, 64);
	assert_cuda(cudaGetSymbolAddress(&at, &lost), ErrorInvalidSymbol);
	assert_cuda(cudaGetSymbolAddress(&at, "elsewhere"), ErrorInvalidSymbol);
	assert_cuda(cudaGetSymbolAddress(&at, (const void *)add),
		    ErrorInvalidSymbol);
	assert_cuda(
	    cudaMemcpyToSymbol(table, &size, 8, 56, cudaMemcpyHostToDevice),
	    Success);
	assert_string_equal(scripted_last(), "cuMemcpyHtoD_v2");
	assert_cuda(
	    cudaMemcpyToSymbol(table, &size, 8, 57, cudaMemcpyHostToDevice),
	    ErrorInvalidValue);
	assert_cuda(cudaMemcpyToSymbol(table, &size, 1, SIZE_MAX,
				       cudaMemcpyHostToDevice),
		    ErrorInvalidValue);
	assert_cuda(
	    cudaMemcpyToSymbol(table, &size, 8, 0, cudaMemcpyDeviceToHost),
	    ErrorInvalidMemcpyDirection);
	assert_cuda(
	    cudaMemcpyFromSymbol(&size, table, 8, 0, cudaMemcpyDeviceToHost),
	    Success);
	assert_string_equal(scripted_last(), "cuMemcpyDtoH_v2");
	assert_cuda(cudaMemcpyFromSymbolAsync(&size, table, 8, 0,
					      cudaMemcpyDefault, NULL),
		    Success);
	assert_string_equal(scripted_last(), "cuMemcpyAsync");
}

static void managed_variables_are_set_when_loaded(void)
{
	load(NULL);
	CHECK(!counter);
	CHECK(__cudaInitModule(handle) == 1);
	CHECK((void *)counter == scripted_images[0].memory);
	CHECK(scripted_images[0].loads == 1);
	CHECK(__cudaInitModule(bad_handle) == 0);
	CHECK_CUDA(cudaGetLastError(), ErrorNoKernelImageForDevice);
}

static void device_code_with_variables_of_the_host(void)
{
	dim3 one = {1, 1, 1};

	load(NULL);
	__cudaRegisterHostVar(handle, "host", &lost, 1);
	CHECK_CUDA(cudaLaunchKernel((const void *)add, one, one, NULL, 0, NULL),
		   ErrorNotSupported);
	CHECK(scripted_images[0].loads == 0);
}

static void unregistering_unloads(void)
{
	dim3 one = {1, 1, 1};

	load(NULL);
	CHECK_CUDA(cudaLaunchKernel((const void *)add, one, one, NULL, 0, NULL),
		   Success);
	CHECK(scripted_images[0].loaded);
	__cudaUnregisterFatBinary(handle);
	CHECK(!scripted_images[0].loaded);
	CHECK_CUDA(cudaLaunchKernel((const void *)add, one, one, NULL, 0, NULL),
		   ErrorInvalidDeviceFunction);
	__cudaUnregisterFatBinary(unknown_handle);
	CHECK(scripted_calls("cuLibraryUnload") == 1);
	/* And like a plugin that is loaded again. */
	load(NULL);
	CHECK_CUDA(cudaLaunchKernel((const void *)add, one, one, NULL, 0, NULL),
		   Success);
}

/* Templates: many programs have thousands of kernels, some twice. */
#define MANY 5000
static char many[MANY];

static void many_kernels(void)
{
	dim3 one = {1, 1, 1};
	void **second;

	load(NULL);
	for (int i = 0; i < MANY; i++)
		entry(handle, (void (*)(void))(uintptr_t)&many[i],
		      good_names[i % 2]);
	second = __cudaRegisterFatBinary((void *)(uintptr_t)&good);
	for (int i = 0; i < MANY; i += 7)
		entry(second, (void (*)(void))(uintptr_t)&many[i],
		      good_names[0]);
	for (int i = 0; i < MANY; i++) {
		CHECK_CUDA(cudaLaunchKernel(&many[i], one, one, NULL, 0, NULL),
			   Success);
		CHECK(!strcmp(scripted_launch.kernel,
			      good_names[i % 7 ? i % 2 : 0]));
	}
	__cudaUnregisterFatBinary(second);
	CHECK_CUDA(cudaLaunchKernel(&many[7], one, one, NULL, 0, NULL),
		   ErrorInvalidDeviceFunction);
	CHECK_CUDA(cudaLaunchKernel(&many[8], one, one, NULL, 0, NULL),
		   Success);
}

static void *plugin(void *barrier)
{
	dim3 one = {1, 1, 1};

	pthread_barrier_wait(barrier);
	for (int i = 0; i < 200; i++) {
		void **own = __cudaRegisterFatBinary((void *)(uintptr_t)&good);
		char stubs[8];

		for (size_t k = 0; k < sizeof stubs; k++)
			entry(own, (void (*)(void))(uintptr_t)&stubs[k],
			      good_names[0]);
		__cudaRegisterFatBinaryEnd(own);
		CHECK_CUDA(cudaLaunchKernel(&stubs[3], one, one, NULL, 0, NULL),
			   Success);
		CHECK_CUDA(cudaLaunchKernel((const void *)add, one, one, NULL,
					    0, NULL),
			   Success);
		__cudaUnregisterFatBinary(own);
	}
	return NULL;
}

static void plugins_come_and_go_in_threads(void)
{
	pthread_t threads[4];
	pthread_barrier_t barrier;

	load(NULL);
	pthread_barrier_init(&barrier, NULL, COUNT(threads));
	for (size_t i = 0; i < COUNT(threads); i++)
		CHECK(!pthread_create(&threads[i], NULL, plugin, &barrier));
	for (size_t i = 0; i < COUNT(threads); i++)
		pthread_join(threads[i], NULL);
}

#define IN_CHILD(work)                                                         \
	static void work##_there(void **state)                                 \
	{                                                                      \
		(void)state;                                                   \
		in_child(work);                                                \
	}
IN_CHILD(managed_variables_are_set_when_loaded)
IN_CHILD(device_code_with_variables_of_the_host)
IN_CHILD(unregistering_unloads)
IN_CHILD(many_kernels)
IN_CHILD(plugins_come_and_go_in_threads)

int main(void)
{
	/* Tests in children need a process in which it has not started. */
	const struct CMUnitTest before[] = {
	    cmocka_unit_test(managed_variables_are_set_when_loaded_there),
	    cmocka_unit_test(device_code_with_variables_of_the_host_there),
	    cmocka_unit_test(unregistering_unloads_there),
	    cmocka_unit_test(many_kernels_there),
	    cmocka_unit_test(plugins_come_and_go_in_threads_there),
	};
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(registering_touches_no_driver),
	    cmocka_unit_test(as_nvcc_12_emits_it),
	    cmocka_unit_test(as_nvcc_13_emits_it),
	    cmocka_unit_test(per_thread_stubs_have_their_own_stream),
	    cmocka_unit_test(configurations_nest),
	    cmocka_unit_test(configurations_may_be_left_behind),
	    cmocka_unit_test(kernels_by_handle),
	    cmocka_unit_test(launches_with_attributes),
	    cmocka_unit_test(attributes_of_kernels),
	    cmocka_unit_test(symbols),
	};
	int failed = cmocka_run_group_tests(before, NULL, NULL);

	return failed + cmocka_run_group_tests(tests, load, NULL);
}
