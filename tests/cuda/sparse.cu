/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sparse.cu - uses cuSPARSE among kernels: the matrix of a grid, made by a
 * kernel, times vectors and matrices; conjugate gradients with it; its product
 * with itself; triangular solves; dense to sparse and back. The library is
 * opened by name, so that the program is built without it.
 */
#include "runtime.h"

#include <dlfcn.h>
#include <math.h>

#define SIDE  24
#define N     (SIDE * SIDE)
#define COLS  3
#define STEPS 120

typedef struct cusparseContext *handle_t;
typedef struct cusparseSpMatDescr *sparse_t;
typedef struct cusparseDnVecDescr *vector_t;
typedef struct cusparseDnMatDescr *matrix_t;
typedef struct cusparseSpSVDescr *triangle_t;
typedef struct cusparseSpGEMMDescr *product_t;

enum { R_32F = 0, R_64F = 1 };
enum { INDEX_32 = 2, BASE_ZERO = 0, ORDER_COL = 1, ORDER_ROW = 2 };
enum { PLAIN = 0, TRANSPOSED = 1, FILL = 0, DIAG = 1, LOWER = 0, UPPER = 1 };

static int (*create)(handle_t *);
static int (*destroy)(handle_t);
static int (*set_stream)(handle_t, cudaStream_t);
static int (*create_csr)(sparse_t *, int64_t, int64_t, int64_t, void *, void *,
			 void *, int, int, int, int);
static int (*create_vector)(vector_t *, int64_t, void *, int);
static int (*create_matrix)(matrix_t *, int64_t, int64_t, int64_t, void *, int,
			    int);
static int (*set_attribute)(sparse_t, int, void *, size_t);
static int (*get_size)(sparse_t, int64_t *, int64_t *, int64_t *);
static int (*set_pointers)(sparse_t, void *, void *, void *);
static int (*spmv_size)(handle_t, int, const void *, sparse_t, vector_t,
			const void *, vector_t, int, int, size_t *);
static int (*spmv)(handle_t, int, const void *, sparse_t, vector_t,
		   const void *, vector_t, int, int, void *);
static int (*spmm_size)(handle_t, int, int, const void *, sparse_t, matrix_t,
			const void *, matrix_t, int, int, size_t *);
static int (*spmm)(handle_t, int, int, const void *, sparse_t, matrix_t,
		   const void *, matrix_t, int, int, void *);
static int (*new_triangle)(triangle_t *);
static int (*triangle_size)(handle_t, int, const void *, sparse_t, vector_t,
			    vector_t, int, int, triangle_t, size_t *);
static int (*analyse)(handle_t, int, const void *, sparse_t, vector_t, vector_t,
		      int, int, triangle_t, void *);
static int (*solve)(handle_t, int, const void *, sparse_t, vector_t, vector_t,
		    int, int, triangle_t);
static int (*new_product)(product_t *);
static int (*estimate)(handle_t, int, int, const void *, sparse_t, sparse_t,
		       const void *, sparse_t, int, int, product_t, size_t *,
		       void *);
static int (*compute)(handle_t, int, int, const void *, sparse_t, sparse_t,
		      const void *, sparse_t, int, int, product_t, size_t *,
		      void *);
static int (*copy)(handle_t, int, int, const void *, sparse_t, sparse_t,
		   const void *, sparse_t, int, int, product_t);
static int (*to_dense_size)(handle_t, sparse_t, matrix_t, int, size_t *);
static int (*to_dense)(handle_t, sparse_t, matrix_t, int, void *);

template <typename F>
static void find(void *library, F *function, const char *name)
{
	*function = (F)dlsym(library, name);
	if (!*function)
		WRONG("no %s", name);
}

