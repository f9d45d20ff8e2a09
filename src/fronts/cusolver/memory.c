/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - resolves device addresses for kernels' bodies. */
#include "fronts/cusolver/solver.h"

void *solver_bytes(struct gpukit_run *run, enum gpukit_access access,
		   const void *at, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		bytes = SIZE_MAX;
	return run->memory(run, access, (uintptr_t)at, bytes);
}

void *solver_matrix(struct gpukit_run *run, enum gpukit_access access,
		    const struct matrix *m, int rows, int cols,
		    enum lapack_type type)
{
	size_t count = rows && cols
			   ? ((size_t)cols - 1) * (size_t)m->ld + (size_t)rows
			   : 0;

	return solver_bytes(run, access, m->at, count, type_size(type));
}
