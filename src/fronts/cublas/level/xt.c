/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xt.c - cublasXt: level 3 on matrices in host or device memory, which are
 * copied to a GPU and back. The first selected device does all the work.
 */
#include "fronts/cublas/blas.h"

#include <stdlib.h>

#define BLOCK_DIM   2048 /* the default block dimension */
#define MOST_STAGED 4

struct cublasXtContext {
	struct native_handle head;
	CUcontext context;
	cublasHandle_t handle; /* NULL: no device selected yet */
	int block_dim, pinning;
};

typedef struct cublasXtContext *cublasXtHandle_t;

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle);
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle);

static struct native_handles handles = {PTHREAD_MUTEX_INITIALIZER,
					NATIVE_CUBLASXT,
					sizeof(struct cublasXtContext), NULL};

static bool is_xt(cublasXtHandle_t handle)
{
	return native_is_handle(handle, NATIVE_CUBLASXT);
}

#define ENTER_XT(handle)                                                       \
	do {                                                                   \
		if (!is_xt(handle))                                            \
			return CUBLAS_STATUS_NOT_INITIALIZED;                  \
	} while (0)

ENTRY(XtCreate, cublasXtHandle_t *ret_handle)
{
	cublasXtHandle_t handle;

	REQUIRE(ret_handle);
	if (!native_driver())
		return CUBLAS_STATUS_NOT_INITIALIZED;
	handle = native_handle_new(&handles);
	if (!handle)
		return CUBLAS_STATUS_ALLOC_FAILED;
	handle->block_dim = BLOCK_DIM;
	*ret_handle = handle;
	return CUBLAS_STATUS_SUCCESS;
}

ENTRY(XtDestroy, cublasXtHandle_t handle)
{
	ENTER_XT(handle);
	if (handle->handle)
		cublasDestroy_v2(handle->handle);
	native_handle_end(&handles, handle);
	return CUBLAS_STATUS_SUCCESS;
}

/*
 * Creates a cuBLAS handle in a context, without changing the current context.
 */
static cublasStatus_t create_in(CUcontext context, cublasHandle_t *ret)
{
	const struct native_driver *d = native_driver();
	CUcontext before = NULL;
	cublasStatus_t status;

	if (d->cuCtxGetCurrent(&before) || d->cuCtxSetCurrent(context))
		return CUBLAS_STATUS_NOT_INITIALIZED;
	status = cublasCreate_v2(ret);
	d->cuCtxSetCurrent(before);
	return status;
}

ENTRY(XtDeviceSelect, cublasXtHandle_t handle, int count, int *devices)
{
	CUcontext context, first = NULL;
	cublasHandle_t new;
	cublasStatus_t status;

	ENTER_XT(handle);
	REQUIRE(count > 0 && devices);
	for (int i = 0; i < count; i++) {
		REQUIRE(!native_driver()->cuDevicePrimaryCtxRetain(&context,
								   devices[i]));
		first = i ? first : context;
	}
	status = create_in(first, &new);
	if (status)
		return status;
	if (handle->handle)
		cublasDestroy_v2(handle->handle);
	handle->handle = new;
	handle->context = first;
	return CUBLAS_STATUS_SUCCESS;
}

