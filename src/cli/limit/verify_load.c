/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_load.c - the load of `gpukit limit verify`: allocates blocks of
 * memory, and runs kernels that last two milliseconds each by the GPU's own
 * clock and add up their running time.
 */
#include "cli/limit/verify.h"
#include "abi/cuda/cuda_abi.h"
#include "base/clock.h"
#include "cli/limit/limit.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define KERNEL_NS (2 * GK_NS_PER_MS)

/* The driver's smallest allocation. */
#define LEAST_BLOCK (2ULL << 20)
#define FIRST_BLOCK (256ULL << 20)

enum { BLOCKS = 65536 };

/* The number of kernels queued in the stream, so that the GPU is never idle. */
enum { WAITING = 8 };

static const char ptx[] =
    ".version 6.0\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".visible .entry busy(.param .u64 sum, .param .u64 ns)\n"
    "{\n"
    "	.reg .u64 %sum, %ns, %first, %now, %lasts;\n"
    "	.reg .pred %on;\n"
    "	ld.param.u64 %sum, [sum];\n"
    "	ld.param.u64 %ns, [ns];\n"
    "	cvta.to.global.u64 %sum, %sum;\n"
    "	mov.u64 %first, %globaltimer;\n"
    "again:\n"
    "	mov.u64 %now, %globaltimer;\n"
    "	sub.u64 %lasts, %now, %first;\n"
    "	setp.lt.u64 %on, %lasts, %ns;\n"
    "	@%on bra again;\n"
    "	ld.global.u64 %ns, [%sum];\n"
    "	add.u64 %ns, %ns, %lasts;\n"
    "	st.global.u64 [%sum], %ns;\n"
    "	ret;\n"
    "}\n";

/* The driver's functions that the load calls. */
#define FUNCTIONS(F)                                                           \
	F(cuInit)                                                              \
	F(cuDeviceGetByPCIBusId)                                               \
	F(cuDevicePrimaryCtxRetain)                                            \
	F(cuCtxSetCurrent)                                                     \
	F(cuCtxSynchronize)                                                    \
	F(cuModuleLoadData)                                                    \
	F(cuModuleGetFunction)                                                 \
	F(cuMemAlloc_v2)                                                       \
	F(cuMemFree_v2)                                                        \
	F(cuMemsetD8_v2)                                                       \
	F(cuMemcpyDtoH_v2)                                                     \
	F(cuLaunchKernel)

static struct {
#define FIELD(name) __typeof__(name) *name;
	FUNCTIONS(FIELD)
#undef FIELD
} cu;

static int find_driver(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);

	if (!library)
		return limit_failure("no CUDA driver: %s", dlerror());
#define FIND(name)                                                             \
	cu.name = (__typeof__(cu.name))dlsym(library, #name);                  \
	if (!cu.name)                                                          \
		return limit_failure("the CUDA driver has no " #name);
	FUNCTIONS(FIND)
#undef FIND
	return 0;
}

struct load {
	CUfunction busy;
	CUdeviceptr sum;
	CUdeviceptr block[BLOCKS];
	unsigned count;
	uint64_t bytes;
};

static int tell_error(CUresult r, const char *what)
{
	return r ? limit_failure("%s: CUDA error %d", what, (int)r) : 0;
}

static int begin_load(struct load *load, const char *bus_id)
{
	CUcontext ctx;
	CUmodule module;
	CUdevice device;
	int code = tell_error(cu.cuInit(0), "cuInit");

	if (!code)
		code = tell_error(cu.cuDeviceGetByPCIBusId(&device, bus_id),
				  "the GPU is not visible");
	if (!code)
		code = tell_error(cu.cuDevicePrimaryCtxRetain(&ctx, device),
				  "no context");
	if (!code)
		code = tell_error(cu.cuCtxSetCurrent(ctx), "no context");
	if (!code)
		code =
		    tell_error(cu.cuModuleLoadData(&module, ptx), "no module");
	if (!code)
		code = tell_error(
		    cu.cuModuleGetFunction(&load->busy, module, "busy"),
		    "no kernel");
	if (!code)
		code =
		    tell_error(cu.cuMemAlloc_v2(&load->sum, sizeof(uint64_t)),
			       "no memory at all");
	return code ? code
		    : tell_error(
			  cu.cuMemsetD8_v2(load->sum, 0, sizeof(uint64_t)),
			  "no memory at all");
}

/*
 * Allocates blocks, halving their size at each refusal, until the smallest is
 * refused.
 */
static void take_all(struct load *load)
{
	for (uint64_t size = FIRST_BLOCK; size >= LEAST_BLOCK; size /= 2)
		while (load->count < BLOCKS &&
		       !cu.cuMemAlloc_v2(&load->block[load->count], size)) {
			load->count++;
			load->bytes += size;
		}
}

static void give_back(struct load *load)
{
	while (load->count)
		cu.cuMemFree_v2(load->block[--load->count]);
}

static int keep_busy(const struct load *load, uint64_t seconds)
{
	uint64_t ns = KERNEL_NS, launches = 0, busy = 0, begin = gk_mono_ns();
	uint64_t end = begin + seconds * GK_NS_PER_S;
	CUdeviceptr sum = load->sum;
	void *args[] = {&sum, &ns};
	CUresult r = CUDA_SUCCESS;

	while (!r && gk_mono_ns() < end) {
		r = cu.cuLaunchKernel(load->busy, 1, 1, 1, 1, 1, 1, 0, NULL,
				      args, NULL);
		if (!r && ++launches % WAITING == 0)
			r = cu.cuCtxSynchronize();
	}
	if (!r)
		r = cu.cuCtxSynchronize();
	end = gk_mono_ns();
	if (!r)
		r = cu.cuMemcpyDtoH_v2(&busy, sum, sizeof busy);
	if (!r)
		printf("busy %" PRIu64 " of %" PRIu64 " in %" PRIu64 "\n", busy,
		       end - begin, launches);
	return tell_error(r, "a kernel");
}

int limit_verify_load(const char *bus_id, uint64_t seconds)
{
	static struct load load;
	char line[16];
	int code = find_driver();

	if (!code)
		code = begin_load(&load, bus_id);
	if (code)
		return code;
	take_all(&load);
	printf("held %d %" PRIu64 "\n", (int)getpid(), load.bytes);
	fflush(stdout);
	if (!fgets(line, sizeof line, stdin))
		return limit_failure("verify went away");
	give_back(&load);
	return keep_busy(&load, seconds);
}
