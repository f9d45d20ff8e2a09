/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lt_operand.c - converts matrices to a form that gemm.h supports. A row-major
 * matrix is passed as its transpose; all others that do not fit are copied.
 */
#include "fronts/cublas/lt/lt_run.h"

#include <stdlib.h>

static bool has_blocks(const struct lt_scales *s)
{
	return s->data && s->mode &&
	       s->mode != CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F;
}

static enum element copy_type(enum element sums, bool complex)
{
	if (sums == R_32F || sums == C_32F)
		return complex ? C_32F : R_32F;
	return complex ? C_64F : R_64F;
}

static void scale_column(const struct lt_scales *s, bool by_rows, uint64_t rows,
			 uint64_t col, double *x)
{
	for (uint64_t i = 0; i < rows; i++)
		x[i] *=
		    by_rows ? lt_scale_at(s, i, col) : lt_scale_at(s, col, i);
}

/*
 * Copies a matrix into adjacent columns, converting it to another type and
 * applying its scales.
 */
static void *copy_matrix(const struct lt_layout *l, const void *matrix,
			 const struct lt_scales *s, bool by_rows,
			 enum element to)
{
	enum element wide = element_is_complex(to) ? C_64F : R_64F;
	size_t column = l->rows * element_size(to);
	double *x = malloc(l->rows * element_size(wide));
	char *all = malloc(column * l->cols);

	for (uint64_t j = 0; x && all && j < l->cols; j++) {
		lt_read_column(l, matrix, j, x);
		if (has_blocks(s))
			scale_column(s, by_rows, l->rows, j, x);
		element_convert(all + j * column, to, x, wide, l->rows);
	}
	if (!x) {
		free(all);
		all = NULL;
	}
	free(x);
	return all;
}

bool lt_take_operand(const struct lt_layout *l, const void *matrix,
		     int32_t trans, const struct lt_scales *scales,
		     bool by_rows, enum element sums, struct lt_operand *ret)
{
	enum element type = (enum element)l->type;
	bool complex = element_is_complex(type);
	bool by_row = l->order == CUBLASLT_ORDER_ROW;

	*ret = (struct lt_operand){matrix, l->ld, type, (enum operation)trans,
				   NULL};
	if (!complex && trans == CUBLAS_OP_C)
		ret->op = OP_T;
	if (type != R_4F_E2M1 && !l->plane_offset && !has_blocks(scales) &&
	    (l->order == CUBLASLT_ORDER_COL || (by_row && ret->op != OP_C))) {
		if (by_row)
			ret->op = ret->op == OP_N ? OP_T : OP_N;
		return true;
	}
	ret->type = copy_type(sums, complex);
	ret->ld = (int64_t)l->rows;
	ret->data = ret->own =
	    copy_matrix(l, matrix, scales, by_rows, ret->type);
	return ret->own;
}