static void open_library(void)
{
	void *library = dlopen("libcusparse.so.12", RTLD_NOW);

	if (!library)
		skip("no cuSPARSE here");
	find(library, &create, "cusparseCreate");
	find(library, &destroy, "cusparseDestroy");
	find(library, &set_stream, "cusparseSetStream");
	find(library, &create_csr, "cusparseCreateCsr");
	find(library, &create_vector, "cusparseCreateDnVec");
	find(library, &create_matrix, "cusparseCreateDnMat");
	find(library, &set_attribute, "cusparseSpMatSetAttribute");
	find(library, &get_size, "cusparseSpMatGetSize");
	find(library, &set_pointers, "cusparseCsrSetPointers");
	find(library, &spmv_size, "cusparseSpMV_bufferSize");
	find(library, &spmv, "cusparseSpMV");
	find(library, &spmm_size, "cusparseSpMM_bufferSize");
	find(library, &spmm, "cusparseSpMM");
	find(library, &new_triangle, "cusparseSpSV_createDescr");
	find(library, &triangle_size, "cusparseSpSV_bufferSize");
	find(library, &analyse, "cusparseSpSV_analysis");
	find(library, &solve, "cusparseSpSV_solve");
	find(library, &new_product, "cusparseSpGEMM_createDescr");
	find(library, &estimate, "cusparseSpGEMM_workEstimation");
	find(library, &compute, "cusparseSpGEMM_compute");
	find(library, &copy, "cusparseSpGEMM_copy");
	find(library, &to_dense_size, "cusparseSparseToDense_bufferSize");
	find(library, &to_dense, "cusparseSparseToDense");
}

/* Entries of the rows before one: 5 each, less those beyond the four edges. */
__host__ __device__ static int entries_before(int row)
{
	int y = row / SIDE, x = row % SIDE;
	int left = y + (x > 0), right = y;
	int top = row < SIDE ? row : SIDE;
	int bottom = row > N - SIDE ? row - (N - SIDE) : 0;

	return 5 * row - left - right - top - bottom;
}

/* Where entry `k` of a row's cross is; -1: outside the grid. */
__host__ __device__ static int neighbour(int row, int k)
{
	const int dy[] = {-1, 0, 0, 0, 1}, dx[] = {0, -1, 0, 1, 0};
	int y = row / SIDE + dy[k], x = row % SIDE + dx[k];

	return y < 0 || y >= SIDE || x < 0 || x >= SIDE ? -1 : y * SIDE + x;
}

__global__ void make_grid(int *offsets, int *columns, double *values)
{
	int row = (int)(blockIdx.x * blockDim.x + threadIdx.x);

	if (row > N)
		return;
	offsets[row] = entries_before(row);
	for (int k = 0, at = offsets[row]; k < 5 && row < N; k++) {
		int column = neighbour(row, k);

		if (column < 0)
			continue;
		columns[at] = column;
		values[at++] = k == 2 ? 4.5 : -1;
	}
}

__global__ void fill(double *x, int n, double scale)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

	if (i < n)
		x[i] = scale * (i % 7 - 3);
}

/* x += a y; a is a quotient of two numbers on the device. */
__global__ void add(double *x, const double *y, const double *over,
		    const double *under, double sign)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

	if (i < N)
		x[i] += sign * (*over / *under) * y[i];
}

/* p = r + (over / under) p */
__global__ void turn(double *p, const double *r, const double *over,
		     const double *under)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

	if (i < N)
		p[i] = r[i] + *over / *under * p[i];
}

/* One block, whose threads sum in a tree. */
__global__ void dot(const double *x, const double *y, double *sum)
{
	__shared__ double part[256];
	double s = 0;

	for (int i = (int)threadIdx.x; i < N; i += 256)
		s += x[i] * y[i];
	part[threadIdx.x] = s;
	for (unsigned n = 128; n; n /= 2) {
		__syncthreads();
		if (threadIdx.x < n)
			part[threadIdx.x] += part[threadIdx.x + n];
	}
	if (!threadIdx.x)
		*sum = part[0];
}

static double *numbers(size_t count)
{
	double *p;

	OK(cudaMalloc(&p, (count + 1) * sizeof *p));
	OK(cudaMemset(p, 0xff, (count + 1) * sizeof *p));
	OK(cudaDeviceSynchronize()); /* streams do not wait for it */
	return p;
}

static void *bytes(size_t size)
{
	void *p;

	OK(cudaMalloc(&p, size + 16));
	return p;
}

