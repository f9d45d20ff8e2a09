/* SPDX-License-Identifier: Apache-2.0 */
/*
 * front.c - the common part of libcublas and libcublasLt: the names of
 * statuses, and a weak default for every function, which logs and counts the
 * call and returns NOT_SUPPORTED. Built once per library and CUDA major:
 * FRONT_TABLE is the table of functions, FRONT_NAME the prefix of their names.
 */
#include "fronts/common/native.h"

#include <stddef.h>

enum status {
#define CUBLAS_STATUS(name, value, text) STATUS_##name = (value),
#include "abi/libraries/cublas_status.def"
#undef CUBLAS_STATUS
};

static const struct {
	int value;
	const char *name, *text;
} statuses[] = {
#define CUBLAS_STATUS(name, value, text) {value, "CUBLAS_STATUS_" #name, text},
#include "abi/libraries/cublas_status.def"
#undef CUBLAS_STATUS
};

#define STATUSES     (sizeof statuses / sizeof *statuses)
#define UNRECOGNIZED "unrecognized status"

#define PASTE(a, b)        a##b
#define PREFIXED(a, b)     PASTE(a, b)
#define FRONT_PREFIX(name) PREFIXED(FRONT_NAME, name)

#define EXPORT __attribute__((visibility("default")))

static int refuse_cublas(const char *symbol)
{
	native_refuse(GPUKIT_CUBLAS, symbol);
	return STATUS_NOT_SUPPORTED;
}

/*
 * These functions ignore their arguments, so they are declared without
 * parameters instead of with their real prototypes.
 */
#define REFUSED_12(symbol)                                                     \
	EXPORT __attribute__((weak)) int symbol(void);                         \
	int symbol(void)                                                       \
	{                                                                      \
		return refuse_cublas(#symbol);                                 \
	}
#if FRONT_MAJOR >= 13
#define REFUSED_13(symbol) REFUSED_12(symbol)
#define REFUSED_12_ONLY(symbol)
#else
#define REFUSED_13(symbol)
#define REFUSED_12_ONLY(symbol) REFUSED_12(symbol)
#endif
#define CUBLAS(symbol, since) REFUSED_##since(symbol)
#include FRONT_TABLE
#undef CUBLAS

EXPORT const char *FRONT_PREFIX(GetStatusName)(int status);
EXPORT const char *FRONT_PREFIX(GetStatusString)(int status);
EXPORT size_t FRONT_PREFIX(GetCudartVersion)(void);

const char *FRONT_PREFIX(GetStatusName)(int status)
{
	for (size_t i = 0; i < STATUSES; i++)
		if (statuses[i].value == status)
			return statuses[i].name;
	return UNRECOGNIZED;
}

const char *FRONT_PREFIX(GetStatusString)(int status)
{
	for (size_t i = 0; i < STATUSES; i++)
		if (statuses[i].value == status)
			return statuses[i].text;
	return UNRECOGNIZED;
}

/*
 * Returns the version of the CUDA runtime that NVIDIA's library was built with.
 */
size_t FRONT_PREFIX(GetCudartVersion)(void)
{
	return FRONT_MAJOR >= 13 ? 13000 : 12080;
}
