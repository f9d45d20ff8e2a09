/*
 * right.h - arguments that are right, for any entry point of CUDA that is
 * written: streams, memory, kernels that there are, structs that make sense.
 */
#ifndef TESTS_CUDA_RIGHT_H
#define TESTS_CUDA_RIGHT_H

#include "fronts/cuda/args.h"

#define RIGHT_BUFFER 65536 /* bytes */

/* Once; right_end() removes what it leaves in the directory. */
void right_prepare(void *library, const char *directory);
void right_end(void);

/* Makes what the arguments are about; after cuInit. */
void right_make(void);

/* Does all that must have been done before a call. */
void right_before(const char *symbol);

/* The argument of a function. */
uint64_t right_value(const char *symbol, const struct arg *a);

/* One of ARGS_MAX buffers in turn, zeroed. */
unsigned char *right_buffer(void);

void right_callback(void);

#endif
