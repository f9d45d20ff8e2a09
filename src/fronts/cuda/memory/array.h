/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array.h - CUDA arrays: rows of elements in device memory, whose address
 * programs cannot get. The levels of a mipmapped array are arrays too.
 */
#ifndef GKF_CUDA_ARRAY_H
#define GKF_CUDA_ARRAY_H

#include "fronts/cuda/context/front.h"

struct CUarray_st {
	CUcontext ctx;
	CUDA_ARRAY3D_DESCRIPTOR desc; /* as requested */
	CUdeviceptr base;             /* address of its first element */
	/* host address at which this process accesses the first element */
	unsigned char *view;
	size_t element; /* bytes */
	size_t width;   /* bytes in a row */
	/* number of rows, and of slices; at least 1 */
	size_t height, depth;
	size_t pitch, slice;       /* bytes between rows, and between slices */
	size_t size;               /* total bytes */
	CUmipmappedArray level_of; /* NULL: the array is not a level */
	CUarray next, prev;        /* neighbours in the list in array.c */
};

/*
 * Checks the description of an array or mipmapped array. Fails with
 * CUDA_ERROR_INVALID_VALUE, or with CUDA_ERROR_NOT_SUPPORTED if the description
 * is valid but refused here. *ret_element receives the bytes per element.
 */
CUresult array_check(CUcontext ctx, const CUDA_ARRAY3D_DESCRIPTOR *d,
		     bool mipmapped, size_t *ret_element);

/*
 * array_lay_out() makes the handle of a checked array that has no memory yet;
 * NULL: out of memory. array_settle() then assigns to it `size` bytes at
 * `base`.
 */
CUarray array_lay_out(CUcontext ctx, const CUDA_ARRAY3D_DESCRIPTOR *d,
		      size_t element);
void array_settle(CUarray array, CUdeviceptr base);

/* Frees the handle of an array that has memory; the caller frees the memory. */
void array_end(CUarray array);

/* Whether this is a live array. */
bool array_is(CUarray array);

/*
 * Frees the handles of all arrays of a context that ends; the context frees
 * their memory.
 */
void array_close(CUcontext ctx);

#endif
