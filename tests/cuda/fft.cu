/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fft.cu - uses cuFFT among kernels: a convolution by three transforms and a
 * kernel, planes of real numbers there and back, rows with gaps, a graph that
 * is launched repeatedly. The library is opened by name, so that the program is
 * built without it.
 */
#include "runtime.h"

#include <dlfcn.h>
#include <math.h>

#define N     4096
#define ROWS  48
#define COLS  31
#define HALF  (COLS / 2 + 1)
#define BATCH 5

enum { R2C = 0x2a, C2R = 0x2c, C2C = 0x29, Z2Z = 0x69 };
enum { FORWARD = -1, INVERSE = 1 };
enum { SUCCESS = 0, INVALID_PLAN = 1, INVALID_VALUE = 4, INVALID_SIZE = 8 };

static int (*plan_1d)(int *, int, int, int);
static int (*plan_2d)(int *, int, int, int);
static int (*plan_many)(int *, int, int *, int *, int, int, int *, int, int,
			int, int);
static int (*set_stream)(int, cudaStream_t);
static int (*exec_c2c)(int, float2 *, float2 *, int);
static int (*exec_z2z)(int, double2 *, double2 *, int);
static int (*exec_r2c)(int, float *, float2 *);
static int (*exec_c2r)(int, float2 *, float *);
static int (*destroy)(int);

template <typename F>
static void find(void *library, F *function, const char *name)
{
	*function = (F)dlsym(library, name);
	if (!*function)
		WRONG("no %s", name);
}

static void open_library(void)
{
	void *library = dlopen("libcufft.so.12", RTLD_NOW);

	if (!library)
		library = dlopen("libcufft.so.11", RTLD_NOW);
	if (!library)
		skip("no cuFFT here");
	find(library, &plan_1d, "cufftPlan1d");
	find(library, &plan_2d, "cufftPlan2d");
	find(library, &plan_many, "cufftPlanMany");
	find(library, &set_stream, "cufftSetStream");
	find(library, &exec_c2c, "cufftExecC2C");
	find(library, &exec_z2z, "cufftExecZ2Z");
	find(library, &exec_r2c, "cufftExecR2C");
	find(library, &exec_c2r, "cufftExecC2R");
	find(library, &destroy, "cufftDestroy");
}

static void near(double actual, double expected, double most)
{
	if (!(fabs(actual - expected) <= most))
		WRONG("%g is not %g", actual, expected);
}

/* A box of three values of 1/3, and single ones at multiples of 64. */
__global__ void fill(float2 *box, float2 *x)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	box[i] = make_float2(i < 3 ? 1.0f / 3 : 0, 0);
	x[i] = make_float2(i % 64 == 0 ? i / 64 : 0, 0);
}

__global__ void multiply(float2 *x, const float2 *by)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float2 a = x[i], b = by[i];

	x[i] = make_float2((a.x * b.x - a.y * b.y) / N,
			   (a.x * b.y + a.y * b.x) / N);
}

/* Everything is in one stream, without waits in between. */
static void convolve(void)
{
	static float2 host[N];
	float2 *box, *x;
	cudaStream_t stream;
	int plan;

	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaMalloc(&box, sizeof host));
	OK(cudaMalloc(&x, sizeof host));
	EQUAL(plan_1d(&plan, N, C2C, 1), SUCCESS);
	EQUAL(set_stream(plan, stream), SUCCESS);
	fill<<<N / 256, 256, 0, stream>>>(box, x);
	EQUAL(exec_c2c(plan, box, box, FORWARD), SUCCESS);
	EQUAL(exec_c2c(plan, x, x, FORWARD), SUCCESS);
	multiply<<<N / 256, 256, 0, stream>>>(x, box);
	EQUAL(exec_c2c(plan, x, x, INVERSE), SUCCESS);
	OK(cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost,
			   stream));
	OK(cudaStreamSynchronize(stream));
	for (int i = 0; i < N; i++) {
		near(host[i].x, i % 64 < 3 ? i / 64 / 3.0 : 0, 1e-4);
		near(host[i].y, 0, 1e-4);
	}
	EQUAL(destroy(plan), SUCCESS);
	OK(cudaStreamDestroy(stream));
	OK(cudaFree(box));
	OK(cudaFree(x));
}

/*
 * A plane wave has one value on each side of its spectrum; and back, in place.
 */
