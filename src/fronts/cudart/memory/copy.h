/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy.h - copies of contiguous bytes, for copy.c and symbol.c.
 */
#ifndef GKF_CUDART_COPY_H
#define GKF_CUDART_COPY_H

#include "fronts/cudart/runtime.h"

#include <stddef.h>

/* Whether `kind` is a value of the enum. */
static inline bool is_direction(enum cudaMemcpyKind kind)
{
	return (unsigned)kind <= cudaMemcpyDefault;
}

/*
 * Copy contiguous bytes as cudaMemcpy and cudaMemcpyAsync do. A context must be
 * current.
 */
cudaError_t copy_now(const struct driver *d, void *dst, const void *src,
		     size_t count, enum cudaMemcpyKind kind);
cudaError_t copy_queued(const struct driver *d, void *dst, const void *src,
			size_t count, enum cudaMemcpyKind kind,
			cudaStream_t stream);

#endif
