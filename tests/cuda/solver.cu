/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solver.cu - uses cuSOLVER among kernels: matrices made by kernels are
 * factored by pivots, by Cholesky and by reflections, solved, and decomposed
 * into singular values and eigenvalues. The results are multiplied together
 * again by loops. The library is opened by name, so that the program is built
 * without it.
 */
#include "runtime.h"

#include <dlfcn.h>
#include <math.h>

#define N    40
#define ROWS 50

typedef struct cusolverDnContext *handle_t;
typedef struct cusolverDnParams *params_t;

enum { LOWER = 0, OP_N = 0, OP_T = 1, LEFT = 0, VECTORS = 1, R_64F = 1 };

static int (*create)(handle_t *);
static int (*destroy)(handle_t);
static int (*set_stream)(handle_t, cudaStream_t);
static int (*create_params)(params_t *);
static int (*getrf_size)(handle_t, int, int, double *, int, int *);
static int (*getrf)(handle_t, int, int, double *, int, double *, int *, int *);
static int (*getrs)(handle_t, int, int, int, const double *, int, const int *,
		    double *, int, int *);
static int (*xpotrf_size)(handle_t, params_t, int, int64_t, int, const void *,
			  int64_t, int, size_t *, size_t *);
static int (*xpotrf)(handle_t, params_t, int, int64_t, int, void *, int64_t,
		     int, void *, size_t, void *, size_t, int *);
static int (*xpotrs)(handle_t, params_t, int, int64_t, int64_t, int,
		     const void *, int64_t, int, void *, int64_t, int *);
static int (*geqrf_size)(handle_t, int, int, double *, int, int *);
static int (*geqrf)(handle_t, int, int, double *, int, double *, double *, int,
		    int *);
static int (*ormqr_size)(handle_t, int, int, int, int, int, const double *, int,
			 const double *, const double *, int, int *);
static int (*ormqr)(handle_t, int, int, int, int, int, const double *, int,
		    const double *, double *, int, double *, int, int *);
static int (*gesvd_size)(handle_t, int, int, int *);
static int (*gesvd)(handle_t, signed char, signed char, int, int, double *, int,
		    double *, double *, int, double *, int, double *, int,
		    double *, int *);
static int (*syevd_size)(handle_t, int, int, int, const double *, int,
			 const double *, int *);
static int (*syevd)(handle_t, int, int, int, double *, int, double *, double *,
		    int, int *);

template <typename F>
static void find(void *library, F *function, const char *name)
{
	*function = (F)dlsym(library, name);
	if (!*function)
		WRONG("no %s", name);
}

static void open_library(void)
{
	void *library = dlopen("libcusolver.so.12", RTLD_NOW);

	if (!library)
		library = dlopen("libcusolver.so.11", RTLD_NOW);
	if (!library)
		skip("no cuSOLVER here");
	find(library, &create, "cusolverDnCreate");
	find(library, &destroy, "cusolverDnDestroy");
	find(library, &set_stream, "cusolverDnSetStream");
	find(library, &create_params, "cusolverDnCreateParams");
	find(library, &getrf_size, "cusolverDnDgetrf_bufferSize");
	find(library, &getrf, "cusolverDnDgetrf");
	find(library, &getrs, "cusolverDnDgetrs");
	find(library, &xpotrf_size, "cusolverDnXpotrf_bufferSize");
	find(library, &xpotrf, "cusolverDnXpotrf");
	find(library, &xpotrs, "cusolverDnXpotrs");
	find(library, &geqrf_size, "cusolverDnDgeqrf_bufferSize");
	find(library, &geqrf, "cusolverDnDgeqrf");
	find(library, &ormqr_size, "cusolverDnDormqr_bufferSize");
	find(library, &ormqr, "cusolverDnDormqr");
	find(library, &gesvd_size, "cusolverDnDgesvd_bufferSize");
	find(library, &gesvd, "cusolverDnDgesvd");
	find(library, &syevd_size, "cusolverDnDsyevd_bufferSize");
	find(library, &syevd, "cusolverDnDsyevd");
}

/* Numbers without a pattern in [-1, 1), the same on host and device. */
__host__ __device__ static double number_at(int row, int col)
{
	unsigned x = (unsigned)(row * 131 + col + 1) * 2654435761u;

	x ^= x >> 15;
	x *= 2246822519u;
	x ^= x >> 13;
	return (double)x / 2147483648.0 - 1;
}

