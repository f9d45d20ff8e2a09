/*
 * init.c - starting: the driver is opened and initialised when the first call
 * needs it, once for the process. A child that was forked after the start has
 * no driver.
 */
#include "fronts/cudart/registry.h"

#include <pthread.h>

/*
 * The driver that this runtime needs: one of its own major, whatever the
 * minor.
 */
#define NEEDED (CUDART_MAJOR * 1000)

_Thread_local struct thread cudart_thread;
_Atomic int cudart_state;
int cudart_device_count;

static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;

/*
 * A start that goes on is waited for. What it loads meanwhile is not told of
 * this fork, so a child in the middle of it could not begin anew.
 */
static void before_fork(void)
{
	pthread_mutex_lock(&starting);
	driver_hold();
	registry_hold();
}

static void in_parent(void)
{
	registry_release();
	driver_release();
	pthread_mutex_unlock(&starting);
}

static void in_child(void)
{
	if (atomic_load(&cudart_state) == 1)
		atomic_store(&cudart_state, -cudaErrorInitializationError);
	in_parent();
}

__attribute__((constructor)) static void load(void)
{
	pthread_atfork(before_fork, in_parent, in_child);
}

static cudaError_t start_runtime(void)
{
	CUresult r;

	if (driver_version() < NEEDED)
		return cudaErrorInsufficientDriver;
	r = driver_start();
	if (!r)
		r = legacy->cuDeviceGetCount(&cudart_device_count);
	if (r)
		return cudart_error(r);
	return cudart_device_count ? cudaSuccess : cudaErrorNoDevice;
}

/* Started or not: what cudart_state is from now on. */
static int begin_runtime(void)
{
	int state;

	pthread_mutex_lock(&starting);
	state = atomic_load(&cudart_state);
	if (!state) {
		cudaError_t e = start_runtime();

		state = e ? -(int)e : 1;
		atomic_store(&cudart_state, state);
	}
	pthread_mutex_unlock(&starting);
	return state;
}

cudaError_t cudart_start(void)
{
	int state = begin_runtime();

	return state == 1 ? cudaSuccess : cudart_fail((cudaError_t)-state);
}

cudaError_t cudart_unstarted(void)
{
	int state = atomic_load_explicit(&cudart_state, memory_order_acquire);

	if (!state)
		state = begin_runtime();
	return state == 1 || state == -cudaErrorInitializationError
		   ? cudaSuccess
		   : (cudaError_t)-state;
}
