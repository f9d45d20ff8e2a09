/* SPDX-License-Identifier: Apache-2.0 */
/*
 * right.h - correct arguments for any implemented entry point of CUDA: streams,
 * memory, existing kernels, sensible structs.
 */
#ifndef TESTS_CUDA_RIGHT_H
#define TESTS_CUDA_RIGHT_H

#include "fronts/cuda/args.h"

#define RIGHT_BUFFER 65536 /* bytes */

/* Called once; right_end() removes what it leaves in the directory. */
void right_prepare(void *library, const char *directory);
void right_end(void);

/* Makes the objects of the arguments; called after cuInit. */
void right_make(void);

/* Makes the calls that must precede a call. */
void right_before(const char *symbol);

/* The argument of a function. */
uint64_t right_value(const char *symbol, const struct arg *a);

/* The next of ARGS_MAX buffers, zeroed. */
unsigned char *right_buffer(void);

void right_callback(void);

#endif
