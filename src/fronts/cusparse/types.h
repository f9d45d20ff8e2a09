/* SPDX-License-Identifier: Apache-2.0 */
/* types.h - checks combinations of types, and returns sizes of workspaces. */
#ifndef GKF_CUSPARSE_TYPES_H
#define GKF_CUSPARSE_TYPES_H

#include "fronts/cusparse/sparse.h"

/*
 * Whether types a and b may be multiplied into type c with this compute type.
 */
bool types_multiply(cudaDataType a, cudaDataType b, cudaDataType c,
		    cudaDataType compute);

/*
 * Sets *ret_size to the size of a workspace if `status`, the result of the
 * call's checks, is success.
 */
cusparseStatus_t sparse_size_after(cusparseStatus_t status, size_t size,
				   size_t *ret_size);

#endif
