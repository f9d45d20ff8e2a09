/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scripted_call.h - begins and ends the functions of the scripted driver
 * library; for its own sources.
 */
#ifndef TESTS_CORE_SCRIPTED_CALL_H
#define TESTS_CORE_SCRIPTED_CALL_H

#include "core/scripted_nvml.h"

#define HIDDEN __attribute__((visibility("hidden")))

struct nvmlDevice_st {
	unsigned gpu;
	int mig; /* -1: the GPU */
};

HIDDEN extern struct script s;

/* Counts the call and returns its scripted result. Called under the lock. */
HIDDEN nvmlReturn_t called(const char *name);

/* Takes the lock, which LEAVE() releases. */
HIDDEN nvmlReturn_t enter(const char *name, nvmlDevice_t dev);

/* Answers a field value. Called under the lock. */
HIDDEN void script_field(nvmlDevice_t dev, nvmlFieldValue_t *field);

/* The handle of a GPU. */
HIDDEN nvmlDevice_t gpu_handle(unsigned gpu);

#define LEAVE(r)                                                               \
	do {                                                                   \
		pthread_mutex_unlock(&s.lock);                                 \
		return (r);                                                    \
	} while (0)

/* Only GPUs support it: MIG devices refuse. */
#define ENTER_GPU(dev)                                                         \
	nvmlReturn_t r = enter(__func__, dev);                                 \
	if (!r && (dev)->mig >= 0)                                             \
		r = NVML_ERROR_NOT_SUPPORTED;                                  \
	if (r)                                                                 \
	LEAVE(r)

#define ENTER(dev)                                                             \
	nvmlReturn_t r = enter(__func__, dev);                                 \
	if (r)                                                                 \
	LEAVE(r)

#define UINT(function, value)                                                  \
	nvmlReturn_t function(nvmlDevice_t dev, unsigned int *to)              \
	{                                                                      \
		ENTER_GPU(dev);                                                \
		*to = value;                                                   \
		LEAVE(r);                                                      \
	}
#define UINT_OF(function, type, value)                                         \
	nvmlReturn_t function(nvmlDevice_t dev, type of, unsigned int *to)     \
	{                                                                      \
		ENTER_GPU(dev);                                                \
		*to = value;                                                   \
		LEAVE(r);                                                      \
	}

#endif