struct grid {
	int nnz, *offsets, *columns;
	double *values;
	sparse_t a;
};

static struct grid grid_of(cudaStream_t s)
{
	struct grid g = {entries_before(N), NULL, NULL, NULL, NULL};

	OK(cudaMalloc(&g.offsets, (N + 1) * sizeof(int)));
	OK(cudaMalloc(&g.columns, (size_t)g.nnz * sizeof(int)));
	g.values = numbers((size_t)g.nnz);
	make_grid<<<N / 256 + 1, 256, 0, s>>>(g.offsets, g.columns, g.values);
	EQUAL(create_csr(&g.a, N, N, g.nnz, g.offsets, g.columns, g.values,
			 INDEX_32, INDEX_32, BASE_ZERO, R_64F),
	      0);
	return g;
}

/* The grid's matrix times the values of fill(), on the host. */
static double expected_at(int row, double scale)
{
	double sum = 0;

	for (int k = 0; k < 5; k++) {
		int column = neighbour(row, k);

		if (column >= 0)
			sum += (k == 2 ? 4.5 : -1) * scale * (column % 7 - 3);
	}
	return sum;
}

static void near(double actual, double expected, double most)
{
	if (!(fabs(actual - expected) <= most))
		WRONG("%.17g, not %.17g", actual, expected);
}

static void times_a_vector(handle_t h, cudaStream_t s, const struct grid *g)
{
	double one = 1, half = 0.5, host[N], *x = numbers(N), *y = numbers(N);
	vector_t vx, vy;
	size_t size;
	void *buffer;

	EQUAL(create_vector(&vx, N, x, R_64F), 0);
	EQUAL(create_vector(&vy, N, y, R_64F), 0);
	fill<<<N / 256 + 1, 256, 0, s>>>(x, N, 1);
	fill<<<N / 256 + 1, 256, 0, s>>>(y, N, 2);
	EQUAL(spmv_size(h, PLAIN, &one, g->a, vx, &half, vy, R_64F, 0, &size),
	      0);
	buffer = bytes(size);
	EQUAL(spmv(h, PLAIN, &one, g->a, vx, &half, vy, R_64F, 0, buffer), 0);
	OK(cudaMemcpyAsync(host, y, sizeof host, cudaMemcpyDeviceToHost, s));
	OK(cudaStreamSynchronize(s));
	for (int i = 0; i < N; i++)
		near(host[i], expected_at(i, 1) + (i % 7 - 3), 1e-12);
	OK(cudaFree(buffer));
	OK(cudaFree(x));
	OK(cudaFree(y));
}

/* B by columns, C by rows; the old content of C is not read. */
static void times_a_matrix(handle_t h, cudaStream_t s, const struct grid *g)
{
	static double host[N * COLS];
	double two = 2, zero = 0, *b = numbers(N * COLS),
	       *c = numbers(N * COLS);
	matrix_t mb, mc;
	size_t size;
	void *buffer;

	for (int j = 0; j < COLS; j++)
		fill<<<N / 256 + 1, 256, 0, s>>>(b + j * N, N, j + 1);
	EQUAL(create_matrix(&mb, N, COLS, N, b, R_64F, ORDER_COL), 0);
	EQUAL(create_matrix(&mc, N, COLS, COLS, c, R_64F, ORDER_ROW), 0);
	EQUAL(spmm_size(h, TRANSPOSED, PLAIN, &two, g->a, mb, &zero, mc, R_64F,
			0, &size),
	      0);
	buffer = bytes(size);
	EQUAL(spmm(h, TRANSPOSED, PLAIN, &two, g->a, mb, &zero, mc, R_64F, 0,
		   buffer),
	      0);
	OK(cudaMemcpyAsync(host, c, sizeof host, cudaMemcpyDeviceToHost, s));
	OK(cudaStreamSynchronize(s));
	for (int i = 0; i < N * COLS; i++)
		near(host[i], 2 * expected_at(i / COLS, i % COLS + 1), 1e-12);
	OK(cudaFree(buffer));
	OK(cudaFree(b));
	OK(cudaFree(c));
}