static void transform_planes(void)
{
	static float host[ROWS * 2 * HALF];
	static float2 spectrum[ROWS * HALF];
	float *x, *padded;
	float2 *to;
	int there, back;

	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < COLS; j++)
			host[i * COLS + j] = (float)cos(
			    2 * M_PI * (5.0 * i / ROWS + 3.0 * j / COLS));
	OK(cudaMalloc(&x, sizeof host));
	OK(cudaMalloc(&to, sizeof spectrum));
	OK(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
	EQUAL(plan_2d(&there, ROWS, COLS, R2C), SUCCESS);
	EQUAL(plan_2d(&back, ROWS, COLS, C2R), SUCCESS);
	EQUAL(exec_r2c(there, x, to), SUCCESS);
	OK(cudaMemcpy(spectrum, to, sizeof spectrum, cudaMemcpyDeviceToHost));
	for (int i = 0; i < ROWS * HALF; i++) {
		near(spectrum[i].x, i == 5 * HALF + 3 ? ROWS * COLS / 2.0 : 0,
		     2e-3);
		near(spectrum[i].y, 0, 2e-3);
	}
	padded = (float *)to;
	EQUAL(exec_c2r(back, to, padded), SUCCESS);
	memcpy(spectrum, host, sizeof(float) * ROWS * COLS);
	OK(cudaMemcpy(host, padded, sizeof host, cudaMemcpyDeviceToHost));
	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < COLS; j++)
			near(host[i * 2 * HALF + j] / (ROWS * COLS),
			     ((float *)spectrum)[i * COLS + j], 1e-5);
	EQUAL(destroy(there), SUCCESS);
	EQUAL(destroy(back), SUCCESS);
	OK(cudaFree(x));
	OK(cudaFree(to));
}

/* Columns of a matrix: every BATCH-th value, constant in each column. */
static void transform_columns(void)
{
	static double2 host[COLS * BATCH];
	double2 *x;
	int n = COLS, embed = COLS, plan;

	for (int i = 0; i < COLS * BATCH; i++)
		host[i].x = i % BATCH + 1;
	OK(cudaMalloc(&x, sizeof host));
	OK(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
	EQUAL(plan_many(&plan, 1, &n, &embed, BATCH, 1, &embed, BATCH, 1, Z2Z,
			BATCH),
	      SUCCESS);
	EQUAL(exec_z2z(plan, x, x, FORWARD), SUCCESS);
	OK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
	for (int i = 0; i < COLS * BATCH; i++) {
		near(host[i].x, i < BATCH ? COLS * (i + 1) : 0, 1e-12);
		near(host[i].y, 0, 1e-12);
	}
	EQUAL(destroy(plan), SUCCESS);
	OK(cudaFree(x));
}

__global__ void scale(float2 *x, float by)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	x[i] = make_float2(x[i].x * by, x[i].y * by);
}

/* There and back, doubled each time the graph is launched. */
static void replay(void)
{
	static float2 host[N];
	cudaStream_t stream;
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	float2 *x;
	int plan;

	for (int i = 0; i < N; i++)
		host[i] = make_float2(i % 7, i % 5);
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaMalloc(&x, sizeof host));
	OK(cudaMemcpyAsync(x, host, sizeof host, cudaMemcpyHostToDevice,
			   stream));
	EQUAL(plan_1d(&plan, N, C2C, 1), SUCCESS);
	EQUAL(set_stream(plan, stream), SUCCESS);
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	EQUAL(exec_c2c(plan, x, x, FORWARD), SUCCESS);
	EQUAL(exec_c2c(plan, x, x, INVERSE), SUCCESS);
	scale<<<N / 256, 256, 0, stream>>>(x, 2.0f / N);
	OK(cudaStreamEndCapture(stream, &graph));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < 3; i++)
		OK(cudaGraphLaunch(exec, stream));
	OK(cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost,
			   stream));
	OK(cudaStreamSynchronize(stream));
	for (int i = 0; i < N; i++) {
		near(host[i].x, 8 * (i % 7), 1e-3);
		near(host[i].y, 8 * (i % 5), 1e-3);
	}
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(graph));
	EQUAL(destroy(plan), SUCCESS);
	OK(cudaStreamDestroy(stream));
	OK(cudaFree(x));
}

static void make_mistakes(void)
{
	int plan = -9;

	EQUAL(plan_1d(&plan, 0, C2C, 1), INVALID_SIZE);
	EQUAL(plan_1d(&plan, -4, C2C, 1), INVALID_SIZE);
	EQUAL(plan_1d(&plan, 8, C2C, 1), SUCCESS);
	EQUAL(exec_c2c(plan, NULL, NULL, FORWARD), INVALID_VALUE);
	EQUAL(destroy(plan), SUCCESS);
	EQUAL(destroy(plan), INVALID_PLAN);
	OK(cudaDeviceSynchronize());
}

int main(void)
{
	open_library();
	convolve();
	transform_planes();
	transform_columns();
	replay();
	make_mistakes();
	return 0;
}
