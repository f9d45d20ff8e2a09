/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lt_memory.c - resolves the memory of matrices for cuBLASLt's kernels.
 */
#include "fronts/cublas/lt/lt_memory.h"

static void *matrix_of_array(struct gpukit_run *run, enum gpukit_access access,
			     uint64_t address, int32_t index, size_t bytes)
{
	uint64_t at = address + (uint64_t)index * sizeof(uint64_t);
	const uint64_t *matrix =
	    run->memory(run, GPUKIT_READS, at, sizeof *matrix);

	return matrix ? run->memory(run, access, *matrix, bytes) : NULL;
}

/*
 * Returns a complex matrix stored as two planes; its batch stride counts real
 * elements.
 */
static void *matrix_of_planes(struct gpukit_run *run, enum gpukit_access access,
			      const struct lt_layout *l, uint64_t address,
			      int32_t index)
{
	enum element real_type = element_real((enum element)l->type);
	size_t element = element_size(real_type);
	size_t bytes = lt_bytes(real_type, lt_span(l));
	void *real, *imaginary;

	address += (uint64_t)(index * l->batch_stride) * element;
	real = run->memory(run, access, address, bytes);
	imaginary = run->memory(run, access,
				address + (uint64_t)l->plane_offset, bytes);
	return imaginary ? real : NULL;
}

/*
 * Returns the byte offset of matrix `index` in a batch; the stride may be
 * negative.
 */
static uint64_t count_stride(const struct lt_layout *l, int32_t index)
{
	uint64_t elements = (uint64_t)index * (uint64_t)l->batch_stride;

	return l->type == R_4F_E2M1 ? lt_bytes(l->type, elements)
				    : elements * lt_bytes(l->type, 1);
}

void *lt_matrix_at(struct gpukit_run *run, enum gpukit_access access,
		   const struct lt_layout *l, uint64_t address, int32_t index)
{
	size_t bytes = lt_bytes(l->type, lt_span(l));

	if (l->batch_mode == CUBLASLT_BATCH_MODE_POINTER_ARRAY)
		return matrix_of_array(run, access, address, index, bytes);
	if (l->plane_offset)
		return matrix_of_planes(run, access, l, address, index);
	return run->memory(run, access, address + count_stride(l, index),
			   bytes);
}
