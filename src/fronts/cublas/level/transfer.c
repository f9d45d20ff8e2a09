/* SPDX-License-Identifier: Apache-2.0 */
/* transfer.c - copies vectors and matrices between host and device. */
#include "fronts/cublas/blas.h"

#include <string.h>

/* A copy of `height` columns of `width` bytes; each side has its own pitch. */
struct block {
	CUmemorytype from_type, to_type;
	const void *from;
	void *to;
	uint64_t width, height, from_pitch, to_pitch;
};

/* Synchronous calls use the legacy default stream and wait for it. */
static cublasStatus_t copy_block(const struct block *b, CUstream stream,
				 bool waits)
{
	const struct native_driver *d = native_driver();
	CUDA_MEMCPY2D copy = {.srcMemoryType = b->from_type,
			      .srcHost = b->from,
			      .srcDevice = address_of(b->from),
			      .srcPitch = b->from_pitch,
			      .dstMemoryType = b->to_type,
			      .dstHost = b->to,
			      .dstDevice = address_of(b->to),
			      .dstPitch = b->to_pitch,
			      .WidthInBytes = b->width,
			      .Height = b->height};
	CUresult r;

	if (!b->width || !b->height)
		return CUBLAS_STATUS_SUCCESS;
	r = native_context();
	if (r)
		return blas_status(r);
	r = d->cuMemcpy2DAsync_v2(&copy, stream);
	if (!r && waits)
		r = d->cuStreamSynchronize(stream);
	return r ? CUBLAS_STATUS_MAPPING_ERROR : CUBLAS_STATUS_SUCCESS;
}

static bool is_packed(const struct block *b)
{
	return b->from_pitch == b->width && b->to_pitch == b->width;
}

/* Returns false if a size overflows. */
static bool set_bytes(struct block *b, int64_t rows, int64_t from_ld,
		      int64_t to_ld, int64_t size)
{
	uint64_t from, to;

	return !__builtin_mul_overflow(rows, size, &b->width) &&
	       !__builtin_mul_overflow(from_ld, size, &b->from_pitch) &&
	       !__builtin_mul_overflow(to_ld, size, &b->to_pitch) &&
	       !__builtin_mul_overflow(b->from_pitch, b->height, &from) &&
	       !__builtin_mul_overflow(b->to_pitch, b->height, &to);
}

static cublasStatus_t copy_matrix(CUmemorytype from_type, CUmemorytype to_type,
				  int64_t rows, int64_t columns, int64_t size,
				  const void *from, int64_t from_ld, void *to,
				  int64_t to_ld, CUstream stream, bool waits)
{
	struct block b = {.from_type = from_type,
			  .to_type = to_type,
			  .from = from,
			  .to = to,
			  .height = (uint64_t)columns};

	REQUIRE(rows >= 0 && columns >= 0 && size > 0);
	REQUIRE(holds(from_ld, rows) && holds(to_ld, rows));
	REQUIRE(set_bytes(&b, rows, from_ld, to_ld, size));
	/*
	 * Copies a matrix without gaps as a single column, since pitches have a
	 * limit.
	 */
	if (is_packed(&b)) {
		b.from_pitch = b.to_pitch = b.width *= b.height;
		b.height = b.width != 0;
	}
	return copy_block(&b, stream, waits);
}

#define TO_DEVICE   CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE
#define FROM_DEVICE CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST

/* A vector is a matrix with one row. */
#define TRANSFERS(w, N, name, ways)                                            \
	ENTRY(name##Vector##w, N n, N size, const void *x, N incx, void *y,    \
	      N incy)                                                          \
	{                                                                      \
		REQUIRE(n >= 0);                                               \
		return copy_matrix(ways, n != 0, n, size, x, incx, y, incy,    \
				   NULL, true);                                \
	}                                                                      \
	ENTRY(name##VectorAsync##w, N n, N size, const void *x, N incx,        \
	      void *y, N incy, CUstream stream)                                \
	{                                                                      \
		REQUIRE(n >= 0);                                               \
		return copy_matrix(ways, n != 0, n, size, x, incx, y, incy,    \
				   stream, false);                             \
	}                                                                      \
	ENTRY(name##Matrix##w, N rows, N columns, N size, const void *A,       \
	      N lda, void *B, N ldb)                                           \
	{                                                                      \
		return copy_matrix(ways, rows, columns, size, A, lda, B, ldb,  \
				   NULL, true);                                \
	}                                                                      \
	ENTRY(name##MatrixAsync##w, N rows, N columns, N size, const void *A,  \
	      N lda, void *B, N ldb, CUstream stream)                          \
	{                                                                      \
		return copy_matrix(ways, rows, columns, size, A, lda, B, ldb,  \
				   stream, false);                             \
	}
TRANSFERS(, int, Set, TO_DEVICE)
TRANSFERS(_64, int64_t, Set, TO_DEVICE)
TRANSFERS(, int, Get, FROM_DEVICE)
TRANSFERS(_64, int64_t, Get, FROM_DEVICE)
