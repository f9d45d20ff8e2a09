/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.cu - the kernels of the driver API's programs. kernels.ptx is made
 * from it: nvcc -ptx -arch=compute_75 kernels.cu
 */
__device__ int counter = 5;
__constant__ int table[16];

extern "C" {

__global__ void add(const float *a, const float *b, float *to, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		to[i] = a[i] + b[i];
}

__global__ void fill(int *to, int value, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		to[i] = value;
}

__global__ void increment(int *at, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		at[i]++;
}

/* Writes where each thread is: a cell of a box of threads. */
__global__ void place(int *to)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x;
	int y = blockIdx.y * blockDim.y + threadIdx.y;
	int z = blockIdx.z * blockDim.z + threadIdx.z;
	int width = gridDim.x * blockDim.x, height = gridDim.y * blockDim.y;

	to[(z * height + y) * width + x] = x + 1000 * y + 1000000 * z;
}

__global__ void lookup(int *to)
{
	to[threadIdx.x] = table[threadIdx.x] + counter;
}

/* Takes longer with more rounds; the result depends on each. */
__global__ void spin(unsigned *to, unsigned rounds)
{
	unsigned x = 1;

	for (unsigned i = 0; i < rounds; i++)
		x = x * 1664525u + 1013904223u;
	*to = x;
}
}
