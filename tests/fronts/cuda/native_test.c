/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_test.c - checks kernels of the libraries above the driver: C functions
 * in its streams.
 */
#include "fronts/common/native.h"
#include "fronts/cuda/loaded.h"
#include "machine/file/file.h"
#include "machine/store/process/total.h"
#include "machine/trouble/cuda_fault.h"
#include "machine/trouble/fault.h"

#include <string.h>

enum { SCALE, STRAY };
#define N 1000

struct scale {
	CUdeviceptr x;
	uint64_t n;
	double by;
};

static CUresult run_scale(struct gpukit_run *run)
{
	const struct scale *p = run->params;
	double *x = run->memory(run, GPUKIT_WRITES, p->x, p->n * sizeof *x);

	for (uint64_t i = 0; x && i < p->n; i++)
		x[i] *= p->by;
	run->operations += p->n;
	return CUDA_SUCCESS;
}

/* It requests memory that does not exist and reports success. */
static CUresult run_stray(struct gpukit_run *run)
{
	const CUdeviceptr *at = run->params;

	assert_null(run->memory(run, GPUKIT_READS, *at, 8));
	return CUDA_SUCCESS;
}

static struct native_kernel kernels[] = {
    [SCALE] = {"test_scale", run_scale, sizeof(struct scale), NULL},
    [STRAY] = {"test_stray", run_stray, sizeof(CUdeviceptr), NULL},
};
static struct native_library library = {kernels, 2, PTHREAD_MUTEX_INITIALIZER,
					NULL};

static CUdeviceptr array_of_ones(void)
{
	double x[N];
	CUdeviceptr at;

	for (int i = 0; i < N; i++)
		x[i] = 1;
	assert_cuda(CU(cuMemAlloc_v2)(&at, sizeof x), SUCCESS);
	assert_cuda(CU(cuMemcpyHtoD_v2)(at, x, sizeof x), SUCCESS);
	return at;
}

static void a_library_has_a_context_without_asking(struct fixture *fx)
{
	CUcontext ctx;

	(void)fx;
	assert_non_null(native_driver());
	assert_cuda(native_context(), SUCCESS);
	assert_cuda(CU(cuCtxGetCurrent)(&ctx), SUCCESS);
	assert_non_null(ctx);
}

static void its_kernels_run_in_the_order_of_their_stream(struct fixture *fx)
{
	struct scale p = {.n = N, .by = 3};
	double x[N];
	CUstream s;

	(void)fx;
	assert_cuda(native_context(), SUCCESS);
	p.x = array_of_ones();
	assert_cuda(CU(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING), SUCCESS);
	for (int i = 0; i < 4; i++)
		assert_cuda(native_launch(&library, SCALE, s, &p), SUCCESS);
	p.by = 0; /* parameters are copied at the launch */
	assert_cuda(CU(cuMemcpyDtoHAsync_v2)(x, p.x, sizeof x, s), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
	for (int i = 0; i < N; i++)
		assert_true(x[i] == 81);
	assert_cuda(CU(cuStreamDestroy_v2)(s), SUCCESS);
	assert_cuda(CU(cuMemFree_v2)(p.x), SUCCESS);
}

static void their_arithmetic_is_added_up(struct fixture *fx)
{
	struct scale p = {.n = N, .by = 3};
	struct gkf_total_read t;

	assert_cuda(native_context(), SUCCESS);
	p.x = array_of_ones();
	for (int i = 0; i < 4; i++)
		assert_cuda(native_launch(&library, SCALE, NULL, &p), SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	assert_true(gkf_total_read(fx->m, 0, &t));
	assert_int_equal(t.operations, 4 * N);
	assert_int_equal(t.launches, 4);
	assert_int_equal(t.moved[GKF_IN], N * sizeof(double));
}

static void they_run_in_every_context(struct fixture *fx)
{
	struct scale p = {.n = N, .by = 2};
	CUcontext second, ctx;
	double first;

	(void)fx;
	assert_cuda(native_context(), SUCCESS);
	p.x = array_of_ones();
	assert_cuda(native_launch(&library, SCALE, NULL, &p), SUCCESS);
	assert_cuda(CU(cuCtxCreate_v2)(&second, 0, 1), SUCCESS);
	p.x = array_of_ones();
	assert_cuda(native_launch(&library, SCALE, NULL, &p), SUCCESS);
	assert_cuda(CU(cuMemcpyDtoH_v2)(&first, p.x, sizeof first), SUCCESS);
	assert_true(first == 2);
	assert_cuda(CU(cuCtxPopCurrent_v2)(&ctx), SUCCESS);
	assert_cuda(CU(cuCtxDestroy_v2)(second), SUCCESS);
}

static void profilers_see_their_names(struct fixture *fx)
{
	struct scale p = {.n = 0};
	const char *name;

	(void)fx;
	assert_cuda(native_context(), SUCCESS);
	assert_cuda(native_launch(&library, SCALE, NULL, &p), SUCCESS);
	assert_cuda(CU(cuKernelGetName)(&name, kernels[STRAY].handle), SUCCESS);
	assert_string_equal(name, "test_stray");
}

static void one_byte_beyond_its_memory_is_illegal(struct fixture *fx)
{
	struct scale p = {.n = N + 1, .by = 2};

	(void)fx;
	assert_cuda(native_context(), SUCCESS);
	p.x = array_of_ones();
	assert_cuda(native_launch(&library, SCALE, NULL, &p), SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), ERROR_ILLEGAL_ADDRESS);
}

static void who_hides_a_stray_access_fails_all_the_same(struct fixture *fx)
{
	CUdeviceptr nowhere = 64;

	(void)fx;
	assert_cuda(native_context(), SUCCESS);
	assert_cuda(native_launch(&library, STRAY, NULL, &nowhere), SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), ERROR_ILLEGAL_ADDRESS);
}

