/*
 * copy.h - what copies have in common.
 */
#ifndef GKF_CUDART_COPY_H
#define GKF_CUDART_COPY_H

#include "fronts/cudart/runtime.h"

#include <stddef.h>

/* Is it a value of the enum? */
static inline bool is_direction(enum cudaMemcpyKind kind)
{
	return (unsigned)kind <= cudaMemcpyDefault;
}

/*
 * Copies bytes that lie in a row, as cudaMemcpy and cudaMemcpyAsync do; a
 * context is current.
 */
cudaError_t copy_now(const struct driver *d, void *dst, const void *src,
		     size_t count, enum cudaMemcpyKind kind);
cudaError_t copy_queued(const struct driver *d, void *dst, const void *src,
			size_t count, enum cudaMemcpyKind kind,
			cudaStream_t stream);

#endif
