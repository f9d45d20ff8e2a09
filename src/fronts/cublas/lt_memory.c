/*
 * lt_memory.c - where a kernel of cuBLASLt finds its matrices.
 */
#include "fronts/cublas/lt_memory.h"

static void *matrix_of_array(struct gpukit_run *run, uint64_t address,
			     int32_t index, size_t bytes)
{
	uint64_t at = address + (uint64_t)index * sizeof(uint64_t);
	const uint64_t *matrix = run->memory(run, at, sizeof *matrix);

	return matrix ? run->memory(run, *matrix, bytes) : NULL;
}

/* Strides of planes count their real elements. */
static void *matrix_of_planes(struct gpukit_run *run, const struct lt_layout *l,
			      uint64_t address, int32_t index)
{
	size_t element = element_size((enum element)l->type) / 2;
	size_t bytes = lt_span(l) * element;
	void *real, *imaginary;

	address += (uint64_t)(index * l->batch_stride) * element;
	real = run->memory(run, address, bytes);
	imaginary =
	    run->memory(run, address + (uint64_t)l->plane_offset, bytes);
	return imaginary ? real : NULL;
}

void *lt_matrix_at(struct gpukit_run *run, const struct lt_layout *l,
		   uint64_t address, int32_t index)
{
	size_t bytes = lt_bytes(l->type, lt_span(l));

	if (l->batch_mode == CUBLASLT_BATCH_MODE_POINTER_ARRAY)
		return matrix_of_array(run, address, index, bytes);
	if (l->plane_offset)
		return matrix_of_planes(run, l, address, index);
	address += lt_bytes(l->type, (size_t)(index * l->batch_stride));
	return run->memory(run, address, bytes);
}