/* Conjugate gradients, all in one stream: A x = b, b = A (known). */
static void gradients(handle_t h, cudaStream_t s, const struct grid *g)
{
	double one = 1, zero = 0, host[N], *known = numbers(N),
	       *x = numbers(N), *r = numbers(N), *p = numbers(N),
	       *ap = numbers(N), *sums = numbers(3);
	vector_t vk, vr, vp, vap;
	size_t size;
	void *buffer;

	EQUAL(create_vector(&vk, N, known, R_64F), 0);
	EQUAL(create_vector(&vr, N, r, R_64F), 0);
	EQUAL(create_vector(&vp, N, p, R_64F), 0);
	EQUAL(create_vector(&vap, N, ap, R_64F), 0);
	fill<<<N / 256 + 1, 256, 0, s>>>(known, N, 1);
	OK(cudaMemsetAsync(x, 0, N * sizeof *x, s));
	EQUAL(spmv_size(h, PLAIN, &one, g->a, vk, &zero, vr, R_64F, 0, &size),
	      0);
	buffer = bytes(size);
	EQUAL(spmv(h, PLAIN, &one, g->a, vk, &zero, vr, R_64F, 0, buffer), 0);
	OK(cudaMemcpyAsync(p, r, N * sizeof *p, cudaMemcpyDeviceToDevice, s));
	dot<<<1, 256, 0, s>>>(r, r, sums);
	for (int i = 0; i < STEPS; i++) {
		double *old = sums + i % 2, *now = sums + (i + 1) % 2;

		EQUAL(spmv(h, PLAIN, &one, g->a, vp, &zero, vap, R_64F, 0,
			   buffer),
		      0);
		dot<<<1, 256, 0, s>>>(p, ap, sums + 2);
		add<<<N / 256 + 1, 256, 0, s>>>(x, p, old, sums + 2, 1);
		add<<<N / 256 + 1, 256, 0, s>>>(r, ap, old, sums + 2, -1);
		dot<<<1, 256, 0, s>>>(r, r, now);
		turn<<<N / 256 + 1, 256, 0, s>>>(p, r, now, old);
		OK(cudaMemcpyAsync(host, now, sizeof *host,
				   cudaMemcpyDeviceToHost, s));
		OK(cudaStreamSynchronize(s));
		if (host[0] < 1e-22)
			break;
	}
	OK(cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost, s));
	OK(cudaStreamSynchronize(s));
	for (int i = 0; i < N; i++)
		near(host[i], i % 7 - 3, 1e-9);
	OK(cudaFree(buffer));
	OK(cudaFree(known));
	OK(cudaFree(x));
	OK(cudaFree(r));
	OK(cudaFree(p));
	OK(cudaFree(ap));
	OK(cudaFree(sums));
}

/* y from L y = x, and L y on the host, where L is below the diagonal. */
static void triangles(handle_t h, cudaStream_t s, const struct grid *g)
{
	int fill_mode = LOWER, diag = 0;
	double one = 1, host[N], *x = numbers(N), *y = numbers(N);
	triangle_t solver;
	vector_t vx, vy;
	size_t size;
	void *buffer;

	EQUAL(set_attribute(g->a, FILL, &fill_mode, sizeof fill_mode), 0);
	EQUAL(set_attribute(g->a, DIAG, &diag, sizeof diag), 0);
	EQUAL(create_vector(&vx, N, x, R_64F), 0);
	EQUAL(create_vector(&vy, N, y, R_64F), 0);
	fill<<<N / 256 + 1, 256, 0, s>>>(x, N, 1);
	EQUAL(new_triangle(&solver), 0);
	EQUAL(triangle_size(h, PLAIN, &one, g->a, vx, vy, R_64F, 0, solver,
			    &size),
	      0);
	buffer = bytes(size);
	EQUAL(analyse(h, PLAIN, &one, g->a, vx, vy, R_64F, 0, solver, buffer),
	      0);
	EQUAL(solve(h, PLAIN, &one, g->a, vx, vy, R_64F, 0, solver), 0);
	OK(cudaMemcpyAsync(host, y, sizeof host, cudaMemcpyDeviceToHost, s));
	OK(cudaStreamSynchronize(s));
	for (int i = 0; i < N; i++) {
		double sum = 4.5 * host[i];

		for (int k = 0; k < 2; k++)
			if (neighbour(i, k) >= 0)
				sum -= host[neighbour(i, k)];
		near(sum, i % 7 - 3, 1e-12);
	}
	OK(cudaFree(buffer));
	OK(cudaFree(x));
	OK(cudaFree(y));
}

