/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copies.cu - checks copies of all kinds and directions, and what they refuse.
 */
#include "runtime.h"

#define N 10000

int main(void)
{
	char *a = (char *)malloc(N), *b = (char *)malloc(N), *da, *db;

	for (int i = 0; i < N; i++)
		a[i] = (char)(i * 7);
	OK(cudaMalloc(&da, N));
	OK(cudaMalloc(&db, N));
	OK(cudaMemcpy(da, a, N, cudaMemcpyHostToDevice));
	OK(cudaMemcpy(db, da, N, cudaMemcpyDeviceToDevice));
	OK(cudaMemcpy(b, db, N, cudaMemcpyDeviceToHost));
	REQUIRE(!memcmp(a, b, N));

	/* The kind follows from the pointers; parts; nothing. */
	memset(b, 0, N);
	OK(cudaMemcpy(b + 17, db + 17, 1, cudaMemcpyDefault));
	EQUAL(b[16], 0);
	EQUAL(b[17], a[17]);
	EQUAL(b[18], 0);
	OK(cudaMemcpy(b, db, 0, cudaMemcpyDeviceToHost));
	OK(cudaMemcpy(b, a, N, cudaMemcpyHostToHost));
	REQUIRE(!memcmp(a, b, N));

	OK(cudaMemset(da, 0x5a, N));
	OK(cudaMemset(da + 1, 0, N - 2));
	OK(cudaMemcpy(b, da, N, cudaMemcpyDeviceToHost));
	EQUAL(b[0], 0x5a);
	EQUAL(b[N - 1], 0x5a);
	for (int i = 1; i < N - 1; i++)
		EQUAL(b[i], 0);

	EXPECT(cudaMemcpy(b, a, N, (cudaMemcpyKind)77),
	       cudaErrorInvalidMemcpyDirection);
	EXPECT(cudaMemcpy(da, a, (size_t)1 << 40, cudaMemcpyHostToDevice),
	       cudaErrorInvalidValue);
	EXPECT(cudaGetLastError(), cudaErrorInvalidValue);
	OK(cudaFree(da));
	OK(cudaFree(db));
	free(a), free(b);
	return 0;
}
