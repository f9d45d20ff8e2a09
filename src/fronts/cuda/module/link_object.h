/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_object.h - finds the device code in host objects (CU_JIT_INPUT_OBJECT)
 * and in archives of host objects (CU_JIT_INPUT_LIBRARY).
 */
#ifndef GKF_CUDA_LINK_OBJECT_H
#define GKF_CUDA_LINK_OBJECT_H

#include "fronts/cuda/context/front.h"

struct link_bytes {
	const char *data;
	size_t size;
};

/*
 * Called with a fat binary, which is followed by a NUL. An error ends the
 * search.
 */
typedef CUresult link_add(void *to, const void *fatbin, size_t size);

/*
 * Calls add() for each fat binary in a file. Returns CUDA_ERROR_INVALID_IMAGE
 * if the file is of another type, CUDA_ERROR_NO_BINARY_FOR_GPU if it has no
 * device code, or the error that add() returned.
 */
CUresult link_object_add(CUjitInputType type, const void *data, size_t size,
			 link_add *add, void *to);

#endif
