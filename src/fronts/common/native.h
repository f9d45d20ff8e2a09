/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native.h - opens the driver and launches kernels, for all libraries that
 * compute. Their kernels are C functions (export_table.h), launched through the
 * driver's public ABI, so streams, graphs, limits and counters treat them like
 * a program's own kernels. Uses only libc.
 *
 * Any thread may call these functions. In a forked child they return the
 * driver's documented error.
 */
#ifndef GKF_NATIVE_H
#define GKF_NATIVE_H

#include "fronts/common/export_table.h"
#include "fronts/common/needed.h"

#include <pthread.h>

/*
 * For a row of cuda.def, NATIVE_FOR_##callers(code) expands to the code if the
 * libraries that launch native kernels call the function, else to nothing.
 */
#define NATIVE_FOR_NOBODY(...)
#define NATIVE_FOR_RUNTIME(...)
#define NATIVE_FOR_NATIVE(...) __VA_ARGS__
#define NATIVE_FOR_BOTH(...)   __VA_ARGS__

/* The driver's functions, by their exact symbols. */
struct native_driver {
#define CUDA(symbol, base, since, twin, limit, capture, callers, ...)          \
	NATIVE_FOR_##callers(__typeof__(symbol) *symbol;)
#include "abi/cuda/cuda.def"
#undef CUDA
	const struct gpukit_table *table; /* NULL: the driver is not ours */
};

/*
 * The driver, opened and initialised at the first call. NULL: there is no
 * working driver, or it is not ours; then nothing can be computed.
 */
const struct native_driver *native_driver(void);

/*
 * Makes sure that the thread has a current context: its own or, as in NVIDIA's
 * libraries, the primary context of the first device.
 */
CUresult native_context(void);

/* A kernel; `name` is what profilers and graphs show. */
struct native_kernel {
	const char *name;
	gpukit_body body;
	size_t param_size; /* bytes, at most 4096 */
	CUkernel handle;   /* set by native_load() */
};

/*
 * The kernels of a library, in static memory. All members but `kernels`,
 * `count` and `lock` start as zero.
 */
struct native_library {
	struct native_kernel *kernels;
	unsigned count;
	pthread_mutex_t lock; /* PTHREAD_MUTEX_INITIALIZER */
	CUlibrary loaded;
};

/*
 * Launches kernel `index` in the current context; its body is called once.
 * params has param_size bytes, which are copied. The first launch loads the
 * library.
 */
CUresult native_launch(struct native_library *library, unsigned index,
		       CUstream stream, const void *params);

/* Counts a call that a library refuses, and logs it. */
void native_refuse(enum gpukit_library library, const char *symbol);

/*
 * Does the same for a call that is refused because a third-party library is
 * missing. The log also says how to install that library.
 */
void native_missing(enum gpukit_library library, enum needed_id needed);

#endif
