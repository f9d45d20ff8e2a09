/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch_test.c - checks kernels as programs start them: modules, libraries,
 * launches, their ends.
 */
#include "base/clock.h"
#include "fronts/cuda/loaded.h"

#include <sys/resource.h>
#include <sys/stat.h>

#define N 1000

/* c = a + b by a launch; frees nothing. */
static void add(CUfunction f)
{
	static float a[N], b[N], c[N];
	CUdeviceptr at[3];
	int n = N;
	void *params[] = {&at[0], &at[1], &at[2], &n};

	for (int i = 0; i < N; i++) {
		a[i] = (float)i;
		b[i] = (float)(N - i) / 3;
		c[i] = -1;
	}
	for (int i = 0; i < 3; i++)
		assert_cuda(CU(cuMemAlloc_v2)(&at[i], sizeof a), SUCCESS);
	assert_cuda(CU(cuMemcpyHtoD_v2)(at[0], a, sizeof a), SUCCESS);
	assert_cuda(CU(cuMemcpyHtoD_v2)(at[1], b, sizeof b), SUCCESS);
	assert_cuda(
	    CU(cuLaunchKernel)(f, 4, 1, 1, 256, 1, 1, 0, NULL, params, NULL),
	    SUCCESS);
	assert_cuda(CU(cuMemcpyDtoH_v2)(c, at[2], sizeof c), SUCCESS);
	for (int i = 0; i < N; i++)
		assert_true(c[i] == a[i] + b[i]);
	for (int i = 0; i < 3; i++)
		assert_cuda(CU(cuMemFree_v2)(at[i]), SUCCESS);
}

static void a_fat_binary_of_any_packing_adds(struct fixture *fx)
{
	(void)fx;
	begin();
	add(function_in(module_of("vector_add_none.fatbin"), "vector_add"));
	add(function_in(module_of("vector_add_speed.fatbin"), "vector_add"));
	add(function_in(module_of("vector_add_size.fatbin"), "vector_add"));
	add(function_in(module_of("vector_add_13.ptx"), "vector_add"));
}

static void a_library_adds_in_every_context(struct fixture *fx)
{
	void *image = data_file("vector_add_balance.fatbin");
	CUlibrary lib;
	CUkernel kernel;
	CUfunction one, two;
	CUcontext second;
	const char *name;

	(void)fx;
	begin();
	assert_cuda(
	    CU(cuLibraryLoadData)(&lib, image, NULL, NULL, 0, NULL, NULL, 0),
	    SUCCESS);
	free(image);
	assert_cuda(CU(cuLibraryGetKernel)(&kernel, lib, "no_such"),
		    ERROR_NOT_FOUND);
	assert_cuda(CU(cuLibraryGetKernel)(&kernel, lib, "vector_add"),
		    SUCCESS);
	assert_cuda(CU(cuKernelGetName)(&name, kernel), SUCCESS);
	assert_string_equal(name, "vector_add");
	add((CUfunction)kernel);
	assert_cuda(CU(cuKernelGetFunction)(&one, kernel), SUCCESS);
	assert_cuda(CU(cuCtxCreate_v2)(&second, 0, 1), SUCCESS);
	assert_cuda(CU(cuKernelGetFunction)(&two, kernel), SUCCESS);
	assert_ptr_not_equal(one, two);
	add((CUfunction)kernel);
	add(two);
	assert_cuda(CU(cuCtxDestroy_v2)(second), SUCCESS);
	assert_cuda(CU(cuFuncGetName)(&name, two), ERROR_INVALID_HANDLE);
	assert_cuda(CU(cuLibraryUnload)(lib), SUCCESS);
	assert_cuda(CU(cuLibraryUnload)(lib), ERROR_INVALID_HANDLE);
}

static CUresult load_text(const char *text, char *log, size_t size)
{
	CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
				  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
	void *values[] = {log, (void *)size};
	CUmodule m;

	return CU(cuModuleLoadDataEx)(&m, text, 2, options, values);
}

