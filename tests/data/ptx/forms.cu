/* Forms of declarations and code that nvcc writes; compiled into what lies
 * beside it: nvcc -ptx -arch=compute_75 (typed registers) and compute_100. */
#include <cstdio>

struct pair_of {
	int a;
	double b;
};

__constant__ int table[2][2] = {{1, 2}, {3}};
__constant__ float ratios[3] = {0.5f, -1.25f, 3e10f};
__device__ int counter = 7;
__device__ int *to_counter = &counter;
__device__ double big[1000];
__managed__ int shared_by_both = -5;

extern "C" __global__ void __launch_bounds__(96, 2) bounded(int *out)
{
	out[threadIdx.x] = table[threadIdx.x & 1][threadIdx.x >> 1 & 1];
}

extern "C" __device__ __noinline__ float halves(float x, int n)
{
	return n ? x * 0.5f + halves(x - 1, n - 1) : sqrtf(x);
}

extern "C" __global__ void recursive(float *x)
{
	x[threadIdx.x] = halves(x[threadIdx.x], threadIdx.x & 7);
}

extern "C" __global__ void reduce(const int *in, int *out, pair_of p)
{
	__shared__ int sum[128];
	extern __shared__ int more[];
	int t = threadIdx.x;

	sum[t] = in[t] * p.a;
	more[t] = (int)p.b;
	__syncthreads();
	for (int k = 64; k; k >>= 1) {
		if (t < k)
			sum[t] += sum[t + k];
		__syncthreads();
	}
	if (!t)
		atomicAdd(out, sum[0] + more[5] + *to_counter);
}

extern "C" __global__ void assembled(unsigned *out)
{
	unsigned r;

	asm volatile("{ .reg .pred p; .reg .b32 n;\n"
		     "mov.u32 n, 0; again: add.u32 n, n, 3;\n"
		     "setp.lt.u32 p, n, %1; @p bra again; mov.u32 %0, n; }"
		     : "=r"(r)
		     : "r"(threadIdx.x));
	asm volatile("{ .reg .pred p; .reg .b32 n;\n"
		     "mov.u32 n, %0; again: add.u32 n, n, 5;\n"
		     "setp.lt.u32 p, n, 50; @p bra again; mov.u32 %0, n; }"
		     : "+r"(r));
	out[threadIdx.x] = r;
}

extern "C" __global__ void says(int n)
{
	printf("%d\n", n);
}

extern "C" __global__ void stirs(long long *x, unsigned char *bytes, int n)
{
	long long local[8];
	int t = threadIdx.x;

	for (int i = 0; i < 8; i++)
		local[i] = x[i] << i;
	switch (t % 5) {
	case 0:
		bytes[t] += 3;
		break;
	case 1:
		bytes[t] = (unsigned char)(local[n & 7] % 251);
		break;
	case 2:
		bytes[t] = bytes[t] / (n + 1);
		break;
	case 3:
		bytes[t] = (unsigned char)(int)(ratios[1] * t);
		break;
	default:
		bytes[t] = __popc(n * t);
	}
}
