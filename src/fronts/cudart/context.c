/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context.c - finds the context in which a call works: the current one, even if
 * the program created it; otherwise the primary context of the thread's device,
 * which the runtime then retains.
 */
#include "fronts/cudart/context.h"
#include "base/assert.h"

#include <pthread.h>
#include <stdlib.h>

/* The primary context of a device, which this runtime retains or has retained.
 */
struct primary {
	CUcontext context;
	bool held;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct primary *primaries; /* one per device */
static int *order;                /* order set by cudaSetValidDevices() */
static int order_count;

/* False: no memory. The caller holds lock. */
static bool allocate_primaries(void)
{
	GK_ASSERT(gk_lock_held(&lock));
	if (!primaries)
		primaries =
		    calloc((size_t)cudart_device_count, sizeof *primaries);
	return primaries;
}

/* The caller holds lock. */
static CUresult retain_locked(int device, CUcontext *ret_context)
{
	struct primary *p = &primaries[device];
	CUcontext context = NULL;
	CUresult r;

	GK_ASSERT(gk_lock_held(&lock));
	if (!p->held) {
		r = legacy->cuDevicePrimaryCtxRetain(&context, device);
		if (r)
			return r;
		p->context = context;
		p->held = true;
	}
	*ret_context = p->context;
	return CUDA_SUCCESS;
}

static cudaError_t retain_primary(int device, CUcontext *ret_context)
{
	CUresult r = CUDA_ERROR_OUT_OF_MEMORY;

	if (device < 0 || device >= cudart_device_count)
		return cudaErrorInvalidDevice;
	pthread_mutex_lock(&lock);
	if (allocate_primaries())
		r = retain_locked(device, ret_context);
	pthread_mutex_unlock(&lock);
	return cudart_error(r);
}

cudaError_t cudart_primary(int device, CUcontext *ret_context)
{
	cudaError_t e = retain_primary(device, ret_context);

	return e ? cudart_fail(e) : cudaSuccess;
}

/* Whether this runtime has ever retained the context. If so, *ret_device is its
 * device. */
static bool was_primary(CUcontext context, int *ret_device)
{
	bool found = false;

	pthread_mutex_lock(&lock);
	for (int i = 0; primaries && i < cudart_device_count && !found; i++)
		if (primaries[i].context == context) {
			*ret_device = i;
			found = true;
		}
	pthread_mutex_unlock(&lock);
	return found;
}

/*
 * Whether the current context was retained by this runtime and has been reset
 * since: by this runtime, by another runtime in the process, or by the program.
 * Asks the driver, because a new context, which is alive, may have the same
 * handle.
 */
static bool was_reset(CUcontext current, int *ret_device)
{
	CUdevice device;
	int found;

	if (!was_primary(current, &found) ||
	    legacy->cuCtxGetDevice(&device) != CUDA_ERROR_CONTEXT_IS_DESTROYED)
		return false;
	*ret_device = found;
	return true;
}

/*
 * Returns the i-th device to try for a thread that has not chosen a device; -1:
 * there are no more devices to try.
 */
static int find_candidate(int i)
{
	int device = i < cudart_device_count ? i : -1;

	pthread_mutex_lock(&lock);
	if (order_count)
		device = i < order_count ? order[i] : -1;
	pthread_mutex_unlock(&lock);
	return device;
}

/* Skips devices that another process uses exclusively. */
static cudaError_t retain_first(CUcontext *ret_context)
{
	cudaError_t e, first = cudaErrorDevicesUnavailable;
	int device;

	for (int i = 0; (device = find_candidate(i)) >= 0; i++) {
		e = retain_primary(device, ret_context);
		if (!e)
			return e;
		if (!i)
			first = e;
		if (e != cudaErrorDevicesUnavailable)
			break;
	}
	return cudart_fail(first);
}

cudaError_t cudart_bind(void)
{
	CUcontext current = NULL, context = NULL;
	int device;

	TRY(runtime_result(legacy->cuCtxGetCurrent(&current)));
	if (current && !was_reset(current, &device))
		/* Returns the context's error, unless another thread has just
		 * reset it. */
		return runtime_result(legacy->cuCtxGetDevice(&device));
	if (current) {
		context_forget(device);
		TRY(cudart_primary(device, &context));
	} else if (cudart_thread.chosen) {
		TRY(cudart_primary(cudart_thread.device, &context));
	} else {
		TRY(retain_first(&context));
	}
	return runtime_result(legacy->cuCtxSetCurrent(context));
}

/* The driver does not report the device of a failed context; we know the device
 * of each context that we retained. */
static cudaError_t device_of_context(CUcontext context, int *ret_device)
{
	CUdevice device;
	CUresult r = legacy->cuCtxGetDevice(&device);

	if (!r)
		*ret_device = device;
	else if (!was_primary(context, ret_device))
		return runtime_result(r);
	return cudaSuccess;
}

cudaError_t cudart_current_device(int *ret_device)
{
	CUcontext now = NULL;

	TRY(runtime_result(legacy->cuCtxGetCurrent(&now)));
	if (now)
		return device_of_context(now, ret_device);
	*ret_device =
	    cudart_thread.chosen ? cudart_thread.device : find_candidate(0);
	return cudaSuccess;
}

/* Whether this runtime retains the context. */
static bool is_held(CUcontext context)
{
	bool found = false;

	pthread_mutex_lock(&lock);
	for (int i = 0; primaries && i < cudart_device_count; i++)
		found |= primaries[i].held && primaries[i].context == context;
	pthread_mutex_unlock(&lock);
	return found;
}

/* The program may itself have retained a primary context that this runtime does
 * not know. */
bool context_is_primary(CUcontext current)
{
	CUcontext primary_context = NULL;
	unsigned int flags;
	CUdevice device;
	int active = 0, reset;

	if (is_held(current) || was_reset(current, &reset))
		return true;
	if (legacy->cuCtxGetDevice(&device) ||
	    legacy->cuDevicePrimaryCtxGetState(device, &flags, &active) ||
	    !active ||
	    legacy->cuDevicePrimaryCtxRetain(&primary_context, device))
		return false;
	legacy->cuDevicePrimaryCtxRelease_v2(device);
	return primary_context == current;
}

void context_forget(int device)
{
	pthread_mutex_lock(&lock);
	if (primaries)
		primaries[device].held = false;
	pthread_mutex_unlock(&lock);
}

cudaError_t context_order(const int *devices, int count)
{
	int *copy = NULL;

	if (count) {
		copy = malloc((size_t)count * sizeof *copy);
		REQUIRE(copy, cudaErrorMemoryAllocation);
		for (int i = 0; i < count; i++)
			copy[i] = devices[i];
	}
	pthread_mutex_lock(&lock);
	free(order);
	order = copy;
	order_count = count;
	pthread_mutex_unlock(&lock);
	return cudaSuccess;
}
