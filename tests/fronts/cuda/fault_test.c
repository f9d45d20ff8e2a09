/* Kernels that do wrong, and the answers of a context from then on. */
#include "fronts/cuda/alone.h"

#define HEAD ".version 7.0\n.target sm_50\n.address_size 64\n"

static const char faults[] =
    HEAD ".visible .entry store(.param .u64 at)\n"
	 "{ .reg .b64 %rd<2>; ld.param.u64 %rd1, [at];\n"
	 "st.global.u32 [%rd1], 7; ret; }\n"
	 ".visible .entry stop() { trap; ret; }\n";

/* A kernel ends with an error, which the context never loses. */
static void ends_with(const char *name, uint64_t beyond, CUresult wanted)
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
	assert_int_equal(CU(cuMemFree_v2)(at), wanted);
	assert_int_equal(CU(cuCtxSynchronize)(), wanted);
}

static void an_address_is_wild(struct fixture *fx)
{
	(void)fx;
	ends_with("store", 1ULL << 40, CUDA_ERROR_ILLEGAL_ADDRESS);
}

static void an_address_is_odd(struct fixture *fx)
{
	(void)fx;
	ends_with("store", 2, CUDA_ERROR_MISALIGNED_ADDRESS);
}

static void a_trap_is_met(struct fixture *fx)
{
	(void)fx;
	ends_with("stop", 0, CUDA_ERROR_LAUNCH_FAILED);
}

static const struct alone tests[] = {
    ALONE(an_address_is_wild),
    ALONE(an_address_is_odd),
    ALONE(a_trap_is_met),
};

ALONE_MAIN(tests)
