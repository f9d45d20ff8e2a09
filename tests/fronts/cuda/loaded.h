/* SPDX-License-Identifier: Apache-2.0 */
/* loaded.h - loads modules of tests/data/ptx and the functions in them. */
#ifndef TESTS_CUDA_LOADED_H
#define TESTS_CUDA_LOADED_H

#include "fronts/cuda/alone.h"

#include <stdio.h>
#include <stdlib.h>

/* Makes the primary context of the first device current. */
static inline CUcontext begin(void)
{
	CUcontext ctx;

	assert_cuda(CU(cuInit)(0), SUCCESS);
	assert_cuda(CU(cuDevicePrimaryCtxRetain)(&ctx, 0), SUCCESS);
	assert_cuda(CU(cuCtxSetCurrent)(ctx), SUCCESS);
	return ctx;
}

static inline void *data_file(const char *name)
{
	char path[512];
	char *bytes = calloc(1, 1 << 16);
	FILE *f;

	snprintf(path, sizeof path, TEST_DATA "/ptx/%s", name);
	f = fopen(path, "rb");
	assert_non_null(bytes);
	assert_non_null(f);
	assert_true(fread(bytes, 1, 1 << 16, f) > 0);
	fclose(f);
	return bytes;
}

static inline CUmodule module_of(const char *name)
{
	void *image = data_file(name);
	CUmodule m;

	assert_cuda(CU(cuModuleLoadData)(&m, image), SUCCESS);
	free(image);
	return m;
}

static inline CUfunction function_in(CUmodule m, const char *name)
{
	CUfunction f;

	assert_cuda(CU(cuModuleGetFunction)(&f, m, name), SUCCESS);
	return f;
}

#endif