/* A A as a sparse matrix, made dense, compared with loops. */
static void squared(handle_t h, cudaStream_t s, const struct grid *g)
{
	double one = 1, zero = 0, *values, *dense = numbers((size_t)N * N);
	double *host = (double *)malloc((size_t)N * N * sizeof *host);
	size_t size1 = 0, size2 = 0, size3 = 0;
	int64_t rows, cols, nnz;
	void *buffer1, *buffer2, *buffer3, *offsets = bytes((N + 1) * 4), *columns;
	product_t step;
	matrix_t d;
	sparse_t c;

#define OPERANDS h, PLAIN, PLAIN, &one, g->a, g->a, &zero, c, R_64F, 0, step
	EQUAL(create_csr(&c, N, N, 0, offsets, NULL, NULL, INDEX_32, INDEX_32,
			 BASE_ZERO, R_64F),
	      0);
	EQUAL(new_product(&step), 0);
	EQUAL(estimate(OPERANDS, &size1, NULL), 0);
	buffer1 = bytes(size1);
	EQUAL(estimate(OPERANDS, &size1, buffer1), 0);
	EQUAL(compute(OPERANDS, &size2, NULL), 0);
	buffer2 = bytes(size2);
	EQUAL(compute(OPERANDS, &size2, buffer2), 0);
	EQUAL(get_size(c, &rows, &cols, &nnz), 0);
	REQUIRE(rows == N && cols == N && nnz > g->nnz && nnz < 13 * N);
	columns = bytes((size_t)nnz * 4), values = numbers((size_t)nnz);
	EQUAL(set_pointers(c, offsets, columns, values), 0);
	EQUAL(copy(OPERANDS), 0);
	EQUAL(create_matrix(&d, N, N, N, dense, R_64F, ORDER_ROW), 0);
	EQUAL(to_dense_size(h, c, d, 0, &size3), 0);
	buffer3 = bytes(size3);
	EQUAL(to_dense(h, c, d, 0, buffer3), 0);
	OK(cudaMemcpyAsync(host, dense, (size_t)N * N * sizeof *host,
			   cudaMemcpyDeviceToHost, s));
	OK(cudaStreamSynchronize(s));
	for (int row = 0; row < N; row++) {
		static double line[N];

		memset(line, 0, sizeof line);
		for (int k = 0; k < 5; k++)
			for (int m = 0; m < 5 && neighbour(row, k) >= 0; m++)
				if (neighbour(neighbour(row, k), m) >= 0)
					line[neighbour(neighbour(row, k), m)] +=
					    (k == 2 ? 4.5 : -1) *
					    (m == 2 ? 4.5 : -1);
		for (int i = 0; i < N; i++)
			near(host[row * N + i], line[i], 1e-12);
	}
	free(host);
	OK(cudaFree(buffer1));
	OK(cudaFree(buffer2));
	OK(cudaFree(buffer3));
	OK(cudaFree(dense));
}

int main(void)
{
	cudaStream_t s;
	struct grid g;
	handle_t h;

	open_library();
	OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	EQUAL(create(&h), 0);
	EQUAL(set_stream(h, s), 0);
	g = grid_of(s);
	OK(cudaStreamSynchronize(s));
	times_a_vector(h, s, &g);
	times_a_matrix(h, s, &g);
	gradients(h, s, &g);
	triangles(h, s, &g);
	squared(h, s, &g);
	EQUAL(destroy(h), 0);
	OK(cudaStreamDestroy(s));
	return 0;
}