/* Symmetric, with a dominant diagonal. */
__host__ __device__ static double definite_at(int row, int col)
{
	return row == col ? N + 1.0
			  : number_at(row < col ? row : col,
				      row < col ? col : row);
}

__global__ void make(double *a, int rows, int cols, bool definite)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	int row = i % rows, col = i / rows;

	if (col < cols)
		a[i] = definite ? definite_at(row, col) : number_at(row, col);
}

/* b = a x with x[i] = i % 5 - 2. */
__global__ void right_side(const double *a, double *b, int rows, int cols)
{
	int row = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	double sum = 0;

	if (row >= rows)
		return;
	for (int j = 0; j < cols; j++)
		sum += a[j * rows + row] * (j % 5 - 2);
	b[row] = sum;
}

struct problem {
	handle_t h;
	cudaStream_t s;
	double *a, *b, *tau, *values, *u, *vt;
	int *pivots, *info;
};

static double *numbers(size_t count)
{
	double *p;

	OK(cudaMalloc(&p, count * sizeof *p));
	OK(cudaMemset(p, 0xff, count * sizeof *p));
	OK(cudaDeviceSynchronize()); /* streams do not wait for fill() */
	return p;
}

static void make_problem(struct problem *p, int rows, int cols, bool definite)
{
	make<<<ROWS * ROWS / 256 + 1, 256, 0, p->s>>>(p->a, rows, cols,
						      definite);
	right_side<<<1, 256, 0, p->s>>>(p->a, p->b, rows, cols);
	LAUNCHED();
}

static void fetch(struct problem *p, double *to, const double *from,
		  size_t count)
{
	OK(cudaMemcpyAsync(to, from, count * sizeof *to, cudaMemcpyDeviceToHost,
			   p->s));
	OK(cudaStreamSynchronize(p->s));
}

static void all_went_well(struct problem *p)
{
	int info = -1;

	OK(cudaMemcpyAsync(&info, p->info, sizeof info, cudaMemcpyDeviceToHost,
			   p->s));
	OK(cudaStreamSynchronize(p->s));
	EQUAL(info, 0);
}

static void near(double actual, double expected)
{
	if (!(fabs(actual - expected) <= 1e-9))
		WRONG("%.17g, not %.17g", actual, expected);
}

/* b has become the x from which it was made. */
static void is_solved(struct problem *p)
{
	double x[N];

	all_went_well(p);
	fetch(p, x, p->b, N);
	for (int i = 0; i < N; i++)
		near(x[i], i % 5 - 2);
}

static void by_pivots(struct problem *p)
{
	double *work;
	int size;

	make_problem(p, N, N, false);
	EQUAL(getrf_size(p->h, N, N, p->a, N, &size), 0);
	work = numbers((size_t)size);
	EQUAL(getrf(p->h, N, N, p->a, N, work, p->pivots, p->info), 0);
	all_went_well(p);
	EQUAL(getrs(p->h, OP_N, N, 1, p->a, N, p->pivots, p->b, N, p->info), 0);
	is_solved(p);
	OK(cudaFree(work));
}

static void by_cholesky(struct problem *p)
{
	size_t on_device, on_host;
	params_t params;
	void *work, *host;

	make_problem(p, N, N, true);
	EQUAL(create_params(&params), 0);
	EQUAL(xpotrf_size(p->h, params, LOWER, N, R_64F, p->a, N, R_64F,
			  &on_device, &on_host),
	      0);
	OK(cudaMalloc(&work, on_device + 1));
	host = malloc(on_host + 1);
	EQUAL(xpotrf(p->h, params, LOWER, N, R_64F, p->a, N, R_64F, work,
		     on_device, host, on_host, p->info),
	      0);
	all_went_well(p);
	EQUAL(xpotrs(p->h, params, LOWER, N, 1, R_64F, p->a, N, R_64F, p->b, N,
		     p->info),
	      0);
	is_solved(p);
	OK(cudaFree(work));
	free(host);
}

