/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solver.h - handles, and jobs, which are kernels' parameters; shared by the
 * files of libcusolver.
 *
 * A function puts its arguments into a job, checks it (calls.c,
 * spectrum_calls.c) and launches a kernel, whose body calls OpenBLAS' LAPACK
 * (factor.c, spectrum.c). LAPACK's workspaces are in host memory, so callers
 * need not provide any.
 */
#ifndef GKF_CUSOLVER_SOLVER_H
#define GKF_CUSOLVER_SOLVER_H

#include "abi/libraries/cusolver_abi.h"
#include "fronts/common/native.h"
#include "fronts/common/native_handle.h"
#include "fronts/cusolver/lapack.h"

#include <stdbool.h>

struct cusolverDnContext {
	struct native_handle head;
	CUstream stream;
	cusolverDeterministicMode_t mode;
};

/* Whether a handle is valid; false for NULL and destroyed handles. */
static inline bool is_handle(cusolverDnHandle_t handle)
{
	return native_is_handle(handle, NATIVE_CUSOLVER);
}

/* A column-major matrix in device memory. Columns are ld elements apart. */
struct matrix {
	const void *at;
	int ld;
};

/*
 * A batch of problems. Their matrices are adjacent in memory or, if `pointers`
 * is set, a and b are arrays of addresses. Each kernel uses some of the fields.
 */
struct job {
	enum lapack_type type;
	int m, n, k; /* k may be the number of right-hand sides */
	int batch;
	bool pointers;
	bool wide_pivots; /* pivots have 64 bits */
	bool economic;
	char uplo, trans, side, jobu, jobv; /* LAPACK's letters */
	struct matrix a, b, u, v;           /* b may be the right-hand sides */
	const void *pivots, *tau, *values;
	const void *info; /* one int per problem */
};

enum solver_kernel {
#define KERNEL(id, body) KERNEL_##id,
#include "fronts/cusolver/kernels.def"
#undef KERNEL
	SOLVER_KERNELS
};

#define KERNEL(id, body) CUresult body(struct gpukit_run *run);
#include "fronts/cusolver/kernels.def"
#undef KERNEL

/*
 * The workspace that we request from callers: elements or, in the 64-bit
 * functions, bytes. It is not used; host memory is used instead.
 */
#define WORKSPACE 32

/* Launches a checked job. Returns NOT_INITIALIZED if `handle` is NULL. */
cusolverStatus_t solver_launch(cusolverDnHandle_t handle,
			       enum solver_kernel kernel,
			       const struct job *job);
cusolverStatus_t solver_status(CUresult r);
cusolverStatus_t solver_refuse(const char *symbol);

/*
 * Return the host address of device memory, for kernels' bodies; NULL if the
 * kernel may not access the memory.
 */
void *solver_bytes(struct gpukit_run *run, enum gpukit_access access,
		   const void *at, size_t count, size_t size);
void *solver_matrix(struct gpukit_run *run, enum gpukit_access access,
		    const struct matrix *m, int rows, int cols,
		    enum lapack_type type);

static inline size_t type_size(enum lapack_type type)
{
	return type == TYPE_S ? 4 : type == TYPE_Z ? 16 : 8;
}

/* Returns the size of real results such as singular values and eigenvalues. */
static inline size_t real_size(enum lapack_type type)
{
	return type == TYPE_S || type == TYPE_C ? 4 : 8;
}

static inline bool type_is_complex(enum lapack_type type)
{
	return type >= TYPE_C;
}

static inline int smaller(int a, int b)
{
	return a < b ? a : b;
}

/* LAPACK requires leading dimensions of at least 1. */
static inline int at_least_1(int a)
{
	return a > 1 ? a : 1;
}

#endif
