/*
 * native.h - what the libraries that compute share: the driver below them, and
 * their kernels, which are C functions (export_table.h) launched through the
 * driver's public ABI. So streams, graphs, limits and counters treat them like
 * kernels of a program. libc only.
 *
 * All of it may be called by any thread. A forked child has the driver's
 * documented error.
 */
#ifndef GKF_NATIVE_H
#define GKF_NATIVE_H

#include "fronts/common/export_table.h"

#include <pthread.h>

/* The driver's functions, by their exact symbols; rows of native.def. */
struct native_driver {
#define DRIVER(symbol) __typeof__(symbol) *symbol;
#include "fronts/common/native.def"
#undef DRIVER
	const struct gpukit_table *table; /* NULL: a driver that is not ours */
};

/*
 * The driver, opened and initialised at the first call. NULL: there is none
 * that works, or none of ours: nothing can be computed then.
 */
const struct native_driver *native_driver(void);

/*
 * The thread has a current context afterwards: its own, else the primary
 * context of the first device, as NVIDIA's libraries have it.
 */
CUresult native_context(void);

/* A kernel; name as profilers and graphs show it. */
struct native_kernel {
	const char *name;
	gpukit_body body;
	size_t param_size; /* bytes, at most 4096 */
	CUkernel handle;   /* native_load()'s */
};

/*
 * The kernels of a library, in static memory; zero besides `kernels`, `count`.
 */
struct native_library {
	struct native_kernel *kernels;
	unsigned count;
	pthread_mutex_t lock; /* PTHREAD_MUTEX_INITIALIZER */
	CUlibrary loaded;
};

/*
 * Launches kernel `index` in the current context, its body to be called once.
 * params: param_size bytes, copied. The library is loaded at its first launch.
 */
CUresult native_launch(struct native_library *library, unsigned index,
		       CUstream stream, const void *params);

/* Counts a refused call of a library, and logs it once a symbol. */
void native_refuse(enum gpukit_library library, const char *symbol);

#endif
