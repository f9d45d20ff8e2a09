/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_test.c - checks kernels with errors, and the results of a context from
 * then on.
 */
#include "base/clock.h"
#include "fronts/cuda/alone.h"
#include "machine/file/file.h"
#include "machine/trouble/cuda_fault.h"
#include "machine/trouble/fault.h"

#include <pthread.h>

#define HEAD ".version 7.0\n.target sm_50\n.address_size 64\n"

static const char faults[] =
    HEAD ".visible .entry store(.param .u64 at)\n"
	 "{ .reg .b64 %rd<2>; ld.param.u64 %rd1, [at];\n"
	 "st.global.u32 [%rd1], 7; ret; }\n"
	 ".visible .entry stop() { trap; ret; }\n"
	 ".visible .entry _ZN2ns4workEi() { ret; }\n"
	 ".visible .entry endless() { again: bra again; }\n";

/* What NVML reports for device 0: this many Xids, the last with this number. */
static void told(struct fixture *fx, uint64_t count, uint64_t last)
{
	const struct gkf_fault_state *s = &fx->file->device[0].fault;

	assert_int_equal(atomic_load(&s->xids), count);
	assert_int_equal(atomic_load(&s->last_xid), last);
}

/* Checks that a kernel ends with an error that the context never loses. */
static void ends_with(struct fixture *fx, const char *name, uint64_t beyond,
		      CUresult wanted, unsigned xid)
{
	void *params[] = {&beyond};
	CUdeviceptr at;
	CUfunction f;
	CUcontext ctx;
	CUmodule m;

	assert_cuda(CU(cuInit)(0), SUCCESS);
	assert_cuda(CU(cuCtxCreate_v2)(&ctx, 0, 0), SUCCESS);
	assert_cuda(CU(cuMemAlloc_v2)(&at, 64), SUCCESS);
	beyond += at;
	assert_cuda(CU(cuModuleLoadData)(&m, faults), SUCCESS);
	assert_cuda(CU(cuModuleGetFunction)(&f, m, name), SUCCESS);
	assert_cuda(
	    CU(cuLaunchKernel)(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL),
	    SUCCESS);
	assert_int_equal(CU(cuCtxSynchronize)(), wanted);
	told(fx, 1, xid);
	assert_int_equal(CU(cuMemFree_v2)(at), wanted);
	assert_int_equal(CU(cuCtxSynchronize)(), wanted);
}

static void an_address_is_wild(struct fixture *fx)
{
	ends_with(fx, "store", 1ULL << 40, CUDA_ERROR_ILLEGAL_ADDRESS, 31);
}

static void an_address_is_odd(struct fixture *fx)
{
	ends_with(fx, "store", 2, CUDA_ERROR_MISALIGNED_ADDRESS, 13);
}

static void a_trap_is_met(struct fixture *fx)
{
	ends_with(fx, "stop", 0, CUDA_ERROR_LAUNCH_FAILED, 13);
}

static CUmodule setup(void)
{
	CUcontext ctx;
	CUmodule m;

	assert_cuda(CU(cuInit)(0), SUCCESS);
	assert_cuda(CU(cuCtxCreate_v2)(&ctx, 0, 0), SUCCESS);
	assert_cuda(CU(cuModuleLoadData)(&m, faults), SUCCESS);
	return m;
}

