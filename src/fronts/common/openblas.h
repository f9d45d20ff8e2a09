/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openblas.h - OpenBLAS, which computes for our libraries. It is opened on
 * demand and never linked: programs that do not compute do not load it, and
 * those that do keep their own BLAS.
 */
#ifndef GKF_OPENBLAS_H
#define GKF_OPENBLAS_H

#include <stdbool.h>
#include <stddef.h>

/* A function of OpenBLAS, and the offset of its pointer in a struct. */
struct openblas_function {
	const char *symbol;
	size_t offset;
};

/*
 * Opens OpenBLAS for `library`, such as "cuSOLVER", and fills a struct with
 * pointers to `count` functions. Call it once. If OpenBLAS is not installed or
 * lacks one of the functions, logs that and returns false.
 */
bool openblas_load(const char *library,
		   const struct openblas_function *functions, size_t count,
		   void *ret_pointers);

/*
 * Call these before and after calls of OpenBLAS, on any thread. A fork waits
 * for running calls, and new calls wait for the fork: OpenBLAS ends its threads
 * before a fork, and would wait for ever for a busy thread.
 */
void openblas_begin(void);
void openblas_end(void);

#endif