/*
 * A kernel of the library fails as a fault of the machine says, and the library
 * gets the error.
 */
static void somebody_lets_its_kernel_fail(struct fixture *fx)
{
	const uint64_t name =
	    gkf_cuda_fault_hash("test_scale", strlen("test_scale"));
	struct scale p = {.n = N, .by = 2};

	assert_cuda(native_context(), SUCCESS);
	p.x = array_of_ones();
	assert_int_equal(gkf_fault_begin(fx->m, 0, GKF_FAULT_LAUNCH,
					 name << 32 | CUDA_ERROR_LAUNCH_FAILED),
			 0);
	assert_cuda(native_launch(&library, SCALE, NULL, &p), SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), ERROR_LAUNCH_FAILED);
	assert_cuda(native_launch(&library, SCALE, NULL, &p),
		    ERROR_LAUNCH_FAILED);
	assert_int_equal(fx->file->device[0].fault.last_xid, 13);
}

/* A program that does a kernel's work itself cannot do it in a graph. */
static void note_end(void *data)
{
	++*(unsigned *)data;
}

static void
a_capture_is_told_from_work_and_tells_when_it_ends(struct fixture *fx)
{
	const struct gpukit_table *t = native_driver()->table;
	struct gpukit_work work;
	unsigned ends = 0;
	CUgraph graph;
	CUstream s;

	(void)fx;
	assert_cuda(native_context(), SUCCESS);
	assert_cuda(CU(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING), SUCCESS);
	assert_cuda(t->capture_watch(s, note_end, &ends),
		    ERROR_STREAM_CAPTURE_INVALIDATED);
	assert_cuda(
	    CU(cuStreamBeginCapture_v2)(s, CU_STREAM_CAPTURE_MODE_GLOBAL),
	    SUCCESS);
	for (int i = 0; i < 2; i++)
		assert_cuda(t->capture_watch(s, note_end, &ends), SUCCESS);
	assert_cuda(t->work_begin(s, "work", &work),
		    ERROR_STREAM_CAPTURE_UNSUPPORTED);
	assert_cuda(t->work_begin(NULL, "work", &work), SUCCESS);
	t->work_end(&work);
	assert_int_equal(ends, 0);
	assert_cuda(CU(cuStreamEndCapture)(s, &graph), SUCCESS);
	assert_int_equal(ends, 2);
}

static void
work_in_the_legacy_stream_ends_captures_of_blocking_ones(struct fixture *fx)
{
	const struct gpukit_table *t = native_driver()->table;
	struct gpukit_work work;
	unsigned ends = 0;
	CUgraph graph;
	CUstream s;

	(void)fx;
	assert_cuda(native_context(), SUCCESS);
	assert_cuda(CU(cuStreamCreate)(&s, CU_STREAM_DEFAULT), SUCCESS);
	assert_cuda(
	    CU(cuStreamBeginCapture_v2)(s, CU_STREAM_CAPTURE_MODE_RELAXED),
	    SUCCESS);
	assert_cuda(t->capture_watch(s, note_end, &ends), SUCCESS);
	assert_cuda(t->work_begin(NULL, "work", &work),
		    ERROR_STREAM_CAPTURE_IMPLICIT);
	assert_cuda(CU(cuStreamEndCapture)(s, &graph),
		    ERROR_STREAM_CAPTURE_INVALIDATED);
	assert_int_equal(ends, 1);
}

static const struct alone tests[] = {
    ALONE(a_library_has_a_context_without_asking),
    ALONE(its_kernels_run_in_the_order_of_their_stream),
    ALONE(their_arithmetic_is_added_up),
    ALONE(they_run_in_every_context),
    ALONE(profilers_see_their_names),
    ALONE(one_byte_beyond_its_memory_is_illegal),
    ALONE(who_hides_a_stray_access_fails_all_the_same),
    ALONE(somebody_lets_its_kernel_fail),
    ALONE(a_capture_is_told_from_work_and_tells_when_it_ends),
    ALONE(work_in_the_legacy_stream_ends_captures_of_blocking_ones),
};

ALONE_MAIN(tests)
