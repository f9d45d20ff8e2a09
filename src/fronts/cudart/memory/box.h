/*
 * box.h - copies of boxes of bytes: pitched memory and arrays.
 */
#ifndef GKF_CUDART_BOX_H
#define GKF_CUDART_BOX_H

#include "fronts/cudart/copy.h"

#include <stddef.h>

/* One end of a copy: an array, or pitched memory if that is NULL. */
struct end {
	cudaArray_const_t array;
	const void *at;
	size_t pitch, rows; /* of memory: bytes of a row, rows of a plane */
	size_t x, y, z;     /* where the box begins; x in bytes */
};

/* The box in bytes, rows and planes. */
struct box {
	size_t width, height, depth;
};

/*
 * A copy as the driver takes it, of a box or of cudaMemcpy3D's struct, none of
 * whose lengths is 0; and the struct that such a copy was made of.
 */
cudaError_t box_request(const struct end *to, const struct end *from,
			struct box box, enum cudaMemcpyKind kind,
			CUDA_MEMCPY3D *ret_request);
cudaError_t box_request_3d(const struct cudaMemcpy3DParms *p,
			   CUDA_MEMCPY3D *ret_request);
cudaError_t box_params_3d(const CUDA_MEMCPY3D *r,
			  struct cudaMemcpy3DParms *ret_params);

/* `queue` NULL: waits; else into that stream. A context is current. */
cudaError_t box_copy(const struct driver *d, const cudaStream_t *queue,
		     const struct end *to, const struct end *from,
		     struct box box, enum cudaMemcpyKind kind);

/*
 * Both twins of a function that waits, and of one that queues, on top of
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
