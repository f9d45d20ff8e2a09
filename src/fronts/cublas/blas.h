/*
 * blas.h - what all files of libcublas share: the handle, scalars in either
 * pointer mode, and its kernels.
 *
 * An entry point checks its arguments, puts them into the parameters of a
 * kernel and launches it; the kernel's body computes when its stream comes to
 * it. Addresses of the device are uint64_t.
 */
#ifndef GKF_CUBLAS_BLAS_H
#define GKF_CUBLAS_BLAS_H

#include "fronts/common/native.h"
#include "fronts/common/native_handle.h"
#include "fronts/common/element.h"
#include "fronts/cublas/gemm.h"

typedef enum {
#define CUBLAS_STATUS(name, value, text) CUBLAS_STATUS_##name = (value),
#include "abi/cublas_status.def"
#undef CUBLAS_STATUS
} cublasStatus_t;

#define BLAS_API __attribute__((visibility("default"))) cublasStatus_t

/* Defines a function of the ABI; ENTRY_64 its twin of 64-bit dimensions. */
#define ENTRY(symbol, ...)                                                     \
	BLAS_API cublas##symbol(__VA_ARGS__);                                  \
	cublasStatus_t cublas##symbol(__VA_ARGS__)

enum fill { FILL_LOWER, FILL_UPPER, FILL_FULL };
enum diagonal { DIAG_NON_UNIT, DIAG_UNIT };
enum side { SIDE_LEFT, SIDE_RIGHT };

struct cublasContext {
	struct native_handle head;
	CUcontext context;
	CUstream stream;
	void *workspace; /* the program's, kept for nobody: none is needed */
	size_t workspace_size;
	int pointer_mode; /* 1: scalars lie on the device */
	int atomics, math, sm_count, strategy;
	int special_values, mantissa_control, mantissa_bits, mantissa_offset;
	int *mantissa_count;
};

typedef struct cublasContext *cublasHandle_t;

/* NULL or one that ended is none. */
bool is_handle(cublasHandle_t handle);

/* Leaves the function if there is no such handle. */
#define ENTER(handle)                                                          \
	do {                                                                   \
		if (!is_handle(handle))                                        \
			return CUBLAS_STATUS_NOT_INITIALIZED;                  \
	} while (0)

/* Leaves the function with INVALID_VALUE unless an argument is right. */
#define REQUIRE(condition)                                                     \
	do {                                                                   \
		if (!(condition))                                              \
			return CUBLAS_STATUS_INVALID_VALUE;                    \
	} while (0)

/* An input that is a value, or lies on the device until the kernel runs. */
struct scalar {
	uint64_t at; /* 0: value is it */
	enum element type;
	double value[2];
};

/* pointer: not NULL. */
struct scalar scalar_of(cublasHandle_t handle, const void *pointer,
			enum element type);

/* In a body. false: its address is bad. */
bool scalar_read(struct gpukit_run *run, const struct scalar *s,
		 double ret_parts[2]);

static inline bool scalar_is_zero(const double parts[2])
{
	return parts[0] == 0 && parts[1] == 0;
}

/* A result: on the device, or in the host's memory while the call waits. */
struct result {
	uint64_t at;
	bool on_host;
};

struct result result_of(cublasHandle_t handle, void *pointer);

/* In a body: where `size` bytes of it are written. NULL: a bad address. */
void *result_place(struct gpukit_run *run, const struct result *r, size_t size);

static inline uint64_t address_of(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

/* The kernels, one for each family of routines; rows of kernels.def. */
enum kernel {
#define KERNEL(name, type) KERNEL_##name,
#include "fronts/cublas/kernels.def"
#undef KERNEL
	KERNELS
};

#define KERNEL(name, type) CUresult run_##name(struct gpukit_run *run);
#include "fronts/cublas/kernels.def"
#undef KERNEL

/* Launches a kernel in the stream of the handle. */
cublasStatus_t blas_launch(cublasHandle_t handle, enum kernel kernel,
			   const void *params);

/* The same, and waits when the result is the host's. */
cublasStatus_t blas_launch_result(cublasHandle_t handle, enum kernel kernel,
				  const void *params, const struct result *r);

cublasStatus_t blas_status(CUresult r);

/* Counts a call that is refused, and answers so. */
cublasStatus_t blas_refuse(const char *symbol);

/* CUDA_SUCCESS, or why gemm_run() and the like failed. */
CUresult blas_result(int err);

/*
 * A matrix of rows x columns for a body. NULL: not all of it is memory. One
 * without elements is never NULL.
 */
void *matrix_place(struct gpukit_run *run, enum gpukit_access access,
		   uint64_t at, enum element type, int64_t rows,
		   int64_t columns, int64_t ld);

/* n elements, inc apart either way. NULL: not all of them are memory. */
void *vector_place(struct gpukit_run *run, enum gpukit_access access,
		   uint64_t at, enum element type, int64_t n, int64_t inc);

/* Whether these say something; leading dimensions hold their rows. */
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