static CUresult launch(CUmodule m, const char *name)
{
	CUfunction f;

	assert_cuda(CU(cuModuleGetFunction)(&f, m, name), SUCCESS);
	return CU(cuLaunchKernel)(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
}

static void begin_fault(struct fixture *fx, enum gkf_fault fault,
			uint64_t argument)
{
	assert_int_equal(gkf_fault_begin(fx->m, 0, fault, argument), 0);
}

/* The third launch of a kernel named ns::work in C++. */
static void launches_fail_as_somebody_wants(struct fixture *fx)
{
	const uint64_t name = gkf_cuda_fault_hash("work", 4);
	CUmodule m = setup();

	begin_fault(fx, GKF_FAULT_LAUNCH,
		    name << 32 | 2 << 16 | CUDA_ERROR_ILLEGAL_ADDRESS);
	for (int i = 0; i < 2; i++)
		assert_cuda(launch(m, "_ZN2ns4workEi"), SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	told(fx, 0, 0);
	assert_cuda(launch(m, "_ZN2ns4workEi"), SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), ERROR_ILLEGAL_ADDRESS);
	told(fx, 1, 31);
	assert_int_equal(fx->file->device[0].fault.seen[GKF_FAULT_LAUNCH], 3);
	assert_int_equal(fx->file->device[0].fault.hits[GKF_FAULT_LAUNCH], 1);
}

static void other_kernels_run(struct fixture *fx)
{
	const uint64_t name = gkf_cuda_fault_hash("or", 2);
	CUmodule m = setup();

	begin_fault(fx, GKF_FAULT_LAUNCH,
		    name << 32 | CUDA_ERROR_ILLEGAL_ADDRESS);
	assert_cuda(launch(m, "_ZN2ns4workEi"), SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	told(fx, 0, 0);
}

/* The n-th allocation of any kind fails, until the fault is cleared. */
static void allocations_find_no_memory(struct fixture *fx)
{
	const CUmemAllocationProp prop = {
	    .type = CU_MEM_ALLOCATION_TYPE_PINNED,
	    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
	};
	CUmemGenericAllocationHandle physical;
	CUdeviceptr at;

	setup();
	begin_fault(fx, GKF_FAULT_OOM, 2);
	assert_cuda(CU(cuMemAlloc_v2)(&at, 100), SUCCESS);
	assert_cuda(CU(cuMemAllocManaged)(&at, 100, CU_MEM_ATTACH_GLOBAL),
		    SUCCESS);
	assert_cuda(CU(cuMemAlloc_v2)(&at, 100), ERROR_OUT_OF_MEMORY);
	assert_cuda(CU(cuMemAllocManaged)(&at, 100, CU_MEM_ATTACH_GLOBAL),
		    ERROR_OUT_OF_MEMORY);
	assert_cuda(CU(cuMemAllocAsync)(&at, 100, NULL), ERROR_OUT_OF_MEMORY);
	assert_cuda(CU(cuMemCreate)(&physical, 2 << 20, &prop, 0),
		    ERROR_OUT_OF_MEMORY);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	told(fx, 0, 0);
	assert_int_equal(fx->file->device[0].fault.hits[GKF_FAULT_OOM], 4);
	gkf_fault_end(fx->m, 0, GKF_FAULT_BIT(GKF_FAULT_OOM));
	assert_cuda(CU(cuMemAllocAsync)(&at, 100, NULL), SUCCESS);
}

static void *synchronize(void *ctx)
{
	CUresult r;

	CU(cuCtxSetCurrent)(ctx);
	r = CU(cuCtxSynchronize)();
	return (void *)(uintptr_t)r;
}

/* The GPU fails during an endless kernel, and waiters wake. */
static void fails_amid_a_kernel(struct fixture *fx, enum gkf_fault fault,
				uint64_t argument, CUresult wanted)
{
	CUmodule m = setup();
	CUdeviceptr at;
	CUcontext ctx, other;
	pthread_t thread;
	void *result;

	assert_cuda(CU(cuCtxGetCurrent)(&ctx), SUCCESS);
	assert_cuda(CU(cuCtxCreate_v2)(&other, 0, 0), SUCCESS);
	assert_cuda(CU(cuCtxSetCurrent)(ctx), SUCCESS);
	assert_cuda(launch(m, "endless"), SUCCESS);
	pthread_create(&thread, NULL, synchronize, ctx);
	while (!atomic_load(&fx->file->busy[0].since_ns))
		gk_sleep_until(gk_mono_ns() + GK_NS_PER_MS);
	begin_fault(fx, fault, argument);
	/* All contexts of the device, at their next call. */
	assert_int_equal(CU(cuMemAlloc_v2)(&at, 100), wanted);
	assert_cuda(CU(cuCtxSetCurrent)(other), SUCCESS);
	assert_int_equal(CU(cuMemAlloc_v2)(&at, 100), wanted);
	pthread_join(thread, &result);
	assert_int_equal((uintptr_t)result, wanted);
	/* Clearing repairs the GPU, but not the contexts. */
	assert_int_equal(gkf_fault_end(fx->m, 0, ~0ULL), 0);
	assert_int_equal(CU(cuCtxSynchronize)(), wanted);
}

static void a_gpu_is_lost(struct fixture *fx)
{
	fails_amid_a_kernel(fx, GKF_FAULT_LOST, 0,
			    CUDA_ERROR_DEVICE_UNAVAILABLE);
	told(fx, 1, 79);
}

static void memory_has_an_error(struct fixture *fx)
{
	fails_amid_a_kernel(fx, GKF_FAULT_ECC, 1, CUDA_ERROR_ECC_UNCORRECTABLE);
	told(fx, 2, 63); /* 48, and the row is pending remapping */
}

static void an_error_sticks(struct fixture *fx)
{
	fails_amid_a_kernel(fx, GKF_FAULT_STICKY, CUDA_ERROR_ASSERT,
			    CUDA_ERROR_ASSERT);
	told(fx, 1, 43);
}

/* The context of another GPU is not affected. */
static void the_other_gpu_goes_on(struct fixture *fx)
{
	CUdeviceptr at;
	CUcontext ctx;

	setup();
	begin_fault(fx, GKF_FAULT_STICKY, CUDA_ERROR_LAUNCH_FAILED);
	assert_cuda(CU(cuMemAlloc_v2)(&at, 100), ERROR_LAUNCH_FAILED);
	assert_cuda(CU(cuCtxCreate_v2)(&ctx, 0, 1), SUCCESS);
	assert_cuda(CU(cuMemAlloc_v2)(&at, 100), SUCCESS);
	assert_cuda(CU(cuCtxCreate_v2)(&ctx, 0, 0), ERROR_LAUNCH_FAILED);
}

/* A green context that nobody has used since. */
static void green_contexts_fail_as_well(struct fixture *fx)
{
	CUdevResource all;
	CUdevResourceDesc desc;
	CUgreenCtx green;
	CUcontext ctx;

	setup();
	assert_cuda(
	    CU(cuDeviceGetDevResource)(0, &all, CU_DEV_RESOURCE_TYPE_SM),
	    SUCCESS);
	assert_cuda(CU(cuDevResourceGenerateDesc)(&desc, &all, 1), SUCCESS);
	assert_cuda(
	    CU(cuGreenCtxCreate)(&green, desc, 0, CU_GREEN_CTX_DEFAULT_STREAM),
	    SUCCESS);
	begin_fault(fx, GKF_FAULT_ECC, 1);
	assert_cuda(CU(cuCtxFromGreenCtx)(&ctx, green),
		    ERROR_ECC_UNCORRECTABLE);
}

#define COPIED ((size_t)64 << 20)

static uint64_t copy_ns(CUdeviceptr at, const void *host)
{
	uint64_t began = gk_mono_ns();

	assert_cuda(CU(cuMemcpyHtoD_v2)(at, host, COPIED), SUCCESS);
	return gk_mono_ns() - began;
}

static void copies_are_slow(struct fixture *fx)
{
	char *host = calloc(1, COPIED);
	uint64_t least = UINT64_MAX;
	CUdeviceptr at;

	setup();
	memset(host, 1, COPIED);
	assert_cuda(CU(cuMemAlloc_v2)(&at, COPIED), SUCCESS);
	for (int i = 0; i < 5; i++) {
		uint64_t ns = copy_ns(at, host);

		least = ns < least ? ns : least;
	}
	begin_fault(fx, GKF_FAULT_SLOW_COPIES, 20);
	/* Its own copy took at least as long as the fastest before it. */
	assert_true(copy_ns(at, host) > 10 * least);
	assert_int_equal(gkf_fault_end(fx->m, 0, ~0ULL), 0);
	free(host);
}

static void a_slow_copy_ends_when_the_device_is_mended(struct fixture *fx)
{
	CUdeviceptr at;
	CUstream s;
	void *host;

	setup();
	assert_cuda(CU(cuMemAllocHost_v2)(&host, COPIED), SUCCESS);
	assert_cuda(CU(cuMemAlloc_v2)(&at, COPIED), SUCCESS);
	assert_cuda(CU(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING), SUCCESS);
	begin_fault(fx, GKF_FAULT_SLOW_COPIES, 1000000);
	assert_cuda(CU(cuMemcpyHtoDAsync_v2)(at, host, COPIED, s), SUCCESS);
	usleep(100000);
	assert_cuda(CU(cuStreamQuery)(s), ERROR_NOT_READY);
	assert_int_equal(gkf_fault_end(fx->m, 0, ~0ULL), 0);
	assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
}

static const struct alone tests[] = {
    ALONE(an_address_is_wild),
    ALONE(an_address_is_odd),
    ALONE(a_trap_is_met),
    ALONE(launches_fail_as_somebody_wants),
    ALONE(other_kernels_run),
    ALONE(allocations_find_no_memory),
    ALONE(a_gpu_is_lost),
    ALONE(memory_has_an_error),
    ALONE(an_error_sticks),
    ALONE(the_other_gpu_goes_on),
    ALONE(green_contexts_fail_as_well),
    ALONE(copies_are_slow),
    ALONE(a_slow_copy_ends_when_the_device_is_mended),
};

ALONE_MAIN(tests)
