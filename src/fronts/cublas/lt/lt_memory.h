/*
 * lt_memory.h - where a kernel of cuBLASLt finds its matrices and factors.
 */
#ifndef GKF_CUBLAS_LT_MEMORY_H
#define GKF_CUBLAS_LT_MEMORY_H

#include "fronts/common/native.h"
#include "fronts/cublas/lt_layout.h"

/* alpha or beta. */
struct lt_factor {
	uint64_t address; /* 0: the value */
	bool vector;      /* one for each row of D */
	double value[2];  /* real, imaginary */
};

/*
 * Matrix `index` of a batch whose first is at `address`, or whose addresses
 * are. NULL: there is no such memory, which ends the run.
 */
void *lt_matrix_at(struct gpukit_run *run, enum gpukit_access access,
		   const struct lt_layout *l, uint64_t address, int32_t index);

#endif
