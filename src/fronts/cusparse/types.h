/* types.h - which types go together, and other checks of calls. */
#ifndef GKF_CUSPARSE_TYPES_H
#define GKF_CUSPARSE_TYPES_H

#include "fronts/cusparse/sparse.h"

/* Of a product of A and B into C. */
bool types_multiply(cudaDataType a, cudaDataType b, cudaDataType c,
		    cudaDataType compute);

/* The size of a workspace, if the call to which it belongs is right. */
cusparseStatus_t size_after(cusparseStatus_t status, size_t size,
			    size_t *ret_size);

#endif
