/*
 * openblas.h - OpenBLAS, which computes for the libraries that are drop-ins.
 * It is opened when it is needed and never linked: programs that do not compute
 * do not load it, and those that do keep their own BLAS.
 */
#ifndef GKF_OPENBLAS_H
#define GKF_OPENBLAS_H

#include <stdbool.h>
#include <stddef.h>

/* A function of it, and where a struct has the pointer to it. */
struct openblas_function {
	const char *symbol;
	size_t offset;
};

/*
 * Opens it for `library` ("cuSOLVER") alone and puts pointers to `count` of its
 * functions into a struct. To be called once. false: it is not installed or has
 * not all of them, which is logged.
 */
bool openblas_load(const char *library,
		   const struct openblas_function *functions, size_t count,
		   void *ret_pointers);

/*
 * Around its calls, on any thread. A fork waits for those that run, and new
 * ones for a fork: OpenBLAS ends its threads then, and would wait for ever for
 * one that is at work.
 */
void openblas_begin(void);
void openblas_end(void);

#endif
