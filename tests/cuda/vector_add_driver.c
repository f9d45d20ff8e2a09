/* SPDX-License-Identifier: Apache-2.0 */
/* vector_add_driver.c - sums vectors by a kernel that is loaded as text. */
#include "driver.h"

#define N 5000

static float a[N], b[N], to[N + 1];

int main(void)
{
	CUdeviceptr da, db, dto;
	CUmodule module;
	CUfunction add;
	int n = N;
	void *params[] = {&da, &db, &dto, &n};

	start();
	module = kernels();
	add = kernel(module, "add");
	for (int i = 0; i < N; i++) {
		a[i] = (float)i;
		b[i] = 0.25f;
	}
	to[N] = -1;
	OK(cuMemAlloc(&da, sizeof a));
	OK(cuMemAlloc(&db, sizeof b));
	OK(cuMemAlloc(&dto, sizeof to));
	OK(cuMemcpyHtoD(da, a, sizeof a));
	OK(cuMemcpyHtoD(db, b, sizeof b));
	OK(cuMemcpyHtoD(dto, to, sizeof to));
	OK(cuLaunchKernel(add, (N + 127) / 128, 1, 1, 128, 1, 1, 0, NULL,
			  params, NULL));
	OK(cuMemcpyDtoH(to, dto, sizeof to));
	for (int i = 0; i < N; i++)
		EQUAL_FLOAT(to[i], i + 0.25);
	EQUAL_FLOAT(to[N], -1);
	OK(cuMemFree(da));
	OK(cuMemFree(db));
	OK(cuMemFree(dto));
	OK(cuModuleUnload(module));
	return 0;
}
