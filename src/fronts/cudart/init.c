/* SPDX-License-Identifier: Apache-2.0 */
/*
 * init.c - starts the runtime: loads and initialises the driver at the first
 * call that needs it, once per process. A child that is forked after the start
 * has no driver.
 */
#include "fronts/cudart/kernel/lookup.h"

#include <pthread.h>

/*
 * The oldest driver that this runtime supports: the first of the same major
 * version.
 */
#define NEEDED (CUDART_MAJOR * 1000)

_Atomic int cudart_state;
int cudart_device_count;

static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;

/*
 * Delays the fork until no other thread is starting the runtime. While
 * libraries are being loaded, their fork handlers are not registered yet, so a
 * child forked at that time could not start the runtime again.
 */
static void before_fork(void)
{
	pthread_mutex_lock(&starting);
	driver_hold();
	lookup_lock();
}

static void in_parent(void)
{
	lookup_unlock();
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

/* Starts the runtime unless that has been tried before. Returns cudart_state.
 */
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