static void what_cannot_be_loaded_says_why(struct fixture *fx)
{
	void *cubin = data_file("vector_add_86.cubin");
	char log[256] = "";
	CUmodule m;

	(void)fx;
	begin();
	assert_cuda(load_text(".version 8.0\n.target sm_70\n.entry f() { oops",
			      log, sizeof log),
		    ERROR_INVALID_PTX);
	assert_non_null(strstr(log, "line 3"));
	assert_cuda(
	    load_text(".version 99.0\n.target sm_70\n", log, sizeof log),
	    ERROR_UNSUPPORTED_PTX_VERSION);
	assert_cuda(load_text(".version 8.0\n.target sm_90\n", log, sizeof log),
		    ERROR_INVALID_PTX);
	assert_cuda(load_text("hello", log, sizeof log), ERROR_INVALID_IMAGE);
	assert_cuda(CU(cuModuleLoadData)(&m, cubin), ERROR_NO_BINARY_FOR_GPU);
	assert_cuda(CU(cuModuleLoadData)(&m, NULL), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuModuleLoad)(&m, "/nonexistent"), ERROR_FILE_NOT_FOUND);
	assert_cuda(CU(cuModuleLoad)(&m, TEST_DATA "/ptx/vector_add_13.ptx"),
		    SUCCESS);
	assert_cuda(CU(cuModuleUnload)(m), SUCCESS);
	assert_cuda(CU(cuModuleUnload)(m), ERROR_INVALID_HANDLE);
	free(cubin);
}

