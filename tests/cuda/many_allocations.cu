/* SPDX-License-Identifier: Apache-2.0 */
/*
 * many_allocations.cu - checks thousands of allocations at a time: separate,
 * found again, all freed.
 */
#include "runtime.h"

#define N 20000

static int by_address(const void *a, const void *b)
{
	const char *left = *(const char *const *)a;
	const char *right = *(const char *const *)b;

	return left < right ? -1 : left > right;
}

int main(void)
{
	static char *at[N];
	size_t before, after, total;
	cudaPointerAttributes found;
	char value;

	OK(cudaFree(0));
	OK(cudaMemGetInfo(&before, &total));
	for (int i = 0; i < N; i++)
		OK(cudaMalloc(&at[i], 1 + (size_t)(i % 700)));
	for (int i = 0; i < N; i += 999) {
		OK(cudaMemset(at[i], i % 100, 1));
		OK(cudaPointerGetAttributes(&found, at[i]));
		EQUAL(found.devicePointer, at[i]);
	}
	for (int i = 0; i < N; i += 999) {
		OK(cudaMemcpy(&value, at[i], 1, cudaMemcpyDeviceToHost));
		EQUAL(value, i % 100);
	}
	qsort(at, N, sizeof *at, by_address);
	for (int i = 1; i < N; i++)
		REQUIRE(at[i] - at[i - 1] >= 256);
	for (int i = 0; i < N; i++)
		OK(cudaFree(at[(i * 7919LL) % N]));
	OK(cudaMemGetInfo(&after, &total));
	REQUIRE(after <= before && before - after < 64 << 20);
	return 0;
}