#define SETTING(name, field, allowed)                                          \
	ENTRY(XtSet##name, cublasXtHandle_t handle, int value)                 \
	{                                                                      \
		ENTER_XT(handle);                                              \
		REQUIRE(allowed);                                              \
		handle->field = value;                                         \
		return CUBLAS_STATUS_SUCCESS;                                  \
	}                                                                      \
	ENTRY(XtGet##name, cublasXtHandle_t handle, int *ret)                  \
	{                                                                      \
		ENTER_XT(handle);                                              \
		REQUIRE(ret);                                                  \
		*ret = handle->field;                                          \
		return CUBLAS_STATUS_SUCCESS;                                  \
	}
SETTING(BlockDim, block_dim, value > 0)
SETTING(PinningMemMode, pinning, is_flag(value))

/* A program's matrix, and its address on the device. */
struct staged {
	const void *given;
	uint64_t at;
	bool is_copy;
	/* width and pitch in bytes, height in columns */
	size_t width, height, pitch;
};

/* One call and its matrices, one of which is copied back. */
struct session {
	CUcontext before;
	struct staged staged[MOST_STAGED];
	const struct staged *result; /* NULL: the result is empty */
	int count;
	cublasStatus_t status;
};

static cublasStatus_t open_session(cublasXtHandle_t handle, struct session *s)
{
	*s = (struct session){.count = 0};
	ENTER_XT(handle);
	if (!handle->handle || native_driver()->cuCtxGetCurrent(&s->before) ||
	    native_driver()->cuCtxSetCurrent(handle->context))
		return CUBLAS_STATUS_NOT_INITIALIZED;
	return CUBLAS_STATUS_SUCCESS;
}

static bool is_on_device(const void *pointer)
{
	CUmemorytype type = CU_MEMORYTYPE_HOST;

	return !native_driver()->cuPointerGetAttribute(
		   &type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
		   address_of(pointer)) &&
	       type == CU_MEMORYTYPE_DEVICE;
}

static CUresult copy_staged(const struct staged *m, bool back)
{
	CUDA_MEMCPY2D c = {
	    .srcMemoryType = back ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST,
	    .dstMemoryType = back ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
	    .srcPitch = m->pitch,
	    .dstPitch = m->pitch,
	    .WidthInBytes = m->width,
	    .Height = m->height};

	if (back) {
		c.srcDevice = m->at;
		c.dstHost = (void *)(uintptr_t)m->given;
	} else {
		c.srcHost = m->given;
		c.dstDevice = m->at;
	}
	return native_driver()->cuMemcpy2DAsync_v2(&c, NULL);
}

/*
 * Allocates device memory for a matrix and, if `given` is not NULL, copies the
 * matrix there.
 */
static cublasStatus_t take_room(struct session *s, struct staged *m)
{
	const struct native_driver *d = native_driver();
	CUdeviceptr at;
	size_t size;

	if (__builtin_mul_overflow(m->pitch, m->height, &size) ||
	    d->cuMemAlloc_v2(&at, size))
		return CUBLAS_STATUS_ALLOC_FAILED;
	m->at = at;
	m->is_copy = true;
	s->count++;
	return m->given && copy_staged(m, false) ? CUBLAS_STATUS_MAPPING_ERROR
						 : CUBLAS_STATUS_SUCCESS;
}

/*
 * Adds a rows x columns matrix. If `given` is NULL, only allocates memory for
 * the matrix. Returns its device address, or NULL if the matrix is empty or the
 * session already has an error.
 */
static void *stage_matrix(struct session *s, const void *given, size_t rows,
			  size_t columns, size_t ld, enum element type)
{
	size_t size = element_size(type);
	struct staged *m = &s->staged[s->count];

	if (s->status || !rows || !columns)
		return NULL;
	*m = (struct staged){.given = given,
			     .width = rows * size,
			     .height = columns,
			     .pitch = ld * size};
	if (ld < rows || ld > SIZE_MAX / size)
		s->status = CUBLAS_STATUS_INVALID_VALUE;
	else if (given && is_on_device(given))
		s->staged[s->count++].at = address_of(given);
	else
		s->status = take_room(s, m);
	return (void *)(uintptr_t)m->at;
}

static void *stage_result(struct session *s, void *given, size_t rows,
			  size_t columns, size_t ld, enum element type)
{
	int before = s->count;
	void *at = stage_matrix(s, given, rows, columns, ld, type);

	if (s->count > before)
		s->result = &s->staged[before];
	return at;
}

/* Copies the result back, waits, and frees the session's memory. */
static cublasStatus_t close_session(struct session *s)
{
	const struct native_driver *d = native_driver();

	if (!s->status && s->result && s->result->is_copy &&
	    copy_staged(s->result, true))
		s->status = CUBLAS_STATUS_MAPPING_ERROR;
	if (d->cuStreamSynchronize(NULL) && !s->status)
		s->status = CUBLAS_STATUS_EXECUTION_FAILED;
	for (int i = 0; i < s->count; i++)
		if (s->staged[i].is_copy)
			d->cuMemFree_v2(s->staged[i].at);
	d->cuCtxSetCurrent(s->before);
	return s->status;
}

#define H   cublasHandle_t
#define N   int64_t
#define IN  const void *
#define OUT void *

/* Opens the session `s`; on failure, returns its status from the function. */
#define ENTER_SESSION(handle)                                                  \
	do {                                                                   \
		cublasStatus_t found_ = open_session(handle, &s);              \
                                                                               \
		if (found_)                                                    \
			return found_;                                         \
	} while (0)

#define EACH_TYPE(row) row(S, R_32F) row(D, R_64F) row(C, C_32F) row(Z, C_64F)

#define GEMM(p, t)                                                             \
	cublasStatus_t cublas##p##gemm_v2_64(H, int, int, N, N, N, IN, IN, N,  \
					     IN, N, IN, OUT, N);               \
	ENTRY(Xt##p##gemm, cublasXtHandle_t h, int ta, int tb, size_t m,       \
	      size_t n, size_t k, IN alpha, IN A, size_t lda, IN B,            \
	      size_t ldb, IN beta, OUT C, size_t ldc)                          \
	{                                                                      \
		struct session s;                                              \
		void *a, *b, *c;                                               \
                                                                               \
		ENTER_SESSION(h);                                              \
		a = stage_matrix(&s, A, ta ? k : m, ta ? m : k, lda, t);       \
		b = stage_matrix(&s, B, tb ? n : k, tb ? k : n, ldb, t);       \
		c = stage_result(&s, C, m, n, ldc, t);                         \
		if (!s.status)                                                 \
			s.status = cublas##p##gemm_v2_64(                      \
			    h->handle, ta, tb, (N)m, (N)n, (N)k, alpha, a,     \
			    (N)lda, b, (N)ldb, beta, c, (N)ldc);               \
		return close_session(&s);                                      \
	}
