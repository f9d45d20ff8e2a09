/*
 * context.c - finds the context that a call works on: the current one, whoever
 * made it; else the primary context of the thread's device, held from then on.
 */
#include "fronts/cudart/context.h"

#include <pthread.h>
#include <stdlib.h>

/* A device of which this runtime holds the primary context, or held it. */
struct primary {
	CUcontext context;
	bool held;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct primary *primaries; /* cudart_device_count of them */
static int *order;                /* cudaSetValidDevices */
static int order_count;

static bool context_has_room(void)
{
	if (!primaries)
		primaries =
		    calloc((size_t)cudart_device_count, sizeof *primaries);
	return primaries;
}

static CUresult hold_primary(int device, CUcontext *ret_context)
{
	struct primary *p = &primaries[device];
	CUcontext context = NULL;
	CUresult r;

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

static cudaError_t primary(int device, CUcontext *ret_context)
{
	CUresult r = CUDA_ERROR_OUT_OF_MEMORY;

	if (device < 0 || device >= cudart_device_count)
		return cudaErrorInvalidDevice;
	pthread_mutex_lock(&lock);
	if (context_has_room())
		r = hold_primary(device, ret_context);
	pthread_mutex_unlock(&lock);
	return cudart_error(r);
}

cudaError_t cudart_primary(int device, CUcontext *ret_context)
{
	cudaError_t e = primary(device, ret_context);

	return e ? cudart_fail(e) : cudaSuccess;
}

/* Is or was it a primary context of this runtime's? Then which device's. */
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
 * Is the current context one that was reset: by this runtime, by another one in
 * the process, or by the program itself? Its handle may be that of another one
 * by now, which lives.
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

/* The devices to try, one after the other, for a thread that chose none. */
static int candidate(int i)
{
	int device = i < cudart_device_count ? i : -1;

	pthread_mutex_lock(&lock);
	if (order_count)
		device = i < order_count ? order[i] : -1;
	pthread_mutex_unlock(&lock);
	return device;
}

/* A device that another process has for itself is passed over. */
static cudaError_t first_that_works(CUcontext *ret_context)
{
	cudaError_t e, first = cudaErrorDevicesUnavailable;
	int device;

	for (int i = 0; (device = candidate(i)) >= 0; i++) {
		e = primary(device, ret_context);
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
		/* Its own error; by now another thread may have mended it. */
		return runtime_result(legacy->cuCtxGetDevice(&device));
	if (current) {
		context_forget(device);
		TRY(cudart_primary(device, &context));
	} else if (cudart_thread.chosen) {
		TRY(cudart_primary(cudart_thread.device, &context));
	} else {
		TRY(first_that_works(&context));
	}
	return runtime_result(legacy->cuCtxSetCurrent(context));
}

/* A context that has failed tells nothing; of its own this knows without. */
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
	    cudart_thread.chosen ? cudart_thread.device : candidate(0);
	return cudaSuccess;
}

/* Does this runtime hold it? */
static bool is_held(CUcontext context)
{
	bool found = false;

	pthread_mutex_lock(&lock);
	for (int i = 0; primaries && i < cudart_device_count; i++)
		found |= primaries[i].held && primaries[i].context == context;
	pthread_mutex_unlock(&lock);
	return found;
}

/* The program may hold one that this runtime has never asked for. */
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
