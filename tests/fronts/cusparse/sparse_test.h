/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sparse_test.h - the drop-in libcusparse on a fake machine, and models to
 * compare it with: small dense matrices of whole numbers, which every type
 * holds exactly, so that results are compared bit by bit.
 */
#ifndef TESTS_CUSPARSE_H
#define TESTS_CUSPARSE_H

#include "abi/libraries/cusparse_abi.h"
#include "fronts/cuda/memory_fixture.h"

#include <complex.h>
#include <math.h>

/* SP(cusparseCreate)(&handle) calls it with the type from its row. */
#define SP(symbol) ((__typeof__(&symbol))sparse_symbol(#symbol))
#define assert_sparse(call, status)                                            \
	assert_int_equal((call), CUSPARSE_STATUS_##status)

#define SIDE 40 /* no model is larger */

static void *sparse_library;
static cusparseHandle_t sparse;
static uint64_t dice = 88172645463325252u;

static inline void *sparse_symbol(const char *name)
{
	void *at = dlsym(sparse_library, name);

	if (!at)
		fail_msg("no %s", name);
	return at;
}

static inline int sparse_setup(void **state)
{
	memory_setup(state);
	sparse_library =
	    dlopen(FAKE_DIR "/libcusparse.so.12", RTLD_NOW | RTLD_LOCAL);
	assert_non_null(sparse_library);
	assert_sparse(SP(cusparseCreate)(&sparse), SUCCESS);
	return 0;
}

static inline int sparse_teardown(void **state)
{
	assert_sparse(SP(cusparseDestroy)(sparse), SUCCESS);
	return memory_teardown(state);
}

static inline int throw_dice(int sides)
{
	return (int)(next_random(&dice) % (uint64_t)sides);
}

/* ---- numbers ---- */

static inline size_t type_size(cudaDataType type)
{
	static const size_t sizes[] = {
	    [CUDA_R_32F] = 4, [CUDA_R_64F] = 8, [CUDA_R_16F] = 2,
	    [CUDA_R_8I] = 1,  [CUDA_C_32F] = 8, [CUDA_C_64F] = 16,
	    [CUDA_C_16F] = 4, [CUDA_R_32I] = 4, [CUDA_R_16BF] = 2,
	    [CUDA_C_16BF] = 4};

	return sizes[type];
}

static inline bool type_is_complex(cudaDataType type)
{
	return type == CUDA_C_32F || type == CUDA_C_64F || type == CUDA_C_16F ||
	       type == CUDA_C_16BF;
}

/* Whole numbers below 2^11, which a half holds exactly. */
static inline uint16_t half_of(double v)
{
	int e;

	if (isnan(v))
		return 0x7e00;
	if (v == 0)
		return 0;
	frexp(v, &e);
	return (uint16_t)((v < 0) << 15 | (e + 14) << 10 |
			  ((int)ldexp(fabs(v), 11 - e) & 0x3ff));
}

static inline double of_half(uint16_t bits)
{
	double m = bits & 0x3ff;
	int e = bits >> 10 & 31;

	if (e == 31)
		return m ? (double)NAN : (double)INFINITY;
	m = e ? ldexp(m + 1024, e - 25) : ldexp(m, -24);
	return bits >> 15 ? -m : m;
}

static inline void put_part(cudaDataType type, void *to, size_t i, double v)
{
	float f = (float)v;

	switch ((int)type) {
	case CUDA_R_32F:
	case CUDA_C_32F:
		((float *)to)[i] = f;
		break;
	case CUDA_R_64F:
	case CUDA_C_64F:
		((double *)to)[i] = v;
		break;
	case CUDA_R_16F:
	case CUDA_C_16F:
		((uint16_t *)to)[i] = half_of(v);
		break;
	case CUDA_R_16BF:
	case CUDA_C_16BF:
		memcpy((uint16_t *)to + i, (char *)&f + 2, 2);
		break;
	case CUDA_R_8I:
		((int8_t *)to)[i] = (int8_t)v;
		break;
	case CUDA_R_32I:
		((int32_t *)to)[i] = isnan(v) ? 12345 : (int32_t)v;
		break;
	}
}

static inline double get_part(cudaDataType type, const void *from, size_t i)
{
	float f = 0;

	switch ((int)type) {
	case CUDA_R_32F:
	case CUDA_C_32F:
		return (double)((const float *)from)[i];
	case CUDA_R_64F:
	case CUDA_C_64F:
		return ((const double *)from)[i];
	case CUDA_R_16F:
	case CUDA_C_16F:
		return of_half(((const uint16_t *)from)[i]);
	case CUDA_R_16BF:
	case CUDA_C_16BF:
		memcpy((char *)&f + 2, (const uint16_t *)from + i, 2);
		return (double)f;
	case CUDA_R_8I:
		return ((const int8_t *)from)[i];
	case CUDA_R_32I:
		return ((const int32_t *)from)[i];
	}
	return 0;
}

static inline void put(cudaDataType type, void *to, size_t i, double complex v)
{
	if (!type_is_complex(type)) {
		put_part(type, to, i, creal(v));
		return;
	}
	put_part(type, to, 2 * i, creal(v));
	put_part(type, to, 2 * i + 1, cimag(v));
}

static inline double complex get(cudaDataType type, const void *from, size_t i)
{
	if (!type_is_complex(type))
		return get_part(type, from, i);
	return __builtin_complex(get_part(type, from, 2 * i),
				 get_part(type, from, 2 * i + 1));
}

/* A whole number in [-2, 2], with an imaginary part for complex types. */
static inline double complex any_number(cudaDataType type)
{
	double re = throw_dice(5) - 2;

	return __builtin_complex(
	    re, type_is_complex(type) ? (double)(throw_dice(5) - 2) : 0.0);
}

/* ---- device memory ---- */

static inline void *upload(const void *from, size_t size)
{
	CUdeviceptr p = device_alloc(size + 1);

	if (size)
		assert_cuda(CU(cuMemcpyHtoD_v2)(p, from, size), SUCCESS);
	return (void *)(uintptr_t)p;
}

static inline void download(void *to, const void *from, size_t size)
{
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	if (size)
		assert_cuda(CU(cuMemcpyDtoH_v2)(to, (uintptr_t)from, size),
			    SUCCESS);
}

static inline void drop(void *p)
{
	device_free((uintptr_t)p);
}

/* ---- models ---- */

struct model {
	int rows, cols;
	double complex at[SIDE][SIDE];
};

static inline void model_random(struct model *m, int rows, int cols,
				cudaDataType type, int sparsity)
{
	*m = (struct model){.rows = rows, .cols = cols};
	for (int i = 0; i < rows; i++)
		for (int j = 0; j < cols; j++)
			if (!throw_dice(sparsity))
				m->at[i][j] = any_number(type);
}

/* op(m). */
static inline struct model model_op(const struct model *m,
				    cusparseOperation_t op)
{
	struct model r = *m;

	if (op == CUSPARSE_OPERATION_NON_TRANSPOSE)
		return r;
	r.rows = m->cols, r.cols = m->rows;
	for (int i = 0; i < m->rows; i++)
		for (int j = 0; j < m->cols; j++)
			r.at[j][i] = op == CUSPARSE_OPERATION_TRANSPOSE
					 ? m->at[i][j]
					 : conj(m->at[i][j]);
	return r;
}

/* alpha a b + beta c */
static inline struct model
model_product(double complex alpha, const struct model *a,
	      const struct model *b, double complex beta, const struct model *c)
{
	struct model r = {.rows = a->rows, .cols = b->cols};

	for (int i = 0; i < r.rows; i++)
		for (int j = 0; j < r.cols; j++) {
			for (int k = 0; k < a->cols; k++)
				r.at[i][j] += a->at[i][k] * b->at[k][j];
			r.at[i][j] = alpha * r.at[i][j];
			if (beta != 0)
				r.at[i][j] += beta * c->at[i][j];
		}
	return r;
}

/*
 * A dense matrix on the device; ld includes a gap, which must not be written.
 */
struct dense_matrix {
	cusparseDnMatDescr_t descr;
	cudaDataType type;
	bool by_col;
	int rows, cols, ld;
	size_t bytes;
	void *at;
};

#define GAP 77

static inline size_t dense_place(const struct dense_matrix *d, int i, int j)
{
	return (size_t)(d->by_col ? j * d->ld + i : i * d->ld + j);
}

static inline struct dense_matrix
dense_make(const struct model *m, cudaDataType type, bool by_col, int gap)
{
	struct dense_matrix d = {.type = type,
				 .by_col = by_col,
				 .rows = m->rows,
				 .cols = m->cols,
				 .ld = (by_col ? m->rows : m->cols) + gap};
	size_t count = (size_t)d.ld * (size_t)(by_col ? m->cols : m->rows);
	char *host;

	d.bytes = count * type_size(type);
	host = calloc(1, d.bytes + 1);
	for (size_t i = 0; i < count; i++)
		put(type, host, i, GAP);
	for (int i = 0; i < m->rows; i++)
		for (int j = 0; j < m->cols; j++)
			put(type, host, dense_place(&d, i, j), m->at[i][j]);
	d.at = upload(host, d.bytes);
	free(host);
	assert_sparse(SP(cusparseCreateDnMat)(
			  &d.descr, d.rows, d.cols, d.ld ? d.ld : 1, d.at, type,
			  by_col ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW),
		      SUCCESS);
	return d;
}

/* Checks that it equals the model, with its gaps unchanged. */
static inline void dense_is(const struct dense_matrix *d, const struct model *m)
{
	char *host = malloc(d->bytes + 1);
	int length = d->by_col ? d->rows : d->cols;

	download(host, d->at, d->bytes);
	for (int i = 0; i < d->rows; i++)
		for (int j = 0; j < d->cols; j++) {
			double complex v =
			    get(d->type, host, dense_place(d, i, j));

			if (v != m->at[i][j])
				fail_msg("(%d, %d): %g%+gi, not %g%+gi", i, j,
					 creal(v), cimag(v), creal(m->at[i][j]),
					 cimag(m->at[i][j]));
		}
	for (size_t i = 0; i < d->bytes / type_size(d->type); i++)
		if ((int)(i % (size_t)d->ld) >= length)
			assert_true(get(d->type, host, i) == GAP);
	free(host);
}

static inline void dense_drop(struct dense_matrix *d)
{
	assert_sparse(SP(cusparseDestroyDnMat)(d->descr), SUCCESS);
	drop(d->at);
}

/* A sparse matrix on the device. */
struct sparse_matrix {
	cusparseSpMatDescr_t descr;
	cusparseFormat_t format;
	cudaDataType type;
	cusparseIndexType_t index;
	int nnz, offset_count;
	void *offsets, *indices, *values;
};

struct sparse_kind {
	cusparseFormat_t format;
	cusparseIndexType_t index;
	int base;
	int block_rows, block_cols; /* BSR */
	bool block_by_col;
};

static inline size_t index_bytes(cusparseIndexType_t type)
{
	return type == CUSPARSE_INDEX_64I ? 8 : 4;
}

static inline void put_index(cusparseIndexType_t type, void *to, int i, int v)
{
	if (type == CUSPARSE_INDEX_64I)
		((int64_t *)to)[i] = v;
	else
		((int32_t *)to)[i] = v;
}

static inline int get_index(cusparseIndexType_t type, const void *from, int i)
{
	return type == CUSPARSE_INDEX_64I ? (int)((const int64_t *)from)[i]
					  : ((const int32_t *)from)[i];
}

/* Whether a block (one element, except in BSR) is not all zero. */
static inline bool block_is_there(const struct model *m, int row, int col,
				  int rows, int cols)
{
	for (int i = 0; i < rows; i++)
		for (int j = 0; j < cols; j++)
			if (m->at[row * rows + i][col * cols + j] != 0)
				return true;
	return false;
}

static inline struct sparse_matrix
sparse_make(const struct model *m, cudaDataType type, struct sparse_kind kind)
{
	struct sparse_matrix s = {
	    .format = kind.format, .type = type, .index = kind.index};
	bool bsr = kind.format == CUSPARSE_FORMAT_BSR,
	     csc = kind.format == CUSPARSE_FORMAT_CSC,
	     coo = kind.format == CUSPARSE_FORMAT_COO;
	int br = bsr ? kind.block_rows : 1, bc = bsr ? kind.block_cols : 1;
	int rows = m->rows / br, cols = m->cols / bc;
	int lines = csc ? cols : rows, length = csc ? rows : cols;
	int size = br * bc;
	char *offsets = calloc(SIDE * SIDE + 1, 8),
	     *indices = calloc(SIDE * SIDE + 1, 8),
	     *values = calloc(SIDE * SIDE + 1, 16);
	cusparseIndexBase_t base = (cusparseIndexBase_t)kind.base;
	cusparseStatus_t status;

	for (int i = 0; i < lines; i++) {
		if (!coo)
			put_index(kind.index, offsets, i, s.nnz + kind.base);
		for (int j = 0; j < length; j++) {
			int row = csc ? j : i, col = csc ? i : j;

			if (!block_is_there(m, row, col, br, bc))
				continue;
			if (coo)
				put_index(kind.index, offsets, s.nnz,
					  row + kind.base);
			put_index(kind.index, indices, s.nnz,
				  (csc ? row : col) + kind.base);
			for (int k = 0; k < size; k++) {
				int r = kind.block_by_col ? k % br : k / bc,
				    c = kind.block_by_col ? k / br : k % bc;

				put(type, values, (size_t)(s.nnz * size + k),
				    m->at[row * br + r][col * bc + c]);
			}
			s.nnz++;
		}
	}
	if (!coo)
		put_index(kind.index, offsets, lines, s.nnz + kind.base);
	s.offset_count = coo ? s.nnz : lines + 1;
	s.offsets =
	    upload(offsets, (size_t)s.offset_count * index_bytes(kind.index));
	s.indices = upload(indices, (size_t)s.nnz * index_bytes(kind.index));
	s.values = upload(values, (size_t)(s.nnz * size) * type_size(type));
	free(offsets);
	free(indices);
	free(values);
	if (coo)
		status = SP(cusparseCreateCoo)(&s.descr, rows, cols, s.nnz,
					       s.offsets, s.indices, s.values,
					       kind.index, base, type);
	else if (bsr)
		status = SP(cusparseCreateBsr)(
		    &s.descr, rows, cols, s.nnz, br, bc, s.offsets, s.indices,
		    s.values, kind.index, kind.index, base, type,
		    kind.block_by_col ? CUSPARSE_ORDER_COL
				      : CUSPARSE_ORDER_ROW);
	else
		status = (csc ? SP(cusparseCreateCsc) : SP(cusparseCreateCsr))(
		    &s.descr, rows, cols, s.nnz, s.offsets, s.indices, s.values,
		    kind.index, kind.index, base, type);
	assert_sparse(status, SUCCESS);
	return s;
}

static inline void sparse_drop(struct sparse_matrix *s)
{
	assert_sparse(SP(cusparseDestroySpMat)(s->descr), SUCCESS);
	drop(s->offsets);
	drop(s->indices);
	drop(s->values);
}

/* A number in the form in which alpha and beta are passed. */
struct number {
	char bytes[16] __attribute__((aligned(16)));
};

static inline struct number number_of(cudaDataType type, double complex v)
{
	struct number n = {{0}};

	put(type, n.bytes, 0, v);
	return n;
}

static inline cusparseOperation_t any_operation(void)
{
	return (cusparseOperation_t)throw_dice(3);
}

#define SPARSE_MAIN(name, tests)                                               \
	int main(void)                                                         \
	{                                                                      \
		return cmocka_run_group_tests_name(name, tests, sparse_setup,  \
						   sparse_teardown);           \
	}

#endif