EACH_TYPE(GEMM)

#define SYRK(name, t)                                                          \
	cublasStatus_t cublas##name##_v2_64(H, int, int, N, N, IN, IN, N, IN,  \
					    OUT, N);                           \
	ENTRY(Xt##name, cublasXtHandle_t h, int uplo, int trans, size_t n,     \
	      size_t k, IN alpha, IN A, size_t lda, IN beta, OUT C,            \
	      size_t ldc)                                                      \
	{                                                                      \
		struct session s;                                              \
		void *a, *c;                                                   \
                                                                               \
		ENTER_SESSION(h);                                              \
		a = stage_matrix(&s, A, trans ? k : n, trans ? n : k, lda, t); \
		c = stage_result(&s, C, n, n, ldc, t);                         \
		if (!s.status)                                                 \
			s.status = cublas##name##_v2_64(                       \
			    h->handle, uplo, trans, (N)n, (N)k, alpha, a,      \
			    (N)lda, beta, c, (N)ldc);                          \
		return close_session(&s);                                      \
	}
#define SYR2K(name, symbol, t)                                                 \
	cublasStatus_t cublas##symbol(H, int, int, N, N, IN, IN, N, IN, N, IN, \
				      OUT, N);                                 \
	ENTRY(Xt##name, cublasXtHandle_t h, int uplo, int trans, size_t n,     \
	      size_t k, IN alpha, IN A, size_t lda, IN B, size_t ldb, IN beta, \
	      OUT C, size_t ldc)                                               \
	{                                                                      \
		struct session s;                                              \
		void *a, *b, *c;                                               \
                                                                               \
		ENTER_SESSION(h);                                              \
		a = stage_matrix(&s, A, trans ? k : n, trans ? n : k, lda, t); \
		b = stage_matrix(&s, B, trans ? k : n, trans ? n : k, ldb, t); \
		c = stage_result(&s, C, n, n, ldc, t);                         \
		if (!s.status)                                                 \
			s.status = cublas##symbol(                             \
			    h->handle, uplo, trans, (N)n, (N)k, alpha, a,      \
			    (N)lda, b, (N)ldb, beta, c, (N)ldc);               \
		return close_session(&s);                                      \
	}
#define SYMM(name, t)                                                          \
	cublasStatus_t cublas##name##_v2_64(H, int, int, N, N, IN, IN, N, IN,  \
					    N, IN, OUT, N);                    \
	ENTRY(Xt##name, cublasXtHandle_t h, int side, int uplo, size_t m,      \
	      size_t n, IN alpha, IN A, size_t lda, IN B, size_t ldb, IN beta, \
	      OUT C, size_t ldc)                                               \
	{                                                                      \
		size_t size = side ? n : m;                                    \
		struct session s;                                              \
		void *a, *b, *c;                                               \
                                                                               \
		ENTER_SESSION(h);                                              \
		a = stage_matrix(&s, A, size, size, lda, t);                   \
		b = stage_matrix(&s, B, m, n, ldb, t);                         \
		c = stage_result(&s, C, m, n, ldc, t);                         \
		if (!s.status)                                                 \
			s.status = cublas##name##_v2_64(                       \
			    h->handle, side, uplo, (N)m, (N)n, alpha, a,       \
			    (N)lda, b, (N)ldb, beta, c, (N)ldc);               \
		return close_session(&s);                                      \
	}