static void wrong_shapes_are_refused(struct fixture *fx)
{
	CUfunction f;
	CUdeviceptr none = 0;
	int n = 0;
	void *params[] = {&none, &none, &none, &n};
	static const struct {
		unsigned grid[3], block[3], shared;
		CUresult result;
	} shapes[] = {
	    {{0, 1, 1}, {1, 1, 1}, 0, CUDA_ERROR_INVALID_VALUE},
	    {{1, 65536, 1}, {1, 1, 1}, 0, CUDA_ERROR_INVALID_VALUE},
	    {{1, 1, 1}, {1025, 1, 1}, 0, CUDA_ERROR_INVALID_VALUE},
	    {{1, 1, 1}, {1, 1, 65}, 0, CUDA_ERROR_INVALID_VALUE},
	    {{1, 1, 1}, {512, 4, 1}, 0, CUDA_ERROR_INVALID_VALUE},
	    {{1, 1, 1}, {1, 1, 1}, 49153, CUDA_ERROR_INVALID_VALUE},
	    {{1, 1, 1}, {1024, 1, 1}, 49152, CUDA_SUCCESS},
	};
	CUcontext here, other;
	CUstream elsewhere;

	(void)fx;
	begin();
	f = function_in(module_of("vector_add_13.ptx"), "vector_add");
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		assert_int_equal(
		    CU(cuLaunchKernel)(f, shapes[i].grid[0], shapes[i].grid[1],
				       shapes[i].grid[2], shapes[i].block[0],
				       shapes[i].block[1], shapes[i].block[2],
				       shapes[i].shared, NULL, params, NULL),
		    shapes[i].result);
	assert_cuda(
	    CU(cuLaunchKernel)(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
	    ERROR_INVALID_VALUE);
	assert_cuda(
	    CU(cuLaunchKernel)(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL),
	    ERROR_INVALID_HANDLE);
	assert_cuda(CU(cuCtxGetCurrent)(&here), SUCCESS);
	assert_cuda(CU(cuCtxCreate_v2)(&other, 0, 0), SUCCESS);
	assert_cuda(CU(cuStreamCreate)(&elsewhere, 0), SUCCESS);
	assert_cuda(CU(cuCtxSetCurrent)(here), SUCCESS);
	assert_cuda(
	    CU(cuLaunchKernel)(f, 1, 1, 1, 1, 1, 1, 0, elsewhere, params, NULL),
	    ERROR_INVALID_HANDLE);
	assert_cuda(
	    CU(cuFuncSetAttribute)(
		f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 163 * 1024),
	    SUCCESS);
	assert_cuda(CU(cuLaunchKernel)(f, 1, 1, 1, 1, 1, 1, 163 * 1024, NULL,
				       params, NULL),
		    SUCCESS);
	assert_cuda(CU(cuFuncSetAttribute)(
			f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
			163 * 1024 + 1),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
}

static void parameters_come_in_a_buffer(struct fixture *fx)
{
	struct {
		CUdeviceptr a, b, c;
		int n;
	} args = {.n = 3};
	float in[3] = {1, 2, 3}, out[3];
	size_t size = 28;
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &args,
			 CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
			 CU_LAUNCH_PARAM_END};
	CUfunction f;

	(void)fx;
	begin();
	f = function_in(module_of("vector_add_13.ptx"), "vector_add");
	assert_cuda(CU(cuMemAlloc_v2)(&args.a, sizeof in), SUCCESS);
	assert_cuda(CU(cuMemAlloc_v2)(&args.c, sizeof in), SUCCESS);
	args.b = args.a;
	assert_cuda(CU(cuMemcpyHtoD_v2)(args.a, in, sizeof in), SUCCESS);
	assert_cuda(
	    CU(cuLaunchKernel)(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, extra),
	    SUCCESS);
	assert_cuda(CU(cuMemcpyDtoH_v2)(out, args.c, sizeof out), SUCCESS);
	assert_true(out[0] == 2 && out[1] == 4 && out[2] == 6);
	size = 27;
	assert_cuda(
	    CU(cuLaunchKernel)(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, extra),
	    ERROR_INVALID_VALUE);
	extra[2] = CU_LAUNCH_PARAM_END; /* there is no size */
	assert_cuda(
	    CU(cuLaunchKernel)(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, extra),
	    ERROR_INVALID_VALUE);
}

static void a_wild_address_ends_the_context(struct fixture *fx)
{
	CUdeviceptr wild = 0x10, ok;
	int n = 1;
	void *params[] = {&wild, &wild, &wild, &n};
	CUfunction f;

	(void)fx;
	begin();
	f = function_in(module_of("vector_add_13.ptx"), "vector_add");
	assert_cuda(
	    CU(cuLaunchKernel)(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL),
	    SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), ERROR_ILLEGAL_ADDRESS);
	assert_cuda(CU(cuMemAlloc_v2)(&ok, 4), ERROR_ILLEGAL_ADDRESS);
}

static const char refused[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".global .u32 counter = 41;\n"
    ".visible .entry odd() { .reg .b32 %r<9>; wgmma.fence.sync.aligned; ret; "
    "}\n"
    ".visible .entry even() { .reg .b32 %r<9>; ld.global.u32 %r1, [counter];\n"
    "add.u32 %r1, %r1, 1; st.global.u32 [counter], %r1; ret; }\n";

static void what_is_not_executed_is_refused(struct fixture *fx)
{
	CUmodule m;
	CUdeviceptr counter;
	size_t size;
	unsigned value = 0;

	(void)fx;
	begin();
	assert_cuda(CU(cuModuleLoadData)(&m, refused), SUCCESS);
	assert_cuda(CU(cuLaunchKernel)(function_in(m, "odd"), 1, 1, 1, 1, 1, 1,
				       0, NULL, NULL, NULL),
		    ERROR_NOT_SUPPORTED);
	assert_cuda(CU(cuLaunchKernel)(function_in(m, "even"), 1, 1, 1, 1, 1, 1,
				       0, NULL, NULL, NULL),
		    SUCCESS);
	assert_cuda(CU(cuModuleGetGlobal_v2)(&counter, &size, m, "counter"),
		    SUCCESS);
	assert_int_equal(size, 4);
	assert_cuda(CU(cuMemcpyDtoH_v2)(&value, counter, 4), SUCCESS);
	assert_int_equal(value, 42);
	assert_cuda(CU(cuMemFree_v2)(counter), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemcpyDtoH_v2)(&value, counter, 4), SUCCESS);
	assert_cuda(CU(cuModuleGetGlobal_v2)(&counter, &size, m, "none"),
		    ERROR_NOT_FOUND);
}

