/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matrix.cu - computes a product of matrices by a grid of two dimensions that
 * covers more.
 */
#include "runtime.h"

#define ROWS  70
#define INNER 45
#define COLS  83

__global__ void multiply(const float *a, const float *b, float *to)
{
	int row = blockIdx.y * blockDim.y + threadIdx.y;
	int col = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

	if (row >= ROWS || col >= COLS)
		return;
	for (int i = 0; i < INNER; i++)
		sum += a[row * INNER + i] * b[i * COLS + col];
	to[row * COLS + col] = sum;
}

static float a[ROWS * INNER], b[INNER * COLS], to[ROWS * COLS];

int main(void)
{
	dim3 block(16, 8), grid((COLS + 15) / 16, (ROWS + 7) / 8);
	float *da, *db, *dto;

	for (int i = 0; i < ROWS * INNER; i++)
		a[i] = (float)(i % 13);
	for (int i = 0; i < INNER * COLS; i++)
		b[i] = (float)(i % 7) - 3;
	OK(cudaMalloc(&da, sizeof a));
	OK(cudaMalloc(&db, sizeof b));
	OK(cudaMalloc(&dto, sizeof to));
	OK(cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice));
	OK(cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice));
	multiply<<<grid, block>>>(da, db, dto);
	LAUNCHED();
	OK(cudaMemcpy(to, dto, sizeof to, cudaMemcpyDeviceToHost));
	for (int row = 0; row < ROWS; row++)
		for (int col = 0; col < COLS; col++) {
			float sum = 0;

			for (int i = 0; i < INNER; i++)
				sum += a[row * INNER + i] * b[i * COLS + col];
			EQUAL_FLOAT(to[row * COLS + col], sum);
		}
	OK(cudaFree(da));
	OK(cudaFree(db));
	OK(cudaFree(dto));
	return 0;
}
