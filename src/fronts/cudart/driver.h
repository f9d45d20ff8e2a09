/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver.h - the driver's functions, as pointers from cuGetProcAddress. There
 * are two sets, which differ in the meaning of stream 0.
 */
#ifndef GKF_CUDART_DRIVER_H
#define GKF_CUDART_DRIVER_H

#include "abi/cuda/cuda_abi.h"

/*
 * For a row of cuda.def, DRIVER_FOR_##callers(code) expands to the code if this
 * runtime calls the driver's function, else to nothing.
 */
#define DRIVER_FOR_NOBODY(...)
#define DRIVER_FOR_NATIVE(...)
#define DRIVER_FOR_RUNTIME(...) __VA_ARGS__
#define DRIVER_FOR_BOTH(...)    __VA_ARGS__

/*
 * The driver's functions. No pointer is NULL: a function that the driver lacks
 * returns CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER.
 */
struct driver {
#define CUDA(symbol, base, since, twin, limit, capture, callers, ...)          \
	DRIVER_FOR_##callers(__typeof__(symbol) *symbol;)
#include "abi/cuda/cuda.def"
#undef CUDA
};

enum driver_set { LEGACY, PER_THREAD, DRIVER_SETS };

/* Both sets are filled before cudart_state becomes 1, and never change after
 * that. */
extern struct driver cudart_driver[DRIVER_SETS];

/*
 * Loads libcuda.so.1 once. Returns the version that cuDriverGetVersion reports,
 * or 0 if there is no driver.
 */
int driver_version(void);

/* Call these before and after a fork, so that no other thread is loading the
 * driver then. */
void driver_hold(void);
void driver_release(void);

/* Fills both sets and calls cuInit. driver_version() must be greater than 0. */
CUresult driver_start(void);

/*
 * Counts a call that this runtime refuses, with the reason, if the driver
 * supports that.
 */
void driver_refused(const char *symbol, const char *why);

#endif
