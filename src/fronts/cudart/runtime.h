/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime.h - the beginning and the end of every function of this runtime:
 * starts the driver, makes a context current, records errors.
 *
 * It uses only the public ABI of libcuda. The runtimes of all CUDA majors are
 * compiled from the same sources; CUDART_MAJOR is the one being compiled.
 */
#ifndef GKF_CUDART_RUNTIME_H
#define GKF_CUDART_RUNTIME_H

#include "abi/cudart/cudart_abi.h"
#include "fronts/cudart/driver.h"

#include <stddef.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * A launch configuration, which <<<...>>> pushes for the host stub that it
 * calls.
 */
struct launch_config {
	dim3 grid, block;
	size_t shared;
	cudaStream_t stream;
};
#define LAUNCH_DEPTH_MAX 16

/* The state of one thread. */
struct thread {
	cudaError_t last; /* cudaGetLastError */
	bool chosen;      /* cudaSetDevice was called */
	int device;       /* the device that the thread chose */
	unsigned depth;
	struct launch_config config[LAUNCH_DEPTH_MAX];
};
extern _Thread_local struct thread cudart_thread;

/*
 * 1 if the runtime has started, 0 if not yet. A negative value is the negated
 * cudaError_t that every call returns, because the start failed.
 */
extern _Atomic int cudart_state;

/* The number of devices; set when the runtime starts. */
extern int cudart_device_count;

/*
 * Start the runtime and make a context current: the slow paths of
 * cudart_enter() and cudart_enter_context(); init.c, context.c.
 */
cudaError_t cudart_start(void);
cudaError_t cudart_bind(void);

/*
 * Starts the runtime if needed. Returns the error if that failed; cudaSuccess
 * if the runtime has started, in this process or in the one that forked it.
 * Does not set the thread's last error.
 */
cudaError_t cudart_unstarted(void);

void cudart_set_last(cudaError_t error);

/*
 * Sets the thread's last error (not cudaSuccess), and returns it. Inline, so
 * that a caller's compiler sees that the result is the error.
 */
static inline cudaError_t cudart_fail(cudaError_t error)
{
	cudart_set_last(error);
	return error;
}

/* Converts a CUresult. Errors that exist in both APIs have the same number. */
cudaError_t cudart_error(CUresult result);

/*
 * Returns the primary context of a device, created if necessary and retained
 * until cudaDeviceReset. cudaErrorInvalidDevice if there is no such device.
 */
cudaError_t cudart_primary(int device, CUcontext *ret_context);

/* The device of the current context. If there is none, the device whose primary
 * context would become current. */
cudaError_t cudart_current_device(int *ret_device);

/* Makes sure that the runtime has started. */
static inline cudaError_t cudart_enter(void)
{
	int state = atomic_load_explicit(&cudart_state, memory_order_acquire);

	return __builtin_expect(state == 1, 1) ? cudaSuccess : cudart_start();
}

/* Makes sure that the runtime has started and that a context is current. */
static inline cudaError_t cudart_enter_context(void)
{
	cudaError_t e = cudart_enter();
	CUdevice device;
	CUresult r;

	if (e)
		return e;
	/* Fails if the context is not alive: it may have been reset. */
	r = cudart_driver[LEGACY].cuCtxGetDevice(&device);
	return __builtin_expect(r == CUDA_SUCCESS, 1) ? cudaSuccess
						      : cudart_bind();
}

/* Converts and records the result of a driver call. */
static inline cudaError_t runtime_result(CUresult result)
{
	return __builtin_expect(result == CUDA_SUCCESS, 1)
		   ? cudaSuccess
		   : cudart_fail(cudart_error(result));
}

/* The driver functions for runtime functions without a per-thread variant. */
#define legacy (&cudart_driver[LEGACY])

/* Return from the function if there is an error. */
#define TRY(call)                                                              \
	do {                                                                   \
		cudaError_t tried = (call);                                    \
		if (__builtin_expect(tried != cudaSuccess, 0))                 \
			return tried;                                          \
	} while (0)
#define ENTER()         TRY(cudart_enter())
#define ENTER_CONTEXT() TRY(cudart_enter_context())
#define REQUIRE(condition, error)                                              \
	do {                                                                   \
		if (__builtin_expect(!(condition), 0))                         \
			return cudart_fail(error);                             \
	} while (0)

/*
 * Defines the twins of a function with a stream, that is the function itself
 * and its variant for per-thread default streams (suffix _ptsz or _ptds), and
 * begins the body that they share:
 * BOTH_STREAMS(cudaStreamQuery, _ptsz, (cudaStream_t stream), (stream)) {...}
 * defines
 *   static cudaError_t cudaStreamQuery_by(const struct driver *d,
 *                                         cudaStream_t stream)
 * which cudaStreamQuery() and cudaStreamQuery_ptsz() call. So every body has
 * one more parameter: d, the set of driver functions that matches the twin that
 * was called. To find the definition of NAME_by, search for
 * "BOTH_STREAMS(NAME,".
 */
#define UNWRAP(...) __VA_ARGS__
#define BOTH_STREAMS(symbol, suffix, params, names)                            \
	static cudaError_t symbol##_by(const struct driver *d, UNWRAP params); \
	cudaError_t symbol params                                              \
	{                                                                      \
		return symbol##_by(&cudart_driver[LEGACY], UNWRAP names);      \
	}                                                                      \
	cudaError_t symbol##suffix params                                      \
	{                                                                      \
		return symbol##_by(&cudart_driver[PER_THREAD], UNWRAP names);  \
	}                                                                      \
	static inline cudaError_t symbol##_by(const struct driver *d,          \
					      UNWRAP params)

#endif
