/*
 * runtime.h - the room that every function of this runtime goes through: is
 * the driver there and initialised, which context is current, what went wrong.
 *
 * Written on the public ABI of libcuda alone. One set of sources makes the
 * runtime of each CUDA major; CUDART_MAJOR says which one is being compiled.
 */
#ifndef GKF_CUDART_RUNTIME_H
#define GKF_CUDART_RUNTIME_H

#include "abi/cudart_abi.h"
#include "fronts/cudart/driver.h"

#include <stddef.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * A launch configuration that <<<...>>> puts aside for the stub that it calls.
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
	bool chosen;      /* device is what cudaSetDevice was told */
	int device;       /* meaningful if chosen */
	unsigned depth;
	struct launch_config config[LAUNCH_DEPTH_MAX];
};
extern _Thread_local struct thread cudart_thread;

/* 1: started. 0: not yet. Less: -cudaError_t that every call answers. */
extern _Atomic int cudart_state;

/* Devices that the driver has; after a start. */
extern int cudart_device_count;

/*
 * Start the runtime and make a context current: the slow ways of cudart_enter()
 * and cudart_enter_context(); init.c, context.c.
 */
cudaError_t cudart_start(void);
cudaError_t cudart_bind(void);

/*
 * Why the runtime could not be started, which is tried first; cudaSuccess: it
 * was, in this process or the one that it was forked from. Nothing is
 * remembered.
 */
cudaError_t cudart_unstarted(void);

/* Remembers an error (not cudaSuccess) as this thread's last; answers it. */
cudaError_t cudart_fail(cudaError_t error);

/* The runtime's name of a CUresult. The same number, as far as both have it. */
cudaError_t cudart_error(CUresult result);

/*
 * The primary context of a device, made if need be and held until
 * cudaDeviceReset. cudaErrorInvalidDevice if there is no such device.
 */
cudaError_t cudart_primary(int device, CUcontext *ret_context);

/* The device of this thread: of its context, or that it would get. */
cudaError_t cudart_current_device(int *ret_device);

/* The driver is there and initialised. */
static inline cudaError_t cudart_enter(void)
{
	int state = atomic_load_explicit(&cudart_state, memory_order_acquire);

	return __builtin_expect(state == 1, 1) ? cudaSuccess : cudart_start();
}

/* The same, and a context is current. */
static inline cudaError_t cudart_enter_context(void)
{
	cudaError_t e = cudart_enter();
	CUdevice device;
	CUresult r;

	if (e)
		return e;
	/* Fails without a context that lives: somebody may have reset it. */
	r = cudart_driver[LEGACY].cuCtxGetDevice(&device);
	return __builtin_expect(r == CUDA_SUCCESS, 1) ? cudaSuccess
						      : cudart_bind();
}

/* The answer of a function that ends in a call of the driver. */
static inline cudaError_t runtime_result(CUresult result)
{
	return __builtin_expect(result == CUDA_SUCCESS, 1)
		   ? cudaSuccess
		   : cudart_fail(cudart_error(result));
}

/* The driver, as functions without stream variants see it. */
#define legacy (&cudart_driver[LEGACY])

/* Leave the function with an error unless all is well. */
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
 * Both twins of a function with streams: BOTH(cudaStreamQuery, _ptsz,
 * (cudaStream_t stream), (stream)) defines them on top of
 *   static cudaError_t cudaStreamQuery_by(const struct driver *d,
 *                                         cudaStream_t stream)
 */
#define UNWRAP(...) __VA_ARGS__
#define BOTH(symbol, suffix, params, names)                                    \
	cudaError_t symbol params                                              \
	{                                                                      \
		return symbol##_by(&cudart_driver[LEGACY], UNWRAP names);      \
	}                                                                      \
	cudaError_t symbol##suffix params                                      \
	{                                                                      \
		return symbol##_by(&cudart_driver[PER_THREAD], UNWRAP names);  \
	}

#endif