/* More rows than columns: Q^T b has R x at its top, solved here by loops. */
static void by_reflections(struct problem *p)
{
	static double r[ROWS * N], x[ROWS];
	int size1, size2;
	double *work;

	make_problem(p, ROWS, N, false);
	EQUAL(geqrf_size(p->h, ROWS, N, p->a, ROWS, &size1), 0);
	EQUAL(ormqr_size(p->h, LEFT, OP_T, ROWS, 1, N, p->a, ROWS, p->tau, p->b,
			 ROWS, &size2),
	      0);
	size1 = size1 > size2 ? size1 : size2;
	work = numbers((size_t)size1);
	EQUAL(geqrf(p->h, ROWS, N, p->a, ROWS, p->tau, work, size1, p->info),
	      0);
	all_went_well(p);
	EQUAL(ormqr(p->h, LEFT, OP_T, ROWS, 1, N, p->a, ROWS, p->tau, p->b,
		    ROWS, work, size1, p->info),
	      0);
	all_went_well(p);
	fetch(p, r, p->a, ROWS * N);
	fetch(p, x, p->b, ROWS);
	for (int i = N - 1; i >= 0; i--) {
		for (int j = i + 1; j < N; j++)
			x[i] -= r[j * ROWS + i] * x[j];
		x[i] /= r[i * ROWS + i];
		near(x[i], i % 5 - 2);
	}
	for (int i = N; i < ROWS; i++)
		near(x[i], 0);
	OK(cudaFree(work));
}

static void singular_values(struct problem *p)
{
	static double u[ROWS * ROWS], vt[N * N];
	double s[N], *work;
	int size;

	make_problem(p, ROWS, N, false);
	EQUAL(gesvd_size(p->h, ROWS, N, &size), 0);
	work = numbers((size_t)size);
	EQUAL(gesvd(p->h, 'A', 'A', ROWS, N, p->a, ROWS, p->values, p->u, ROWS,
		    p->vt, N, work, size, NULL, p->info),
	      0);
	all_went_well(p);
	fetch(p, s, p->values, N);
	fetch(p, u, p->u, ROWS * ROWS);
	fetch(p, vt, p->vt, N * N);
	for (int i = 1; i < N; i++)
		REQUIRE(s[i] <= s[i - 1] && s[i] >= 0);
	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < N; j++) {
			double sum = 0;

			for (int k = 0; k < N; k++)
				sum += u[k * ROWS + i] * s[k] * vt[j * N + k];
			near(sum, number_at(i, j));
		}
	OK(cudaFree(work));
}

static void eigenvalues(struct problem *p)
{
	static double v[N * N];
	double w[N], *work;
	int size;

	make_problem(p, N, N, true);
	EQUAL(syevd_size(p->h, VECTORS, LOWER, N, p->a, N, p->values, &size),
	      0);
	work = numbers((size_t)size);
	EQUAL(syevd(p->h, VECTORS, LOWER, N, p->a, N, p->values, work, size,
		    p->info),
	      0);
	all_went_well(p);
	fetch(p, w, p->values, N);
	fetch(p, v, p->a, N * N);
	for (int k = 0; k < N; k++) {
		REQUIRE(w[k] > 0 && (!k || w[k] >= w[k - 1]));
		for (int i = 0; i < N; i++) {
			double sum = 0;

			for (int j = 0; j < N; j++)
				sum += definite_at(i, j) * v[k * N + j];
			near(sum, w[k] * v[k * N + i]);
		}
	}
	OK(cudaFree(work));
}

int main(void)
{
	struct problem p;

	open_library();
	OK(cudaStreamCreateWithFlags(&p.s, cudaStreamNonBlocking));
	EQUAL(create(&p.h), 0);
	EQUAL(set_stream(p.h, p.s), 0);
	p.a = numbers(ROWS * ROWS);
	p.b = numbers(ROWS);
	p.tau = numbers(ROWS);
	p.values = numbers(ROWS);
	p.u = numbers(ROWS * ROWS);
	p.vt = numbers(ROWS * ROWS);
	OK(cudaMalloc(&p.pivots, ROWS * sizeof(int)));
	OK(cudaMalloc(&p.info, sizeof(int)));
	by_pivots(&p);
	by_cholesky(&p);
	by_reflections(&p);
	singular_values(&p);
	eigenvalues(&p);
	EQUAL(destroy(p.h), 0);
	OK(cudaStreamDestroy(p.s));
	return 0;
}
