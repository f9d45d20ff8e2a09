/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sparse.h - handles, descriptors, and the launching of kernels; shared by the
 * files of libcusparse.
 *
 * A function checks its arguments and launches a kernel. The kernel's
 * parameters contain the descriptors by value (params.h), so that a program may
 * destroy its descriptors as soon as the function returns. Kernels' bodies
 * iterate over the entries of any format (entries.h) and compute in double
 * (value.h).
 */
#ifndef GKF_CUSPARSE_SPARSE_H
#define GKF_CUSPARSE_SPARSE_H

#include "fronts/common/native.h"
#include "fronts/common/native_handle.h"
#include "fronts/cusparse/value.h"

struct cusparseContext {
	struct native_handle head;
	struct native_library *kernels; /* sparse_kernels */
	CUstream stream;
	cusparsePointerMode_t mode;
};

/* Whether a handle is valid; false for NULL and destroyed handles. */
static inline bool is_handle(cusparseHandle_t handle)
{
	return native_is_handle(handle, NATIVE_CUSPARSE);
}

struct cusparseMatDescr {
	cusparseMatrixType_t type;
	cusparseFillMode_t fill;
	cusparseDiagType_t diag;
	cusparseIndexBase_t base;
};

struct cusparseSpVecDescr {
	int64_t size, nnz;
	void *indices, *values;
	cusparseIndexType_t index_type;
	cusparseIndexBase_t base;
	cudaDataType type;
};

struct cusparseDnVecDescr {
	int64_t size;
	void *values;
	cudaDataType type;
};

struct cusparseDnMatDescr {
	int64_t rows, cols, ld;
	void *values;
	cudaDataType type;
	cusparseOrder_t order;
	int batch_count;
	int64_t batch_stride; /* distance between matrices, in values */
};

/*
 * A sparse matrix. In BSR, rows, cols and nnz count blocks. offsets[i] is where
 * row i (CSR, BSR) or column i (CSC) begins; in COO it is the row of entry i.
 */
struct cusparseSpMatDescr {
	cusparseFormat_t format;
	int64_t rows, cols, nnz;
	void *offsets, *indices, *values;
	cusparseIndexType_t offsets_type, indices_type;
	cusparseIndexBase_t base;
	cudaDataType type;
	cusparseFillMode_t fill;
	cusparseDiagType_t diag;
	int batch_count;
	int64_t offsets_stride, indices_stride, values_stride;
	int64_t block_rows, block_cols;
	cusparseOrder_t block_order;
};

/* A number in host or device memory. */
struct scalar {
	struct value host;
	const void *device; /* NULL: the number is in `host` */
	cudaDataType type;
};

enum sparse_kernel {
#define KERNEL(id, body, params) KERNEL_##id,
#include "fronts/cusparse/kernels.def"
#undef KERNEL
	SPARSE_KERNELS
};

#define KERNEL(id, body, params) CUresult body(struct gpukit_run *run);
#include "fronts/cusparse/kernels.def"
#undef KERNEL

/* The table of libcusparse's kernels (kernels.c). */
extern struct native_library sparse_kernels;

/* Bytes of workspace that we request from callers but do not use. */
#define WORKSPACE 256

cusparseStatus_t sparse_status(CUresult r);
/* Launches a kernel; `params` is the struct that kernels.def names for it. */
cusparseStatus_t sparse_launch(cusparseHandle_t handle,
			       enum sparse_kernel kernel, const void *params);
/* Waits for all kernels launched with a handle. */
cusparseStatus_t sparse_wait(cusparseHandle_t handle);
/* Counts a call as refused, for a function that supports other calls. */
cusparseStatus_t sparse_refuse(const char *symbol);

/*
 * Returns a number that the caller passes, according to the handle's pointer
 * mode.
 */
struct scalar sparse_take_scalar(cusparseHandle_t handle, const void *number,
				 cudaDataType type);
/* Reads a scalar in a kernel's body; false if the kernel may not read it. */
bool sparse_read_scalar(struct gpukit_run *run, const struct scalar *s,
			struct value *ret_value);

/*
 * Returns an array of `count` elements of `size` bytes, in a kernel's body.
 * Returns NULL if the kernel may not access the memory; the body must return
 * then.
 */
void *sparse_array(struct gpukit_run *run, enum gpukit_access access,
		   const void *at, int64_t count, size_t size);

bool sparse_is_operation(cusparseOperation_t op);

#endif
