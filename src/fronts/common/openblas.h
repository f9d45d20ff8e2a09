/*
 * openblas.h - OpenBLAS, which computes for the libraries that are drop-ins.
 * It is opened when it is needed and never linked: programs that do not compute
 * do not load it, and those that do keep their own BLAS.
 */
#ifndef GKF_OPENBLAS_H
#define GKF_OPENBLAS_H

/*
 * Opens it for `library` ("cuSOLVER") alone. A handle for dlsym(), or NULL,
 * which is logged: it is not installed.
 */
void *openblas_open(const char *library);

/*
 * Around its calls, on any thread. A fork waits for those that run, and new
 * ones for a fork: OpenBLAS ends its threads then, and would wait for ever for
 * one that is at work.
 */
void openblas_begin(void);
void openblas_end(void);

#endif
