/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cancelled.c - cancels a thread while it launches and allocates; the work of
 * others must continue afterwards. No function of a driver is a cancellation
 * point.
 */
#include "abi/cuda/cuda_abi.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char text[] = ".version 7.0\n"
			   ".target sm_70\n"
			   ".address_size 64\n"
			   ".visible .entry nothing() { ret; }\n";

static void *driver;
static CUcontext context;
static CUfunction kernel;

#define CALL(f, ...) check(((__typeof__(f) *)dlsym(driver, #f))(__VA_ARGS__))

static void check(CUresult r)
{
	if (r) {
		fprintf(stderr, "error %d\n", (int)r);
		exit(1);
	}
}

static void work(void)
{
	CUdeviceptr memory;

	CALL(cuCtxSetCurrent, context);
	for (int i = 0; i < 2000; i++)
		CALL(cuLaunchKernel, kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL,
		     NULL);
	CALL(cuMemAlloc_v2, &memory, 1 << 20);
	CALL(cuMemFree_v2, memory);
	CALL(cuCtxSynchronize);
}

static void *be_cancelled(void *arg)
{
	pthread_cancel(pthread_self());
	work();
	pthread_testcancel();
	return arg;
}

int main(void)
{
	CUmodule module;
	pthread_t thread;
	void *result;

	alarm(30);
	driver = dlopen("libcuda.so.1", RTLD_NOW);
	CALL(cuInit, 0);
	CALL(cuCtxCreate_v2, &context, 0, 0);
	CALL(cuModuleLoadData, &module, text);
	CALL(cuModuleGetFunction, &kernel, module, "nothing");
	pthread_create(&thread, NULL, be_cancelled, NULL);
	pthread_join(thread, &result);
	work();
	puts(result == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
	return 0;
}