static const char spin[] =
    ".version 7.0\n.target sm_50\n.address_size 64\n"
    ".extern .func gpukit_spin_us(.param .b32 us);\n"
    ".visible .entry gpukit_spin(.param .u32 us)\n"
    "{ .reg .b32 %r<2>; ld.param.u32 %r1, [us];\n"
    "{ .param .b32 p; st.param.b32 [p], %r1; call gpukit_spin_us, (p); }\n"
    "ret; }\n";

static void spinning_takes_its_time(struct fixture *fx)
{
	unsigned us = 1000000;
	void *params[] = {&us};
	uint64_t start;
	CUresult asked;
	CUmodule m;

	(void)fx;
	begin();
	assert_cuda(CU(cuModuleLoadData)(&m, spin), SUCCESS);
	start = gk_mono_ns();
	assert_cuda(CU(cuLaunchKernel)(function_in(m, "gpukit_spin"), 3, 1, 1,
				       64, 1, 1, 0, NULL, params, NULL),
		    SUCCESS);
	/* Unless the host took a second to get here. */
	asked = CU(cuStreamQuery)(NULL);
	if (gk_mono_ns() - start < GK_NS_PER_S)
		assert_cuda(asked, ERROR_NOT_READY);
	assert_cuda(CU(cuModuleUnload)(m), SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	assert_true(gk_mono_ns() - start >= GK_NS_PER_S);
	assert_true(gk_mono_ns() - start < 60 * GK_NS_PER_S);
}

/* Then an error is returned by the launch in which it arose. */
static void launches_block_if_asked_to(struct fixture *fx)
{
	static const char text[] =
	    ".version 7.0\n.target sm_50\n.address_size 64\n"
	    ".visible .entry k() { .reg .b64 %rd; mov.u64 %rd, 64;\n"
	    "st.global.b64 [%rd], %rd; ret; }\n";
	unsigned us = 50000;
	void *params[] = {&us};
	CUstream s;
	CUmodule m;

	(void)fx;
	setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
	begin();
	assert_cuda(CU(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING), SUCCESS);
	assert_cuda(CU(cuModuleLoadData)(&m, spin), SUCCESS);
	assert_cuda(CU(cuLaunchKernel)(function_in(m, "gpukit_spin"), 1, 1, 1,
				       1, 1, 1, 0, s, params, NULL),
		    SUCCESS);
	assert_cuda(CU(cuStreamQuery)(s), SUCCESS);
	assert_cuda(CU(cuModuleLoadData)(&m, text), SUCCESS);
	assert_cuda(CU(cuLaunchKernel)(function_in(m, "k"), 1, 1, 1, 1, 1, 1, 0,
				       s, NULL, NULL),
		    ERROR_ILLEGAL_ADDRESS);
}

#define BIG 67108864

static const char big[] = ".version 7.0\n.target sm_50\n.address_size 64\n"
			  ".visible .global .align 4 .b8 a[67108864];\n"
			  ".visible .entry k() { ret; }\n";

/*
 * Bytes that are still to be written into it do not go into another's memory.
 */
static void variables_are_there_while_they_are_filled(struct fixture *fx)
{
	unsigned char seen[2] = {0};
	CUdeviceptr a, other;
	CUstream slow, fast;
	CUmodule m;
	size_t size;

	(void)fx;
	begin();
	assert_cuda(CU(cuStreamCreate)(&slow, CU_STREAM_NON_BLOCKING), SUCCESS);
	assert_cuda(CU(cuStreamCreate)(&fast, CU_STREAM_NON_BLOCKING), SUCCESS);
	assert_cuda(CU(cuModuleLoadData)(&m, big), SUCCESS);
	assert_cuda(CU(cuModuleGetGlobal_v2)(&a, &size, m, "a"), SUCCESS);
	assert_int_equal(size, BIG);
	for (unsigned i = 0; i < 20; i++)
		assert_cuda(CU(cuMemsetD8Async)(a, 7, size, slow), SUCCESS);
	assert_cuda(CU(cuModuleUnload)(m), SUCCESS);
	assert_cuda(CU(cuMemAlloc_v2)(&other, BIG), SUCCESS);
	assert_cuda(CU(cuMemsetD8Async)(other, 85, BIG, fast), SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	assert_cuda(CU(cuMemcpyDtoH_v2)(seen, other, 1), SUCCESS);
	assert_cuda(CU(cuMemcpyDtoH_v2)(seen + 1, other + BIG - 1, 1), SUCCESS);
	assert_int_equal(seen[0], 85);
	assert_int_equal(seen[1], 85);
	/* A variable is 0 even where something else was before. */
	assert_cuda(CU(cuMemFree_v2)(other), SUCCESS);
	assert_cuda(CU(cuModuleLoadData)(&m, big), SUCCESS);
	assert_cuda(CU(cuModuleGetGlobal_v2)(&a, &size, m, "a"), SUCCESS);
	for (size_t at = 0; at < BIG; at += BIG / 64) {
		assert_cuda(CU(cuMemcpyDtoH_v2)(seen, a + at, 2), SUCCESS);
		assert_int_equal(seen[0] | seen[1], 0);
	}
	assert_cuda(CU(cuMemcpyDtoH_v2)(seen, a + BIG - 2, 2), SUCCESS);
	assert_int_equal(seen[0] | seen[1], 0);
}

/* The same for a library, which waits for nobody. */
static void variables_of_a_library_are_left_to_their_context(struct fixture *fx)
{
	CUdeviceptr a, other;
	CUstream slow, fast;
	unsigned char seen;
	CUlibrary l;
	size_t size;

	(void)fx;
	begin();
	assert_cuda(CU(cuStreamCreate)(&slow, CU_STREAM_NON_BLOCKING), SUCCESS);
	assert_cuda(CU(cuStreamCreate)(&fast, CU_STREAM_NON_BLOCKING), SUCCESS);
	assert_cuda(
	    CU(cuLibraryLoadData)(&l, big, NULL, NULL, 0, NULL, NULL, 0),
	    SUCCESS);
	assert_cuda(CU(cuLibraryGetGlobal)(&a, &size, l, "a"), SUCCESS);
	for (unsigned i = 0; i < 20; i++)
		assert_cuda(CU(cuMemsetD8Async)(a, 7, size, slow), SUCCESS);
	assert_cuda(CU(cuLibraryUnload)(l), SUCCESS);
	assert_cuda(CU(cuMemAlloc_v2)(&other, BIG), SUCCESS);
	assert_cuda(CU(cuMemsetD8Async)(other, 85, BIG, fast), SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	assert_cuda(CU(cuMemcpyDtoH_v2)(&seen, other, 1), SUCCESS);
	assert_int_equal(seen, 85);
}

static long peak_kib(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss;
}

static void variables_cost_what_is_touched(struct fixture *fx)
{
	static const char huge[] =
	    ".version 7.0\n.target sm_50\n.address_size 64\n"
	    ".visible .global .align 4 .b8 a[30000000000];\n"
	    ".visible .entry k() { ret; }\n";
	CUmodule m;

	(void)fx;
	begin();
	assert_cuda(CU(cuModuleLoadData)(&m, huge), SUCCESS);
	assert_in_range(peak_kib(), 1, 1 << 20);
}

/* A kernel may have 48 KiB without a request at its launch. */
static void too_much_shared_memory_is_no_kernel(struct fixture *fx)
{
	static const char text[] =
	    ".version 7.0\n.target sm_50\n.address_size 64\n"
	    ".visible .entry k() {\n"
	    ".shared .align 4 .b8 s[49156]; .reg .b64 %rd<2>;\n"
	    "mov.u64 %rd1, s; ret; }\n";
	CUmodule m;

	(void)fx;
	begin();
	assert_cuda(CU(cuModuleLoadData)(&m, text), SUCCESS);
	assert_cuda(CU(cuLaunchKernel)(function_in(m, "k"), 1, 1, 1, 1, 1, 1, 0,
				       NULL, NULL, NULL),
		    ERROR_INVALID_PTX);
}

/* The registers of a text are not those of a processor. */
static void a_text_with_many_registers_starts(struct fixture *fx)
{
	char *text = calloc(1, 1 << 16);
	size_t at = 0;
	CUmodule m;

	(void)fx;
	begin();
	assert_non_null(text);
	at += (size_t)sprintf(text, ".version 7.0\n.target sm_50\n"
				    ".address_size 64\n.visible .entry k() {\n"
				    ".reg .b32 %%r<1000>; mov.u32 %%r0, 1;\n");
	for (unsigned i = 1; i < 1000; i++)
		at += (size_t)sprintf(text + at, "add.u32 %%r%u, %%r%u, 1;\n",
				      i, i - 1);
	strcpy(text + at, "ret; }\n");
	assert_cuda(CU(cuModuleLoadData)(&m, text), SUCCESS);
	assert_cuda(CU(cuLaunchKernel)(function_in(m, "k"), 1, 1, 1, 1024, 1, 1,
				       0, NULL, NULL, NULL),
		    SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	free(text);
}

/* Kernels that do not use a table of functions run. */
static void a_table_of_functions_refuses_its_callers(struct fixture *fx)
{
	static const char text[] =
	    ".version 7.0\n.target sm_50\n.address_size 64\n"
	    ".func one() { ret; }\n.func two() { ret; }\n"
	    ".visible .global .align 8 .u64 table[2] = {one, two};\n"
	    ".visible .entry plain() { ret; }\n"
	    ".visible .entry caller() { .reg .b64 %rd<2>;\n"
	    "p: .callprototype _ ();\n"
	    "ld.global.u64 %rd1, [table]; call %rd1, p; ret; }\n";
	uint64_t seen[2] = {0};
	CUdeviceptr at;
	size_t size;
	CUmodule m;

	(void)fx;
	begin();
	assert_cuda(CU(cuModuleLoadData)(&m, text), SUCCESS);
	assert_cuda(CU(cuLaunchKernel)(function_in(m, "plain"), 1, 1, 1, 1, 1,
				       1, 0, NULL, NULL, NULL),
		    SUCCESS);
	assert_cuda(CU(cuLaunchKernel)(function_in(m, "caller"), 1, 1, 1, 1, 1,
				       1, 0, NULL, NULL, NULL),
		    ERROR_NOT_SUPPORTED);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	assert_cuda(CU(cuModuleGetGlobal_v2)(&at, &size, m, "table"), SUCCESS);
	assert_cuda(CU(cuMemcpyDtoH_v2)(seen, at, sizeof seen), SUCCESS);
	assert_true(seen[0] && seen[1] && seen[0] != seen[1]);
}

static const struct alone tests[] = {
    ALONE(a_fat_binary_of_any_packing_adds),
    ALONE(a_library_adds_in_every_context),
    ALONE(what_cannot_be_loaded_says_why),
    ALONE(wrong_shapes_are_refused),
    ALONE(parameters_come_in_a_buffer),
    ALONE(a_wild_address_ends_the_context),
    ALONE(what_is_not_executed_is_refused),
    ALONE(spinning_takes_its_time),
    ALONE(launches_block_if_asked_to),
    ALONE(variables_are_there_while_they_are_filled),
    ALONE(variables_of_a_library_are_left_to_their_context),
    ALONE(variables_cost_what_is_touched),
    ALONE(too_much_shared_memory_is_no_kernel),
    ALONE(a_text_with_many_registers_starts),
    ALONE(a_table_of_functions_refuses_its_callers),
};

ALONE_MAIN(tests)