#define UPDATES(p, t)                                                          \
	SYRK(p##syrk, t)                                                       \
	SYR2K(p##syr2k, p##syr2k_v2_64, t)                                     \
	SYR2K(p##syrkx, p##syrkx_64, t)                                        \
	SYMM(p##symm, t)
#define HERMITIAN(p, t)                                                        \
	SYRK(p##herk, t)                                                       \
	SYR2K(p##her2k, p##her2k_v2_64, t)                                     \
	SYR2K(p##herkx, p##herkx_64, t)                                        \
	SYMM(p##hemm, t)
EACH_TYPE(UPDATES)
HERMITIAN(C, C_32F)
HERMITIAN(Z, C_64F)

/* The program's A is packed; it is unpacked on the device. */
#define SPMM(p, t)                                                             \
	cublasStatus_t cublas##p##tpttr(H, int, int, IN, OUT, int);            \
	ENTRY(Xt##p##spmm, cublasXtHandle_t h, int side, int uplo, size_t m,   \
	      size_t n, IN alpha, IN AP, IN B, size_t ldb, IN beta, OUT C,     \
	      size_t ldc)                                                      \
	{                                                                      \
		size_t size = side ? n : m, all = size * (size + 1) / 2;       \
		struct session s;                                              \
		void *packed, *a, *b, *c;                                      \
                                                                               \
		REQUIRE(size <= INT32_MAX);                                    \
		ENTER_SESSION(h);                                              \
		packed = stage_matrix(&s, AP, all, 1, all, t);                 \
		a = stage_matrix(&s, NULL, size, size, size, t);               \
		b = stage_matrix(&s, B, m, n, ldb, t);                         \
		c = stage_result(&s, C, m, n, ldc, t);                         \
		if (!s.status && size)                                         \
			s.status = cublas##p##tpttr(                           \
			    h->handle, uplo, (int)size, packed, a, (int)size); \
		if (!s.status)                                                 \
			s.status = cublas##p##symm_v2_64(                      \
			    h->handle, side, uplo, (N)m, (N)n, alpha, a,       \
			    size ? (N)size : 1, b, (N)ldb, beta, c, (N)ldc);   \
		return close_session(&s);                                      \
	}
EACH_TYPE(SPMM)

#define TRIANGLES(p, t)                                                        \
	cublasStatus_t cublas##p##trsm_v2_64(H, int, int, int, int, N, N, IN,  \
					     IN, N, OUT, N);                   \
	cublasStatus_t cublas##p##trmm_v2_64(H, int, int, int, int, N, N, IN,  \
					     IN, N, IN, N, OUT, N);            \
	ENTRY(Xt##p##trsm, cublasXtHandle_t h, int side, int uplo, int trans,  \
	      int diag, size_t m, size_t n, IN alpha, IN A, size_t lda, OUT B, \
	      size_t ldb)                                                      \
	{                                                                      \
		size_t size = side ? n : m;                                    \
		struct session s;                                              \
		void *a, *b;                                                   \
                                                                               \
		ENTER_SESSION(h);                                              \
		a = stage_matrix(&s, A, size, size, lda, t);                   \
		b = stage_result(&s, B, m, n, ldb, t);                         \
		if (!s.status)                                                 \
			s.status = cublas##p##trsm_v2_64(                      \
			    h->handle, side, uplo, trans, diag, (N)m, (N)n,    \
			    alpha, a, (N)lda, b, (N)ldb);                      \
		return close_session(&s);                                      \
	}                                                                      \
	ENTRY(Xt##p##trmm, cublasXtHandle_t h, int side, int uplo, int trans,  \
	      int diag, size_t m, size_t n, IN alpha, IN A, size_t lda, IN B,  \
	      size_t ldb, OUT C, size_t ldc)                                   \
	{                                                                      \
		size_t size = side ? n : m;                                    \
		struct session s;                                              \
		void *a, *b, *c;                                               \
                                                                               \
		ENTER_SESSION(h);                                              \
		a = stage_matrix(&s, A, size, size, lda, t);                   \
		b = stage_matrix(&s, B, m, n, ldb, t);                         \
		c = stage_result(&s, C, m, n, ldc, t);                         \
		if (!s.status)                                                 \
			s.status = cublas##p##trmm_v2_64(                      \
			    h->handle, side, uplo, trans, diag, (N)m, (N)n,    \
			    alpha, a, (N)lda, b, (N)ldb, c, (N)ldc);           \
		return close_session(&s);                                      \
	}
EACH_TYPE(TRIANGLES)
