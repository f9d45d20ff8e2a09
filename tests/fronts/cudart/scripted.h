/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scripted.h - a libcuda.so.1 for the runtime to run on: it counts calls, and
 * returns what the test says. It implements a little itself: contexts,
 * libraries and their kernels, attributes of devices.
 */
#ifndef TESTS_CUDART_SCRIPTED_H
#define TESTS_CUDART_SCRIPTED_H

#include "abi/cuda/cuda_abi.h"

#include <stddef.h>
#include <stdatomic.h>
#include <stdbool.h>

#define SCRIPTED_DEVICES 3

/* Flags of cuCtxCreate: the new context has the handle of the current one. */
#define SCRIPTED_SAME_HANDLE 0x7777

/* May be changed before the runtime starts. */
extern CUDA_EXPORT int scripted_version;       /* 13000 */
extern CUDA_EXPORT size_t scripted_table_size; /* 0: it has no table */

/* Sets the result of a function from now on, by its exact symbol. */
CUDA_EXPORT void scripted_answer(const char *symbol, CUresult result);

/* How often it was called; NULL: all functions together. */
CUDA_EXPORT unsigned scripted_calls(const char *symbol);

/* The last function called in this thread; "" after scripted_forget(). */
CUDA_EXPORT const char *scripted_last(void);
CUDA_EXPORT void scripted_forget(void);

/* The function that was last refused through the table, and the reason; NULL:
 * none was given. */
CUDA_EXPORT const char *scripted_refused(void);
CUDA_EXPORT const char *scripted_reason(void);

/* Images: what is loaded must be one of these; name NULL ends the list. */
struct scripted_image {
	const void *code;
	const char *const *names; /* kernels and variables */
	CUresult result;          /* of loading it */
	_Atomic int loaded, loads;
	char memory[64]; /* the memory of all variables */
};
extern CUDA_EXPORT struct scripted_image scripted_images[4];

/* The last launch of this thread. */
struct scripted_launch {
	const char *kernel; /* its name */
	unsigned grid[3], block[3], shared;
	CUstream stream;
	void **args;
	bool per_thread, cooperative;
	unsigned attributes;     /* cuLaunchKernelEx: their number */
	CUlaunchAttribute first; /* of them */
};
extern CUDA_EXPORT _Thread_local struct scripted_launch scripted_launch;

/* The last three-dimensional copies, in order. */
extern CUDA_EXPORT CUDA_MEMCPY3D scripted_boxes[8];
extern CUDA_EXPORT unsigned scripted_box_count;

#endif
