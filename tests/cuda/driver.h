/* SPDX-License-Identifier: Apache-2.0 */
/* driver.h - checks for programs of the driver API; see check.h. */
#ifndef CUDA_DRIVER_CHECK_H
#define CUDA_DRIVER_CHECK_H

#include "check.h"

#include <cuda.h>

static inline const char *name_of(CUresult result)
{
	const char *name = NULL;

	return cuGetErrorName(result, &name) || !name ? "?" : name;
}

#define EXPECT(call, expected)                                                 \
	do {                                                                   \
		CUresult found_ = (call);                                      \
                                                                               \
		if (found_ != (expected))                                      \
			WRONG("%s: %s, not %s", #call, name_of(found_),        \
			      name_of(expected));                              \
	} while (0)

#define OK(call) EXPECT(call, CUDA_SUCCESS)

/* Makes the primary context of the first GPU current. */
static inline CUdevice start(void)
{
	CUdevice device;
	CUcontext context;

	OK(cuInit(0));
	OK(cuDeviceGet(&device, 0));
	OK(cuDevicePrimaryCtxRetain(&context, device));
	OK(cuCtxSetCurrent(context));
	return device;
}

/* The text of our kernels, from the file that KERNELS names. */
static inline char *kernels_text(void)
{
	FILE *file = fopen(KERNELS, "r");
	char *text = (char *)calloc(1, 1 << 20);

	if (!file || !text || !fread(text, 1, (1 << 20) - 1, file))
		WRONG("cannot read %s", KERNELS);
	fclose(file);
	return text;
}

/* Loads our kernels into the current context. */
static inline CUmodule kernels(void)
{
	CUmodule module;
	char *text = kernels_text();

	OK(cuModuleLoadData(&module, text));
	free(text);
	return module;
}

static inline CUfunction kernel(CUmodule module, const char *name)
{
	CUfunction function;

	OK(cuModuleGetFunction(&function, module, name));
	return function;
}

static inline double seconds_of(CUfunction spin, CUdeviceptr to,
				unsigned rounds)
{
	void *params[] = {&to, &rounds};
	double began = now();

	OK(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
	OK(cuCtxSynchronize());
	return now() - began;
}

/*
 * How many rounds of the kernel `spin` take at least 150 ms on this GPU,
 * whichever it is, doubled.
 */
static inline unsigned spin_rounds(CUfunction spin, CUdeviceptr to)
{
	unsigned rounds = 1000;

	while (seconds_of(spin, to, rounds) < 0.15 ||
	       seconds_of(spin, to, rounds) < 0.15)
		rounds *= 2;
	return rounds;
}

#endif
