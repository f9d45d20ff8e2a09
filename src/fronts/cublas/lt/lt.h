/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lt.h - cuBLASLt's objects as structs, and helpers shared by its files. Each
 * opaque object of a program contains one of these structs and some unused
 * bytes.
 */
#ifndef GKF_CUBLAS_LT_H
#define GKF_CUBLAS_LT_H

#include "abi/libraries/cublaslt_abi.h"

#include <stdbool.h>

/* The library for CUDA 12 hides functions that were added in CUDA 13. */
#define LT_SINCE_12 __attribute__((visibility("default")))
#if defined FRONT_MAJOR && FRONT_MAJOR >= 13
#define LT_SINCE_13 LT_SINCE_12
#else
#define LT_SINCE_13 __attribute__((visibility("hidden")))
#endif

#define CUBLASLT(symbol, since, params)                                        \
	LT_SINCE_##since cublasStatus_t symbol params;
#include "abi/libraries/cublaslt.def"
#undef CUBLASLT

/* Whether a handle is valid. cuBLAS handles are valid, too, as documented. */
bool lt_is_handle(cublasLtHandle_t handle);

#define LT_MEMBER(name, id, type, member, initial) type member;

struct lt_layout {
#define LAYOUT LT_MEMBER
#include "abi/libraries/cublaslt_attribute.def"
};

struct lt_matmul {
#define MATMUL LT_MEMBER
#include "abi/libraries/cublaslt_attribute.def"
};

struct lt_transform {
#define TRANSFORM LT_MEMBER
#include "abi/libraries/cublaslt_attribute.def"
};

struct lt_emulation {
#define EMULATION LT_MEMBER
#include "abi/libraries/cublaslt_attribute.def"
};

struct lt_preference {
#define PREFERENCE LT_MEMBER
#include "abi/libraries/cublaslt_attribute.def"
};

struct lt_capability {
#define CAPABILITY LT_MEMBER
#include "abi/libraries/cublaslt_attribute.def"
};

/* The types in a matrix product. */
struct lt_types {
	int32_t compute, scale, a, b, c, d;
};

/* The content of a cublasLtMatmulAlgo_t. */
struct lt_algo {
	uint32_t magic; /* LT_ALGO_MAGIC if initialised by us */
#define CONFIG LT_MEMBER
#include "abi/libraries/cublaslt_attribute.def"
	uint8_t compute, scale, a, b, c, d; /* struct lt_types */
};
#define LT_ALGO_MAGIC 0x61746c67 /* "glta" */

/* One attribute of an object. */
struct lt_attribute {
	int id;
	size_t offset, size; /* size 0 ends a table */
};

/* The attributes and initial values of each kind of object. */
#define LT_KIND(kind)                                                          \
	extern const struct lt_attribute lt_##kind##_attributes[];             \
	extern const struct lt_##kind lt_##kind##_initial;
LT_KIND(layout)
LT_KIND(matmul)
LT_KIND(transform)
LT_KIND(emulation)
LT_KIND(preference)
LT_KIND(capability)
LT_KIND(algo)
#undef LT_KIND

/* Implement an object's ...GetAttribute and ...SetAttribute. */
cublasStatus_t lt_get(const struct lt_attribute *attributes, const void *object,
		      int id, void *buf, size_t size, size_t *written);
cublasStatus_t lt_set(const struct lt_attribute *attributes, void *object,
		      int id, const void *buf, size_t size);

/* Log levels of cuBLASLt. */
enum lt_level { LT_ERROR = 1, LT_TRACE, LT_HINT, LT_INFO, LT_CALL };

/* Writes a line to cuBLASLt's log if the level is enabled (lt_log.c). */
void lt_log(enum lt_level level, const char *function, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Logs a function's status and returns it. */
cublasStatus_t lt_end(const char *function, cublasStatus_t status);

/* Returns a name such as "CUBLAS_STATUS_SUCCESS" (front.c). */
LT_SINCE_12 const char *cublasLtGetStatusName(int status);

#endif
