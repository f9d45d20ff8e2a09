/*
 * link_object.h - device code in host objects (CU_JIT_INPUT_OBJECT) and in
 * archives of them (CU_JIT_INPUT_LIBRARY).
 */
#ifndef GKF_CUDA_LINK_OBJECT_H
#define GKF_CUDA_LINK_OBJECT_H

#include "fronts/cuda/front.h"

struct link_bytes {
	const char *data;
	size_t size;
};

/* Takes a fat binary; a NUL stands behind it. An error ends the search. */
typedef CUresult link_add(void *to, const void *fatbin, size_t size);

/*
 * Calls add for each fat binary. CUDA_ERROR_INVALID_IMAGE: it is no such file;
 * CUDA_ERROR_NO_BINARY_FOR_GPU: it has no device code; or what add said.
 */
CUresult link_object_add(CUjitInputType type, const void *data, size_t size,
			 link_add *add, void *to);

#endif
