/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvml.h - the driver library, loaded at run time.
 *
 * A function that the driver lacks is a NULL pointer, and its metrics are
 * absent. The pointers have the types of the prototypes in src/abi; nothing is
 * linked against the library.
 */
#ifndef GK_CORE_NVML_H
#define GK_CORE_NVML_H

#include <gpukit/gpukit.h>

#include "abi/nvml/nvml_abi.h"
#include "base/trace.h"

#include <pthread.h>
#include <stdatomic.h>

/* For a row of nvml.def, GK_NVML_IN_##core(...) expands to the arguments if the
 * core uses the function, else to nothing. */
#define GK_NVML_IN_UNUSED(...)
#define GK_NVML_IN_REQ(...)  __VA_ARGS__
#define GK_NVML_IN_OPT(...)  __VA_ARGS__
#define GK_NVML_IN_MORE(...) __VA_ARGS__

struct gk_nvml {
	void *library;
	char driver_version[GK_NAME_MAX]; /* empty if unknown */
	char nvml_version[GK_NAME_MAX];
	int cuda_version; /* 13000 = 13.0, 0 if unknown */
	atomic_bool more; /* gk_nvml_more() has looked up its functions */
	pthread_mutex_t looking; /* held during gk_nvml_more() */
	atomic_uint uses;
	/* After the last user is gone: when that was, and the next such one. */
	uint64_t closed_ns;
	struct gk_nvml *next;
#define NVML(symbol, major, minor, core, ...)                                  \
	GK_NVML_IN_##core(__typeof__(&symbol) symbol;)
#include "abi/nvml/nvml.def"
#undef NVML
};

enum gk_nvml_need { GK_NVML_REQ, GK_NVML_OPT, GK_NVML_MORE };

/* A function that the core uses. */
struct gk_nvml_symbol {
	const char *name;
	size_t offset; /* offset in struct gk_nvml */
	enum gk_nvml_need need;
	/* first driver that has it, as 515043 for 515.43; 0: all */
	unsigned since;
};

enum {
	GK_NVML_SYMBOLS = 0
#define NVML(symbol, major, minor, core, ...) GK_NVML_IN_##core(+1)
#include "abi/nvml/nvml.def"
#undef NVML
};

extern const struct gk_nvml_symbol gk_nvml_symbols[GK_NVML_SYMBOLS];

/*
 * Calls a function of the driver library, timed by a span with the function's
 * name. Evaluates to its return code, or to NVML_ERROR_FUNCTION_NOT_FOUND if
 * the driver lacks it.
 */
#define GK_NVML_CALL(nvml, function, ...)                                      \
	__extension__({                                                        \
		nvmlReturn_t r_ = NVML_ERROR_FUNCTION_NOT_FOUND;               \
		struct gk_span span_;                                          \
                                                                               \
		if ((nvml)->function) {                                        \
			gk_span_begin(&span_, #function);                      \
			r_ = (nvml)->function(__VA_ARGS__);                    \
			gk_span_end(&span_);                                   \
		}                                                              \
		r_;                                                            \
	})

/*
 * Loads the driver library without initialising it. If path is NULL, loads the
 * libnvidia-ml.so.1 that the dynamic loader or WSL has. On failure returns
 * NULL, and dlerror() has the reason.
 */
void *gk_nvml_load(const char *path);

/*
 * Loads the driver library as gk_nvml_load() does, and initialises it. Returns
 * 0 or a gk_err. GK_ERR_NO_DRIVER: there is no library. GK_ERR_DRIVER: the
 * library cannot be initialised, and *ret_nvml_error (not NULL) is its error;
 * or the library lacks a required function, and *ret_nvml_error is
 * NVML_ERROR_FUNCTION_NOT_FOUND.
 */
int gk_nvml_open(const char *path, int *ret_nvml_error,
		 struct gk_nvml **ret_nvml);

/*
 * Looks up the functions for details, links, topology and events. Call it
 * before using one of them; further calls do nothing. Any thread.
 */
void gk_nvml_more(struct gk_nvml *nvml);

/* Adds a user of the library; gk_nvml_close() removes it. */
struct gk_nvml *gk_nvml_ref(struct gk_nvml *nvml);

/*
 * Removes a user. The last one shuts the driver library down. A gk_nvml_open()
 * that comes a second later or more unloads it, so that it finds the library of
 * an updated driver. A thread that may be inside the library must be a user: as
 * long as a call is stuck, the library stays.
 */
void gk_nvml_close(struct gk_nvml *nvml);

/* Converts a return code to the reason why a value is absent; success becomes
 * GK_PRESENT. */
enum gk_absence gk_nvml_absence(nvmlReturn_t answer);

/* Whether a return code means that the whole GPU is gone or needs a reset. */
bool gk_nvml_is_lost(nvmlReturn_t answer);

#endif
