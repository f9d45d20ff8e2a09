/*
 * solver.h - what the files of libcusolver share: handles, and jobs, which are
 * what kernels are launched with.
 */
#ifndef GKF_CUSOLVER_SOLVER_H
#define GKF_CUSOLVER_SOLVER_H

#include "abi/cusolver_abi.h"
#include "fronts/common/native.h"
#include "fronts/common/native_handle.h"
#include "fronts/cusolver/lapack.h"

#include <stdbool.h>

struct cusolverDnContext {
	struct native_handle head;
	CUstream stream;
	cusolverDeterministicMode_t mode;
};

/* NULL or one that ended is none. */
static inline bool is_handle(cusolverDnHandle_t handle)
{
	return native_is_handle(handle, NATIVE_CUSOLVER);
}

/* A column of numbers of the machine, `ld` numbers behind each other. */
struct matrix {
	const void *at;
	int ld;
};

/*
 * A problem, or `batch` of them: the matrices of each lie behind those of the
 * last, or where `pointers` says so, a and b are arrays of their addresses.
 * Which fields count depends on the kernel.
 */
struct job {
	enum lapack_type type;
	int m, n, k; /* k: also right sides */
	int batch;
	bool pointers;
	bool wide_pivots; /* of 64 bits */
	bool economic;
	char uplo, trans, side, jobu, jobv; /* as LAPACK spells them */
	struct matrix a, b, u, v;           /* b: right sides, too */
	const void *pivots, *tau, *values;
	const void *info; /* an int a problem */
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
 * Numbers that a caller brings as workspace, and bytes of the 64-bit functions;
 * nothing is kept there.
 */
#define WORKSPACE 32

/* After the checks of the calls; NULL: NOT_INITIALIZED. */
cusolverStatus_t solver_launch(cusolverDnHandle_t handle,
			       enum solver_kernel kernel,
			       const struct job *job);
cusolverStatus_t solver_status(CUresult r);
cusolverStatus_t solver_refuse(const char *symbol);

/* In a body; NULL: that memory is not the kernel's. */
void *bytes_of(struct gpukit_run *run, enum gpukit_access access,
	       const void *at, size_t count, size_t size);
void *matrix_of(struct gpukit_run *run, enum gpukit_access access,
		const struct matrix *m, int rows, int cols,
		enum lapack_type type);

static inline size_t type_size(enum lapack_type type)
{
	return type == TYPE_S ? 4 : type == TYPE_Z ? 16 : 8;
}

/* Of what is always real: singular values, eigenvalues. */
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

/* What LAPACK wants at least. */
static inline int at_least_1(int a)
{
	return a > 1 ? a : 1;
}

#endif
