/*
 * lt.h - cuBLASLt inside: its objects as structs, and what its files share. An
 * object of a program is one of these structs in memory that is larger.
 */
#ifndef GKF_CUBLAS_LT_H
#define GKF_CUBLAS_LT_H

#include "abi/cublaslt_abi.h"

#include <stdbool.h>

/* A function of CUDA 13 is there in the library for 12, too, but not seen. */
#define LT_SINCE_12 __attribute__((visibility("default")))
#if defined FRONT_MAJOR && FRONT_MAJOR >= 13
#define LT_SINCE_13 LT_SINCE_12
#else
#define LT_SINCE_13 __attribute__((visibility("hidden")))
#endif

#define CUBLASLT(symbol, since, params)                                        \
	LT_SINCE_##since cublasStatus_t symbol params;
#include "abi/cublaslt.def"
#undef CUBLASLT

/* Or one of cuBLAS, as is documented. NULL or one that ended is none. */
bool lt_is_handle(cublasLtHandle_t handle);

#define LT_MEMBER(name, id, type, member, initial) type member;

struct lt_layout {
#define LAYOUT LT_MEMBER
#include "abi/cublaslt_attribute.def"
};

struct lt_matmul {
#define MATMUL LT_MEMBER
#include "abi/cublaslt_attribute.def"
};

struct lt_transform {
#define TRANSFORM LT_MEMBER
#include "abi/cublaslt_attribute.def"
};

struct lt_emulation {
#define EMULATION LT_MEMBER
#include "abi/cublaslt_attribute.def"
};

struct lt_preference {
#define PREFERENCE LT_MEMBER
#include "abi/cublaslt_attribute.def"
};

struct lt_capability {
#define CAPABILITY LT_MEMBER
#include "abi/cublaslt_attribute.def"
};

/* The types of a product. */
struct lt_types {
	int32_t compute, scale, a, b, c, d;
};

/* What a program has as cublasLtMatmulAlgo_t. */
struct lt_algo {
	uint32_t magic; /* LT_ALGO_MAGIC; else nobody has made it */
#define CONFIG LT_MEMBER
#include "abi/cublaslt_attribute.def"
	uint8_t compute, scale, a, b, c, d; /* struct lt_types */
};
#define LT_ALGO_MAGIC 0x61746c67 /* "glta" */

/* One attribute of an object. */
struct lt_attribute {
	int id;
	size_t offset, size; /* size 0: the end */
};

/* The attributes of each kind of object, and its values when it is new. */
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

/* What every ...GetAttribute and ...SetAttribute of an object does. */
cublasStatus_t lt_get(const struct lt_attribute *attributes, const void *object,
		      int id, void *buf, size_t size, size_t *written);
cublasStatus_t lt_set(const struct lt_attribute *attributes, void *object,
		      int id, const void *buf, size_t size);

/* Levels of cuBLASLt's log. */
enum lt_level { LT_ERROR = 1, LT_TRACE, LT_HINT, LT_INFO, LT_CALL };

/* For programs that asked for it (lt_log.c); never more than a line. */
void lt_log(enum lt_level level, const char *function, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Logs what a function answers, and answers it. */
cublasStatus_t lt_end(const char *function, cublasStatus_t status);

/* front.c; "CUBLAS_STATUS_SUCCESS". */
LT_SINCE_12 const char *cublasLtGetStatusName(int status);

#endif
