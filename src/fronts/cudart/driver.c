/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver.c - loads libcuda.so.1 and gets its functions.
 */
#include "fronts/cudart/driver.h"
#include "fronts/common/export_table.h"

#include <stdint.h>
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

/* Per-thread default streams exist since this version. */
#define SINCE_PER_THREAD 7000

static const struct {
	const char *base;
	int since;
	size_t offset;
} functions[] = {
#define CUDA(symbol, base, since, twin, limit, capture, callers, ...)          \
	DRIVER_FOR_##callers({#base, since, offsetof(struct driver, symbol)}, )
#include "abi/cuda/cuda.def"
#undef CUDA
};

typedef void (*function)(void);

struct driver cudart_driver[DRIVER_SETS];

static __typeof__(cuGetProcAddress_v2) *get;
static pthread_once_t opened = PTHREAD_ONCE_INIT;
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static int version;

/* Called in place of a function that this driver lacks. */
static CUresult answer_missing(void)
{
	return CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER;
}

/* A driver that is asked for a version newer than its own may return an older
 * function. */
static function ask_driver(const char *base, int since, uint64_t flags)
{
	CUdriverProcAddressQueryResult status;
	void *found = NULL;

	if (since > version || get(base, &found, since, flags, &status) ||
	    !found)
		return NULL;
	return (function)found;
}

void driver_hold(void)
{
	pthread_mutex_lock(&opening);
}

void driver_release(void)
{
	pthread_mutex_unlock(&opening);
}

/*
 * Holds the lock, so that a fork waits until dlopen() has returned: in a child
 * forked before, the library would stay half loaded.
 */
static void *load_driver(void)
{
	void *library;

	driver_hold();
	library = dlopen("libcuda.so.1", RTLD_NOW);
	driver_release();
	return library;
}

/* A driver without cuGetProcAddress_v2 is too old, but reports its version. */
static void open_driver(void)
{
	void *library = load_driver();
	__typeof__(cuDriverGetVersion) *get_version;

	if (!library)
		return;
	*(void **)&get_version = dlsym(library, "cuDriverGetVersion");
	*(void **)&get = dlsym(library, "cuGetProcAddress_v2");
	if (!get_version || get_version(&version))
		version = 0;
}

int driver_version(void)
{
	pthread_once(&opened, open_driver);
	return version;
}

static void fill_driver(struct driver *set, uint64_t flags, int at_least)
{
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		int since = functions[i].since;
		function f =
		    ask_driver(functions[i].base,
			       since > at_least ? since : at_least, flags);

		*(function *)((char *)set + functions[i].offset) =
		    f ? f : (function)answer_missing;
	}
}

CUresult driver_start(void)
{
	if (!get)
		return CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER;
	fill_driver(&cudart_driver[LEGACY], CU_GET_PROC_ADDRESS_LEGACY_STREAM,
		    0);
	fill_driver(&cudart_driver[PER_THREAD],
		    CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
		    SINCE_PER_THREAD);
	return cudart_driver[LEGACY].cuInit(0);
}

void driver_refused(const char *symbol, const char *why)
{
	const struct gpukit_table *table;
	const void *found = NULL;
	CUuuid id;

	memcpy(id.bytes, GPUKIT_TABLE_UUID, sizeof id.bytes);
	if (cudart_driver[LEGACY].cuGetExportTable(&found, &id) || !found)
		return;
	table = found;
	if (GPUKIT_TABLE_HAS(table, refused_for))
		table->refused_for(GPUKIT_CUDART, symbol, why);
	else
		table->refused(GPUKIT_CUDART, symbol);
}
