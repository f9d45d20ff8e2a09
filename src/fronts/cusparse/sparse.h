/*
 * sparse.h - what the files of libcusparse share: handles, descriptors, and
 * the launch of kernels, whose parameters carry the descriptors by value.
 */
#ifndef GKF_CUSPARSE_SPARSE_H
#define GKF_CUSPARSE_SPARSE_H

#include "fronts/common/native.h"
#include "fronts/common/native_handle.h"
#include "fronts/cusparse/value.h"

struct cusparseContext {
	struct native_handle head;
	CUstream stream;
	cusparsePointerMode_t mode;
};

/* NULL or one that ended is none. */
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
	int64_t batch_stride; /* values */
};

/*
 * A sparse matrix. In BSR rows, cols and nnz count blocks. offsets: of rows
 * (CSR, BSR) or columns (CSC), in COO the row of each entry.
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

/* A number that lies in the caller's or in the device's memory. */
struct scalar {
	struct value host;
	const void *device; /* NULL: host holds it */
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

/* Workspace that callers bring though nothing is kept there: bytes. */
#define WORKSPACE 256

cusparseStatus_t sparse_status(CUresult r);
/* params: as kernels.def has them for that kernel. */
cusparseStatus_t sparse_launch(cusparseHandle_t handle,
			       enum sparse_kernel kernel, const void *params);
/* Waits for all that was launched by a handle. */
cusparseStatus_t sparse_wait(cusparseHandle_t handle);
/* Counts what a function that works cannot do, under its name. */
cusparseStatus_t sparse_refuse(const char *symbol);

/* How a handle passes a number of that type. */
struct scalar scalar_of(cusparseHandle_t handle, const void *number,
			cudaDataType type);
/* In a body; false: it is not in memory that the kernel may read. */
bool scalar_read(struct gpukit_run *run, const struct scalar *s,
		 struct value *ret_value);

/*
 * In a body: `count` things of `size` bytes. NULL: that memory is not the
 * kernel's; the body then shall return.
 */
void *array_of(struct gpukit_run *run, enum gpukit_access access,
	       const void *at, int64_t count, size_t size);

bool is_operation(cusparseOperation_t op);

#endif
