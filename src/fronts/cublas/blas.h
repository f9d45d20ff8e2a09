/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas.h - the handle, scalars in either pointer mode, and kernels; shared by
 * all files of libcublas.
 *
 * An entry point checks its arguments, copies them into a kernel's parameters
 * and launches the kernel. The kernel's body computes when its stream reaches
 * it. Device addresses are uint64_t.
 */
#ifndef GKF_CUBLAS_BLAS_H
#define GKF_CUBLAS_BLAS_H

#include "fronts/common/native.h"
#include "fronts/common/native_handle.h"
#include "fronts/common/element.h"
#include "fronts/cublas/gemm/gemm.h"

typedef enum {
#define CUBLAS_STATUS(name, value, text) CUBLAS_STATUS_##name = (value),
#include "abi/libraries/cublas_status.def"
#undef CUBLAS_STATUS
} cublasStatus_t;

#define BLAS_API __attribute__((visibility("default"))) cublasStatus_t

/* Declares and defines a function of the ABI. */
#define ENTRY(symbol, ...)                                                     \
	BLAS_API cublas##symbol(__VA_ARGS__);                                  \
	cublasStatus_t cublas##symbol(__VA_ARGS__)

enum fill { FILL_LOWER, FILL_UPPER, FILL_FULL };
enum diagonal { DIAG_NON_UNIT, DIAG_UNIT };
enum side { SIDE_LEFT, SIDE_RIGHT };

struct cublasContext {
	struct native_handle head;
	struct native_library *kernels;
	CUcontext context;
	CUstream stream;
	void *workspace; /* set by the program; stored but not used */
	size_t workspace_size;
	int pointer_mode; /* 1: scalars are in device memory */
	int atomics, math, sm_count, strategy;
	int special_values, mantissa_control, mantissa_bits, mantissa_offset;
	int *mantissa_count;
};

typedef struct cublasContext *cublasHandle_t;

/* Whether a handle is valid; false for NULL and destroyed handles. */
static inline bool is_handle(cublasHandle_t handle)
{
	return native_is_handle(handle, NATIVE_CUBLAS);
}

/* Returns NOT_INITIALIZED from the function unless the handle is valid. */
#define ENTER(handle)                                                          \
	do {                                                                   \
		if (!is_handle(handle))                                        \
			return CUBLAS_STATUS_NOT_INITIALIZED;                  \
	} while (0)

/* Returns INVALID_VALUE from the function unless the condition holds. */
#define REQUIRE(condition)                                                     \
	do {                                                                   \
		if (!(condition))                                              \
			return CUBLAS_STATUS_INVALID_VALUE;                    \
	} while (0)

/* An input: a value, or a device address from which the kernel reads it. */
struct scalar {
	uint64_t at; /* device address; 0: use `value` */
	enum element type;
	double value[2];
};

/*
 * Returns a scalar that the caller passes; `pointer` must not be NULL. A scalar
 * on the device is read only by blas_read_scalar().
 */
struct scalar blas_take_scalar(cublasHandle_t handle, const void *pointer,
			       enum element type);

/*
 * Reads a scalar, in a kernel's body. Returns false if the address is invalid.
 */
bool blas_read_scalar(struct gpukit_run *run, const struct scalar *s,
		      double ret_parts[2]);

static inline bool scalar_is_zero(const double parts[2])
{
	return parts[0] == 0 && parts[1] == 0;
}

/*
 * Where to store a result: in device memory, or in host memory. In the latter
 * case the call waits for the result.
 */
struct result {
	uint64_t at;
	bool on_host;
};

struct result blas_take_result(cublasHandle_t handle, void *pointer);

/*
 * Returns the memory for a result of `size` bytes, in a kernel's body; NULL if
 * the address is invalid.
 */
void *blas_place_result(struct gpukit_run *run, const struct result *r,
			size_t size);

static inline uint64_t address_of(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

/* The kernels in kernels.def, one per family of routines. */
enum kernel {
#define KERNEL(name, type) KERNEL_##name,
#include "fronts/cublas/kernels.def"
#undef KERNEL
	KERNELS
};

#define KERNEL(name, type) CUresult run_##name(struct gpukit_run *run);
#include "fronts/cublas/kernels.def"
#undef KERNEL

/* Launches a kernel in the handle's stream. */
cublasStatus_t blas_launch(cublasHandle_t handle, enum kernel kernel,
			   const void *params);

/* Like blas_launch(), but waits if the result is in host memory. */
cublasStatus_t blas_launch_result(cublasHandle_t handle, enum kernel kernel,
				  const void *params, const struct result *r);

cublasStatus_t blas_status(CUresult r);

/* Counts a refused call and returns NOT_SUPPORTED. */
cublasStatus_t blas_refuse(const char *symbol);

/* Converts the result of functions such as gemm_run() to a CUresult. */
CUresult blas_result(int err);

/*
 * Returns the memory of a rows x columns matrix, in a kernel's body. Returns
 * NULL if part of it is not accessible, but never for a matrix without
 * elements.
 */
void *blas_place_matrix(struct gpukit_run *run, enum gpukit_access access,
			uint64_t at, enum element type, int64_t rows,
			int64_t columns, int64_t ld);

/*
 * Returns the memory of n elements, or NULL if part of it is not accessible.
 * inc may be negative.
 */
void *blas_place_vector(struct gpukit_run *run, enum gpukit_access access,
			uint64_t at, enum element type, int64_t n, int64_t inc);

/* Whether an argument is a valid value. */
static inline bool is_operation(int op)
{
	return op >= OP_N && op <= OP_C;
}

static inline bool is_triangle(int uplo)
{
	return uplo == FILL_LOWER || uplo == FILL_UPPER;
}

static inline bool is_flag(int value)
{
	return value == 0 || value == 1;
}

static inline bool holds(int64_t ld, int64_t rows)
{
	return ld >= rows && ld >= 1;
}

#endif
