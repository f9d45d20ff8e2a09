/*
 * lt_layout.h - where the elements of a matrix lie, by its layout. Indices and
 * spans are in elements.
 */
#ifndef GKF_CUBLAS_LT_LAYOUT_H
#define GKF_CUBLAS_LT_LAYOUT_H

#include "fronts/common/element.h"
#include "fronts/cublas/lt.h"

/* FP4, of which element.h knows nothing: two in a byte, the low half first. */
#define R_4F_E2M1 ((enum element)CUDA_R_4F_E2M1)

/* The order is known and its columns, or rows, do not overlap. */
bool lt_layout_is_valid(const struct lt_layout *l);

/* Like that, but an ld of 0 repeats the same column or row. */
bool lt_layout_is_readable(const struct lt_layout *l);

size_t lt_place(const struct lt_layout *l, uint64_t row, uint64_t col);

/*
 * One more than the place of the last element; 0: there is none. SIZE_MAX: more
 * than there are addresses, which lt_bytes() answers as well.
 */
size_t lt_span(const struct lt_layout *l);

/* Bytes of `count` elements; 0: a type that is not known. */
size_t lt_bytes(uint32_t type, size_t count);

/*
 * Column `col` of a matrix as double, or pairs of them where its type is
 * complex; and a column of it from such.
 */
void lt_read_column(const struct lt_layout *l, const void *matrix, uint64_t col,
		    double *ret);
void lt_write_column(const struct lt_layout *l, void *matrix, uint64_t col,
		     const double *x);

#endif
