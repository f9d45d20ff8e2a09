/*
 * driver.c - finds the driver's libraries and all their functions, once.
 */
#include "limit/preload/driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

struct driver_cuda driver_cuda;
struct driver_nvml driver_nvml;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool cuda_ready, nvml_ready;

static void *find_library(const char *name)
{
	return dlopen(name, RTLD_LAZY | RTLD_LOCAL);
}

static void fill_cuda(void *library)
{
#define CUDA(symbol, base, since, stream, params)                              \
	driver_cuda.symbol = (__typeof__(symbol) *)dlsym(library, #symbol);
#include "abi/cuda.def"
#undef CUDA
}

static void fill_nvml(void *library)
{
#define NVML(function, params)                                                 \
	driver_nvml.function =                                                 \
	    (__typeof__(function) *)dlsym(library, #function);
#include "abi/nvml.def"
#undef NVML
}

static bool make_ready(_Atomic bool *ready, const char *name,
		       void (*fill)(void *library))
{
	void *library;

	if (atomic_load_explicit(ready, memory_order_acquire))
		return true;
	pthread_mutex_lock(&lock);
	library = atomic_load(ready) ? NULL : find_library(name);
	if (library) {
		fill(library);
		atomic_store_explicit(ready, true, memory_order_release);
	}
	pthread_mutex_unlock(&lock);
	return atomic_load(ready);
}

bool driver_cuda_ready(void)
{
	return make_ready(&cuda_ready, "libcuda.so.1", fill_cuda);
}

bool driver_nvml_ready(void)
{
	return make_ready(&nvml_ready, "libnvidia-ml.so.1", fill_nvml);
}
