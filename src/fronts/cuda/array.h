/*
 * array.h - CUDA arrays: rows of elements in memory of a device that nobody
 * gets the address of. Those of a mipmapped array are its levels.
 */
#ifndef GKF_CUDA_ARRAY_H
#define GKF_CUDA_ARRAY_H

#include "fronts/cuda/front.h"

struct CUarray_st {
	CUcontext ctx;
	CUDA_ARRAY3D_DESCRIPTOR desc; /* as it was asked for */
	CUdeviceptr base;             /* of its first element */
	unsigned char *view;          /* where this process reads it */
	size_t element;               /* bytes */
	size_t width;                 /* bytes of a row */
	size_t height, depth;         /* rows, slices; 1 at the least */
	size_t pitch, slice;          /* bytes from row to row, and so on */
	size_t size;                  /* bytes in all */
	CUmipmappedArray level_of;    /* whose level it is; NULL: of none */
	CUarray next, prev;           /* array.c's */
};

/*
 * May a context have such an array, or one with levels (mipmapped)?
 * CUDA_ERROR_INVALID_VALUE, and CUDA_ERROR_NOT_SUPPORTED for what is refused.
 * *ret_element: bytes of an element.
 */
CUresult array_check(CUcontext ctx, const CUDA_ARRAY3D_DESCRIPTOR *d,
		     bool mipmapped, size_t *ret_element);

/*
 * Makes the handle of a checked array, without memory; NULL: out of memory.
 * array_settle() then gives it its `size` bytes at base.
 */
CUarray array_lay_out(CUcontext ctx, const CUDA_ARRAY3D_DESCRIPTOR *d,
		      size_t element);
void array_settle(CUarray array, CUdeviceptr base);

/* Ends a settled handle; the memory is the caller's to free. */
void array_end(CUarray array);

/* Is it an array that lives? */
bool array_is(CUarray array);

/* Ends the handles of a context that ends; its memory goes with it. */
void array_close(CUcontext ctx);

#endif
