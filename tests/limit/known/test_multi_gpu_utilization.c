/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_multi_gpu_utilization.c - keeps all GPUs busy at once, each from a
 * thread of its own, and measures by the GPUs' clocks what part of the time
 * they worked. The first argument, or HAMi's CUDA_DEVICE_SM_LIMIT, is the share
 * that each may have, in percent: no GPU gets more, whichever it is. The second
 * argument is how many seconds it runs.
 */
#include "limit/known/driver.h"

#include <pthread.h>
#include <time.h>

#define KERNEL_NS 1000000ULL
#define WAITING   8  /* kernels queued in the stream */
#define ABOVE     10 /* points that a share may be off in two seconds */

enum { GPUS = 16 };

/* Runs until ns have passed, and adds the time that passed to *sum. */
static const char code[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry busy(.param .u64 sum, .param .u64 ns)\n{\n"
    ".reg .u64 %s, %n, %b, %e, %d;\n.reg .pred %p;\n"
    "ld.param.u64 %s, [sum];\nld.param.u64 %n, [ns];\n"
    "cvta.to.global.u64 %s, %s;\nmov.u64 %b, %globaltimer;\n"
    "again:\nmov.u64 %e, %globaltimer;\nsub.u64 %d, %e, %b;\n"
    "setp.lt.u64 %p, %d, %n;\n@%p bra again;\n"
    "ld.global.u64 %n, [%s];\nadd.u64 %n, %n, %d;\n"
    "st.global.u64 [%s], %n;\nret;\n}\n";

struct gpu {
	pthread_t thread;
	CUdevice device;
	double lasts, percent;
};

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void *keep_busy(void *arg)
{
	struct gpu *gpu = arg;
	unsigned long long ns = KERNEL_NS, busy = 0, launches = 0;
	CUdeviceptr sum;
	void *args[] = {&sum, &ns};
	CUcontext context;
	CUmodule module;
	CUfunction function;
	double begin;

	OK(cuDevicePrimaryCtxRetain(&context, gpu->device));
	OK(cuCtxSetCurrent(context));
	OK(cuModuleLoadData(&module, code));
	OK(cuModuleGetFunction(&function, module, "busy"));
	OK(cuMemAlloc_v2(&sum, sizeof busy));
	OK(cuMemsetD32_v2(sum, 0, sizeof busy / 4));
	begin = seconds();
	while (seconds() < begin + gpu->lasts) {
		OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, args,
				  NULL));
		if (++launches % WAITING == 0)
			OK(cuCtxSynchronize());
	}
	OK(cuCtxSynchronize());
	gpu->percent = seconds() - begin;
	OK(cuMemcpyDtoH_v2(&busy, sum, sizeof busy));
	REQUIRE(busy >= launches * KERNEL_NS);
	gpu->percent = (double)busy / 1e7 / gpu->percent;
	OK(cuMemFree_v2(sum));
	OK(cuModuleUnload(module));
	OK(cuDevicePrimaryCtxRelease_v2(gpu->device));
	return NULL;
}

static int known_share(int argc, char **argv)
{
	const char *hami = getenv("CUDA_DEVICE_SM_LIMIT");

	return atoi(argc > 1 ? argv[1] : hami ? hami : "100");
}

int main(int argc, char **argv)
{
	static struct gpu gpus[GPUS];
	int share = known_share(argc, argv), count = 0;

	start();
	OK(cuDeviceGetCount(&count));
	if (count > GPUS)
		count = GPUS;
	for (int i = 0; i < count; i++) {
		OK(cuDeviceGet(&gpus[i].device, i));
		gpus[i].lasts = argc > 2 ? atof(argv[2]) : 2;
		REQUIRE(!pthread_create(&gpus[i].thread, NULL, keep_busy,
					&gpus[i]));
	}
	for (int i = 0; i < count; i++)
		pthread_join(gpus[i].thread, NULL);
	for (int i = 0; i < count; i++) {
		printf("GPU %d: %.1f%%\n", i, gpus[i].percent);
		REQUIRE(gpus[i].percent > 0);
		REQUIRE(gpus[i].percent <= share + ABOVE);
	}
	return 0;
}
