/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lt_layout.h - where a layout puts the elements of a matrix. Positions and
 * spans are counted in elements.
 */
#ifndef GKF_CUBLAS_LT_LAYOUT_H
#define GKF_CUBLAS_LT_LAYOUT_H

#include "fronts/common/element.h"
#include "fronts/cublas/lt/lt.h"

/*
 * FP4, which element.h lacks: two elements per byte, the first in the low half.
 */
#define R_4F_E2M1 ((enum element)CUDA_R_4F_E2M1)

/* Whether the order is known, and the columns (or rows) do not overlap. */
bool lt_layout_is_valid(const struct lt_layout *l);

/*
 * Like lt_layout_is_valid(), but also true if ld is 0, which repeats the same
 * column or row.
 */
bool lt_layout_is_readable(const struct lt_layout *l);

size_t lt_place(const struct lt_layout *l, uint64_t row, uint64_t col);

/*
 * Returns 1 + the position of the last element, 0 if there are no elements, or
 * SIZE_MAX on overflow. lt_bytes() then returns SIZE_MAX, too.
 */
size_t lt_span(const struct lt_layout *l);

/*
 * Returns the bytes of `count` elements; 0 for an unknown type; SIZE_MAX on
 * overflow.
 */
size_t lt_bytes(uint32_t type, size_t count);

/*
 * Read and write column `col` of a matrix as doubles; a complex number takes
 * two.
 */
void lt_read_column(const struct lt_layout *l, const void *matrix, uint64_t col,
		    double *ret);
void lt_write_column(const struct lt_layout *l, void *matrix, uint64_t col,
		     const double *x);

#endif
