/* SPDX-License-Identifier: Apache-2.0 */
/*
 * legacy.c - the functions of cublas.h, which have no handle. They share one
 * handle per process, take scalars by value, return results, and keep errors
 * for cublasGetError(). Each row maps such a function to its _v2 counterpart.
 */
#include "fronts/cublas/blas.h"

#include "base/log.h"

#include <pthread.h>

/* Complex numbers, laid out as in cuComplex.h. */
typedef struct {
	_Alignas(8) float x;
	float y;
} cuComplex;

typedef struct {
	_Alignas(16) double x;
	double y;
} cuDoubleComplex;

static struct {
	pthread_mutex_t lock; /* held by cublasInit() and cublasShutdown() */
	cublasHandle_t handle;
	cublasStatus_t error;
} legacy = {.lock = PTHREAD_MUTEX_INITIALIZER};

static cublasHandle_t current_handle(void)
{
	return __atomic_load_n(&legacy.handle, __ATOMIC_ACQUIRE);
}

static cublasStatus_t note_status(cublasStatus_t status)
{
	if (status)
		__atomic_store_n(&legacy.error, status, __ATOMIC_RELEASE);
	return status;
}

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle);
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle);
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, CUstream stream);
cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int *version);

ENTRY(Init, void)
{
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
	cublasHandle_t handle;

	pthread_mutex_lock(&legacy.lock);
	if (!legacy.handle) {
		status = cublasCreate_v2(&handle);
		if (!status)
			__atomic_store_n(&legacy.handle, handle,
					 __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&legacy.lock);
	return note_status(status);
}

ENTRY(Shutdown, void)
{
	cublasHandle_t handle;

	pthread_mutex_lock(&legacy.lock);
	handle = __atomic_exchange_n(&legacy.handle, NULL, __ATOMIC_ACQ_REL);
	pthread_mutex_unlock(&legacy.lock);
	return note_status(cublasDestroy_v2(handle));
}

/* Returns the last error and resets it. */
ENTRY(GetError, void)
{
	return __atomic_exchange_n(&legacy.error, CUBLAS_STATUS_SUCCESS,
				   __ATOMIC_ACQ_REL);
}

ENTRY(GetVersion, int *version)
{
	return note_status(cublasGetVersion_v2(current_handle(), version));
}

ENTRY(SetKernelStream, CUstream stream)
{
	return note_status(cublasSetStream_v2(current_handle(), stream));
}

static cublasStatus_t allocate_elements(int n, int size, void **ret)
{
	CUdeviceptr at;
	CUresult r;

	ENTER(current_handle());
	REQUIRE(n > 0 && size > 0 && ret);
	r = native_context();
	if (!r)
		r = native_driver()->cuMemAlloc_v2(&at,
						   (size_t)n * (size_t)size);
	if (!r)
		*ret = (void *)(uintptr_t)at;
	return r ? CUBLAS_STATUS_ALLOC_FAILED : CUBLAS_STATUS_SUCCESS;
}

ENTRY(Alloc, int n, int size, void **ret)
{
	return note_status(allocate_elements(n, size, ret));
}

static cublasStatus_t release_memory(void *at)
{
	ENTER(current_handle());
	return at && native_driver()->cuMemFree_v2(address_of(at))
		   ? CUBLAS_STATUS_INTERNAL_ERROR
		   : CUBLAS_STATUS_SUCCESS;
}

ENTRY(Free, void *at)
{
	return note_status(release_memory(at));
}

#define LEGACY __attribute__((visibility("default")))

LEGACY void cublasXerbla(const char *name, int info);

/* Writes to the log, since libraries never print. */
void cublasXerbla(const char *name, int info)
{
	gk_log(GK_LOG_ERROR, "cuBLAS: parameter %d of %s has an illegal value",
	       info, name ? name : "a function");
}

/* Stands for an unknown letter; the _v2 functions reject this value. */
#define NOTHING (-1)

static int find_letter(const char *letters, char c)
{
	for (int i = 0; letters[i]; i++)
		if ((c | 0x20) == letters[i])
			return i;
	return NOTHING;
}

static int op_of(char c)
{
	return find_letter("ntc", c);
}

static int fill_of(char c)
{
	return find_letter("lu", c);
}

static int diag_of(char c)
{
	return find_letter("nu", c);
}

static int side_of(char c)
{
	return find_letter("lr", c);
}

#define IN  const void *
#define OUT void *
#define H   cublasHandle_t

/*
 * Defines a function by its _v2 counterpart: `taken` are the parameters of _v2,
 * `given` the arguments passed to it.
 */
#define CALLS(name, parameters, taken, given)                                  \
	cublasStatus_t cublas##name##_v2 taken;                                \
	LEGACY void cublas##name parameters;                                   \
	void cublas##name parameters                                           \
	{                                                                      \
		note_status(cublas##name##_v2 given);                          \
	}
/*
 * Does the same for functions that return a result, which is 0 after an error.
 */
#define TELLS(T, R, name, parameters, taken, given)                            \
	cublasStatus_t cublas##name##_v2 taken;                                \
	LEGACY T cublas##name parameters;                                      \
	T cublas##name parameters                                              \
	{                                                                      \
		R result = {0};                                                \
                                                                               \
		note_status(cublas##name##_v2 given);                          \
		return result;                                                 \
	}

#define EACH_TYPE(row)                                                         \
	row(S, float) row(D, double) row(C, cuComplex) row(Z, cuDoubleComplex)

#define MOVES(p, T)                                                            \
	CALLS(p##copy, (int n, IN x, int incx, OUT y, int incy),               \
	      (H, int, IN, int, OUT, int),                                     \
	      (current_handle(), n, x, incx, y, incy))                         \
	CALLS(p##swap, (int n, OUT x, int incx, OUT y, int incy),              \
	      (H, int, OUT, int, OUT, int),                                    \
	      (current_handle(), n, x, incx, y, incy))                         \
	CALLS(p##axpy, (int n, T alpha, IN x, int incx, OUT y, int incy),      \
	      (H, int, IN, IN, int, OUT, int),                                 \
	      (current_handle(), n, &alpha, x, incx, y, incy))                 \
	SCAL(p, T)
#define SCAL(p, T)                                                             \
	CALLS(p##scal, (int n, T alpha, OUT x, int incx),                      \
	      (H, int, IN, OUT, int), (current_handle(), n, &alpha, x, incx))
EACH_TYPE(MOVES)
SCAL(Cs, float)
SCAL(Zd, double)

#define DOT(name, T)                                                           \
	TELLS(T, T, name, (int n, IN x, int incx, IN y, int incy),             \
	      (H, int, IN, int, IN, int, OUT),                                 \
	      (current_handle(), n, x, incx, y, incy, &result))
DOT(Sdot, float)
DOT(Ddot, double)
DOT(Cdotu, cuComplex)
DOT(Cdotc, cuComplex)
DOT(Zdotu, cuDoubleComplex)
DOT(Zdotc, cuDoubleComplex)

#define NORM(name, T)                                                          \
	TELLS(T, T, name, (int n, IN x, int incx), (H, int, IN, int, OUT),     \
	      (current_handle(), n, x, incx, &result))
NORM(Snrm2, float)
NORM(Dnrm2, double)
NORM(Scnrm2, float)
NORM(Dznrm2, double)
NORM(Sasum, float)
NORM(Dasum, double)
NORM(Scasum, float)
NORM(Dzasum, double)

#define FIND(name)                                                             \
	TELLS(int, int, name, (int n, IN x, int incx),                         \
	      (H, int, IN, int, int *),                                        \
	      (current_handle(), n, x, incx, &result))
FIND(Isamax)
FIND(Idamax)
FIND(Icamax)
FIND(Izamax)
FIND(Isamin)
FIND(Idamin)
FIND(Icamin)
FIND(Izamin)

#define ROT(name, R, S)                                                        \
	CALLS(name, (int n, OUT x, int incx, OUT y, int incy, R c, S s),       \
	      (H, int, OUT, int, OUT, int, IN, IN),                            \
	      (current_handle(), n, x, incx, y, incy, &c, &s))
ROT(Srot, float, float)
ROT(Drot, double, double)
ROT(Crot, float, cuComplex)
ROT(Csrot, float, float)
ROT(Zrot, double, cuDoubleComplex)
ROT(Zdrot, double, double)

#define ROTG(p)                                                                \
	CALLS(p##rotg, (OUT a, OUT b, OUT c, OUT s), (H, OUT, OUT, OUT, OUT),  \
	      (current_handle(), a, b, c, s))
#define ROTG_COMPLEX(p, T)                                                     \
	CALLS(p##rotg, (OUT a, T b, OUT c, OUT s), (H, OUT, OUT, OUT, OUT),    \
	      (current_handle(), a, &b, c, s))
ROTG(S)
ROTG(D)
ROTG_COMPLEX(C, cuComplex)
ROTG_COMPLEX(Z, cuDoubleComplex)

#define ROTM(p)                                                                \
	CALLS(p##rotm, (int n, OUT x, int incx, OUT y, int incy, IN param),    \
	      (H, int, OUT, int, OUT, int, IN),                                \
	      (current_handle(), n, x, incx, y, incy, param))                  \
	CALLS(p##rotmg, (OUT d1, OUT d2, OUT x1, IN y1, OUT param),            \
	      (H, OUT, OUT, OUT, IN, OUT),                                     \
	      (current_handle(), d1, d2, x1, y1, param))
ROTM(S)
ROTM(D)

#define GENERAL(p, T)                                                          \
	CALLS(p##gemv,                                                         \
	      (char t, int m, int n, T alpha, IN A, int lda, IN x, int incx,   \
	       T beta, OUT y, int incy),                                       \
	      (H, int, int, int, IN, IN, int, IN, int, IN, OUT, int),          \
	      (current_handle(), op_of(t), m, n, &alpha, A, lda, x, incx,      \
	       &beta, y, incy))                                                \
	CALLS(                                                                 \
	    p##gbmv,                                                           \
	    (char t, int m, int n, int kl, int ku, T alpha, IN A, int lda,     \
	     IN x, int incx, T beta, OUT y, int incy),                         \
	    (H, int, int, int, int, int, IN, IN, int, IN, int, IN, OUT, int),  \
	    (current_handle(), op_of(t), m, n, kl, ku, &alpha, A, lda, x,      \
	     incx, &beta, y, incy))
EACH_TYPE(GENERAL)

#define TRIANGLE(name)                                                         \
	CALLS(name,                                                            \
	      (char u, char t, char d, int n, IN A, int lda, OUT x, int incx), \
	      (H, int, int, int, int, IN, int, OUT, int),                      \
	      (current_handle(), fill_of(u), op_of(t), diag_of(d), n, A, lda,  \
	       x, incx))
#define TRIANGLE_BAND(name)                                                    \
	CALLS(name,                                                            \
	      (char u, char t, char d, int n, int k, IN A, int lda, OUT x,     \
	       int incx),                                                      \
	      (H, int, int, int, int, int, IN, int, OUT, int),                 \
	      (current_handle(), fill_of(u), op_of(t), diag_of(d), n, k, A,    \
	       lda, x, incx))
#define TRIANGLE_PACKED(name)                                                  \
	CALLS(name, (char u, char t, char d, int n, IN A, OUT x, int incx),    \
	      (H, int, int, int, int, IN, OUT, int),                           \
	      (current_handle(), fill_of(u), op_of(t), diag_of(d), n, A, x,    \
	       incx))
#define TRIANGLES(p, T)                                                        \
	TRIANGLE(p##trmv)                                                      \
	TRIANGLE(p##trsv)                                                      \
	TRIANGLE_BAND(p##tbmv)                                                 \
	TRIANGLE_BAND(p##tbsv)                                                 \
	TRIANGLE_PACKED(p##tpmv)                                               \
	TRIANGLE_PACKED(p##tpsv)
EACH_TYPE(TRIANGLES)

#define HALVES(full, band, packed, T)                                          \
	CALLS(full,                                                            \
	      (char u, int n, T alpha, IN A, int lda, IN x, int incx, T beta,  \
	       OUT y, int incy),                                               \
	      (H, int, int, IN, IN, int, IN, int, IN, OUT, int),               \
	      (current_handle(), fill_of(u), n, &alpha, A, lda, x, incx,       \
	       &beta, y, incy))                                                \
	CALLS(band,                                                            \
	      (char u, int n, int k, T alpha, IN A, int lda, IN x, int incx,   \
	       T beta, OUT y, int incy),                                       \
	      (H, int, int, int, IN, IN, int, IN, int, IN, OUT, int),          \
	      (current_handle(), fill_of(u), n, k, &alpha, A, lda, x, incx,    \
	       &beta, y, incy))                                                \
	CALLS(packed,                                                          \
	      (char u, int n, T alpha, IN A, IN x, int incx, T beta, OUT y,    \
	       int incy),                                                      \
	      (H, int, int, IN, IN, IN, int, IN, OUT, int),                    \
	      (current_handle(), fill_of(u), n, &alpha, A, x, incx, &beta, y,  \
	       incy))
HALVES(Ssymv, Ssbmv, Sspmv, float)
HALVES(Dsymv, Dsbmv, Dspmv, double)
HALVES(Chemv, Chbmv, Chpmv, cuComplex)
HALVES(Zhemv, Zhbmv, Zhpmv, cuDoubleComplex)

#define GER(name, T)                                                           \
	CALLS(name,                                                            \
	      (int m, int n, T alpha, IN x, int incx, IN y, int incy, OUT A,   \
	       int lda),                                                       \
	      (H, int, int, IN, IN, int, IN, int, OUT, int),                   \
	      (current_handle(), m, n, &alpha, x, incx, y, incy, A, lda))
GER(Sger, float)
GER(Dger, double)
GER(Cgeru, cuComplex)
GER(Cgerc, cuComplex)
GER(Zgeru, cuDoubleComplex)
GER(Zgerc, cuDoubleComplex)

/* alpha has type R in rank 1 updates and type T in rank 2 updates. */
#define RANKS(full, packed, full2, packed2, R, T)                              \
	CALLS(full, (char u, int n, R alpha, IN x, int incx, OUT A, int lda),  \
	      (H, int, int, IN, IN, int, OUT, int),                            \
	      (current_handle(), fill_of(u), n, &alpha, x, incx, A, lda))      \
	CALLS(packed, (char u, int n, R alpha, IN x, int incx, OUT A),         \
	      (H, int, int, IN, IN, int, OUT),                                 \
	      (current_handle(), fill_of(u), n, &alpha, x, incx, A))           \
	CALLS(full2,                                                           \
	      (char u, int n, T alpha, IN x, int incx, IN y, int incy, OUT A,  \
	       int lda),                                                       \
	      (H, int, int, IN, IN, int, IN, int, OUT, int),                   \
	      (current_handle(), fill_of(u), n, &alpha, x, incx, y, incy, A,   \
	       lda))                                                           \
	CALLS(packed2,                                                         \
	      (char u, int n, T alpha, IN x, int incx, IN y, int incy, OUT A), \
	      (H, int, int, IN, IN, int, IN, int, OUT),                        \
	      (current_handle(), fill_of(u), n, &alpha, x, incx, y, incy, A))
RANKS(Ssyr, Sspr, Ssyr2, Sspr2, float, float)
RANKS(Dsyr, Dspr, Dsyr2, Dspr2, double, double)
RANKS(Cher, Chpr, Cher2, Chpr2, float, cuComplex)
RANKS(Zher, Zhpr, Zher2, Zhpr2, double, cuDoubleComplex)

#define SYRK(name, T)                                                          \
	CALLS(name,                                                            \
	      (char u, char t, int n, int k, T alpha, IN A, int lda, T beta,   \
	       OUT C, int ldc),                                                \
	      (H, int, int, int, int, IN, IN, int, IN, OUT, int),              \
	      (current_handle(), fill_of(u), op_of(t), n, k, &alpha, A, lda,   \
	       &beta, C, ldc))
#define SYR2K(name, T, R)                                                      \
	CALLS(name,                                                            \
	      (char u, char t, int n, int k, T alpha, IN A, int lda, IN B,     \
	       int ldb, R beta, OUT C, int ldc),                               \
	      (H, int, int, int, int, IN, IN, int, IN, int, IN, OUT, int),     \
	      (current_handle(), fill_of(u), op_of(t), n, k, &alpha, A, lda,   \
	       B, ldb, &beta, C, ldc))
#define SYMM(name, T)                                                          \
	CALLS(name,                                                            \
	      (char s, char u, int m, int n, T alpha, IN A, int lda, IN B,     \
	       int ldb, T beta, OUT C, int ldc),                               \
	      (H, int, int, int, int, IN, IN, int, IN, int, IN, OUT, int),     \
	      (current_handle(), side_of(s), fill_of(u), m, n, &alpha, A, lda, \
	       B, ldb, &beta, C, ldc))
/* Unlike its _v2 counterpart, trmm works in place. */
#define MATRICES(p, T)                                                         \
	CALLS(                                                                 \
	    p##gemm,                                                           \
	    (char a, char b, int m, int n, int k, T alpha, IN A, int lda,      \
	     IN B, int ldb, T beta, OUT C, int ldc),                           \
	    (H, int, int, int, int, int, IN, IN, int, IN, int, IN, OUT, int),  \
	    (current_handle(), op_of(a), op_of(b), m, n, k, &alpha, A, lda, B, \
	     ldb, &beta, C, ldc))                                              \
	CALLS(p##trsm,                                                         \
	      (char s, char u, char t, char d, int m, int n, T alpha, IN A,    \
	       int lda, OUT B, int ldb),                                       \
	      (H, int, int, int, int, int, int, IN, IN, int, OUT, int),        \
	      (current_handle(), side_of(s), fill_of(u), op_of(t), diag_of(d), \
	       m, n, &alpha, A, lda, B, ldb))                                  \
	CALLS(                                                                 \
	    p##trmm,                                                           \
	    (char s, char u, char t, char d, int m, int n, T alpha, IN A,      \
	     int lda, OUT B, int ldb),                                         \
	    (H, int, int, int, int, int, int, IN, IN, int, IN, int, OUT, int), \
	    (current_handle(), side_of(s), fill_of(u), op_of(t), diag_of(d),   \
	     m, n, &alpha, A, lda, B, ldb, B, ldb))                            \
	SYRK(p##syrk, T)                                                       \
	SYR2K(p##syr2k, T, T)                                                  \
	SYMM(p##symm, T)
EACH_TYPE(MATRICES)
SYRK(Cherk, float)
SYRK(Zherk, double)
SYR2K(Cher2k, cuComplex, float)
SYR2K(Zher2k, cuDoubleComplex, double)
SYMM(Chemm, cuComplex)
SYMM(Zhemm, cuDoubleComplex)
