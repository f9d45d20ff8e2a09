/* SPDX-License-Identifier: Apache-2.0 */
/*
 * box.h - copies boxes of bytes in pitched memory and arrays.
 */
#ifndef GKF_CUDART_BOX_H
#define GKF_CUDART_BOX_H

#include "fronts/cudart/memory/copy.h"

#include <stddef.h>

/* Source or destination of a copy: pitched memory if `array` is NULL. */
struct end {
	cudaArray_const_t array;
	const void *at;
	size_t pitch, rows; /* for memory: bytes per row, rows per plane */
	size_t x, y, z;     /* where the box begins; x in bytes */
};

/* The size of a box: bytes per row, rows, planes. */
struct box {
	size_t width, height, depth;
};

/*
 * Convert a copy of a box, or cudaMemcpy3D's struct, to the driver's struct. No
 * size may be 0. box_params_3d() converts back.
 */
cudaError_t box_request(const struct end *to, const struct end *from,
			struct box box, enum cudaMemcpyKind kind,
			CUDA_MEMCPY3D *ret_request);
cudaError_t box_request_3d(const struct cudaMemcpy3DParms *p,
			   CUDA_MEMCPY3D *ret_request);
cudaError_t box_params_3d(const CUDA_MEMCPY3D *r,
			  struct cudaMemcpy3DParms *ret_params);

/*
 * Copies a box and waits; if `queue` is not NULL, only queues the copy in
 * *queue. A context must be current.
 */
cudaError_t box_copy(const struct driver *d, const cudaStream_t *queue,
		     const struct end *to, const struct end *from,
		     struct box box, enum cudaMemcpyKind kind);

/*
 * Define both variants, legacy and per-thread, of a function that waits (NOW)
 * and of one that queues (QUEUED). Both call
 *   static cudaError_t work(const struct driver *d, const cudaStream_t *queue,
 *                           ...)
 */
#define NOW(symbol, work, params, names)                                       \
	cudaError_t symbol params                                              \
	{                                                                      \
		return work(legacy, NULL, UNWRAP names);                       \
	}                                                                      \
	cudaError_t symbol##_ptds params                                       \
	{                                                                      \
		return work(&cudart_driver[PER_THREAD], NULL, UNWRAP names);   \
	}
#define QUEUED(symbol, work, params, names)                                    \
	cudaError_t symbol params                                              \
	{                                                                      \
		return work(legacy, &stream, UNWRAP names);                    \
	}                                                                      \
	cudaError_t symbol##_ptsz params                                       \
	{                                                                      \
		return work(&cudart_driver[PER_THREAD], &stream,               \
			    UNWRAP names);                                     \
	}

#endif
