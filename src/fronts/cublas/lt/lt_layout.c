/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lt_layout.c - computes where a layout puts the elements of a matrix.
 */
#include "fronts/cublas/lt/lt_layout.h"
#include "base/assert.h"

#define TILE_COLUMNS 32
/*
 * The maximum number of rows of a tiled matrix, so that ld does not overflow.
 */
#define MOST_ROWS (INT64_MAX / (2 * TILE_COLUMNS))

static uint64_t round_up(uint64_t x, uint64_t to)
{
	return (x + to - 1) / to * to;
}

/* Returns the number of rows, rounded up to whole tiles. */
static uint64_t tiled_rows(const struct lt_layout *l)
{
	static const uint64_t of_tile[] = {
	    [CUBLASLT_ORDER_COL32] = 1,
	    [CUBLASLT_ORDER_COL4_4R2_8C] = 8,
	    [CUBLASLT_ORDER_COL32_2R_4R4] = 32,
	};

	return round_up(l->rows, of_tile[l->order]);
}

/*
 * Returns the smallest valid leading dimension, or UINT64_MAX for an unknown
 * order.
 */
static uint64_t least_ld(const struct lt_layout *l)
{
	switch (l->order) {
	case CUBLASLT_ORDER_COL:
		return l->rows;
	case CUBLASLT_ORDER_ROW:
		return l->cols;
	case CUBLASLT_ORDER_COL32:
	case CUBLASLT_ORDER_COL4_4R2_8C:
	case CUBLASLT_ORDER_COL32_2R_4R4:
		return l->rows <= MOST_ROWS ? tiled_rows(l) * TILE_COLUMNS
					    : UINT64_MAX;
	default:
		return UINT64_MAX;
	}
}

bool lt_layout_is_valid(const struct lt_layout *l)
{
	return l->ld >= 0 && (uint64_t)l->ld >= least_ld(l);
}

bool lt_layout_is_readable(const struct lt_layout *l)
{
	return lt_layout_is_valid(l) ||
	       (!l->ld && (l->order == CUBLASLT_ORDER_COL ||
			   l->order == CUBLASLT_ORDER_ROW));
}

/* Returns the position in an 8 x 32 tile of CUBLASLT_ORDER_COL4_4R2_8C. */
static size_t place_in_4r2_8c(uint64_t row, uint64_t col)
{
	return (row % 2 * 4 + col / 8) * 32 +
	       (col % 8 / 4 * 4 + row % 8 / 2) * 4 + col % 4;
}

static size_t place_in_2r_4r4(uint64_t row, uint64_t col)
{
	return ((row % 8 / 2 * 4 + row / 8) * 2 + row % 2) * 32 + col;
}

size_t lt_place(const struct lt_layout *l, uint64_t row, uint64_t col)
{
	size_t ld = (size_t)l->ld, group = col / TILE_COLUMNS * ld;

	switch (l->order) {
	case CUBLASLT_ORDER_COL:
		return col * ld + row;
	case CUBLASLT_ORDER_ROW:
		return row * ld + col;
	case CUBLASLT_ORDER_COL32:
		return group + row * 32 + col % 32;
	case CUBLASLT_ORDER_COL4_4R2_8C:
		return group + row / 8 * 256 +
		       place_in_4r2_8c(row % 8, col % 32);
	default:
		return group + row / 32 * 1024 +
		       place_in_2r_4r4(row % 32, col % 32);
	}
}

/* Returns a * b + c, or SIZE_MAX on overflow. */
static size_t bounded(size_t a, size_t b, size_t c)
{
	size_t all;

	return __builtin_mul_overflow(a, b, &all) ||
		       __builtin_add_overflow(all, c, &all)
		   ? SIZE_MAX
		   : all;
}

size_t lt_span(const struct lt_layout *l)
{
	if (!l->rows || !l->cols)
		return 0;
	if (l->order == CUBLASLT_ORDER_COL)
		return bounded(l->cols - 1, (size_t)l->ld, l->rows);
	if (l->order == CUBLASLT_ORDER_ROW)
		return bounded(l->rows - 1, (size_t)l->ld, l->cols);
	return bounded((l->cols - 1) / TILE_COLUMNS, (size_t)l->ld,
		       tiled_rows(l) * TILE_COLUMNS);
}

size_t lt_bytes(uint32_t type, size_t count)
{
	if (type == R_4F_E2M1)
		return count / 2 + count % 2;
	return bounded(count, element_size((enum element)type), 0);
}

static const double e2m1[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};

static double read_e2m1(const uint8_t *matrix, size_t place)
{
	unsigned bits = matrix[place / 2] >> place % 2 * 4;

	return bits & 8 ? -e2m1[bits & 7] : e2m1[bits & 7];
}

/*
 * Rounds to nearest, ties to even; magnitudes are limited to 6. A NaN becomes
 * 6, as on NVIDIA's GPUs.
 */
static unsigned round_e2m1(double x)
{
	double size = x < 0 ? -x : x;
	unsigned i = 0;

	while (i < 7 && !(size < (e2m1[i] + e2m1[i + 1]) / 2))
		i++;
	if (i && i % 2 && size == (e2m1[i - 1] + e2m1[i]) / 2)
		i--;
	return i | (__builtin_signbit(x) ? 8u : 0);
}

static void write_e2m1(uint8_t *matrix, size_t place, double x)
{
	unsigned shift = place % 2 * 4;
	uint8_t *at = &matrix[place / 2];

	*at = (uint8_t)((*at & ~(15u << shift)) | round_e2m1(x) << shift);
}

static enum element wide_type(enum element type)
{
	return element_is_complex(type) ? C_64F : R_64F;
}

static bool is_planar(const struct lt_layout *l)
{
	return l->plane_offset && element_is_complex((enum element)l->type);
}

/*
 * Returns the real or imaginary part of an element whose matrix is stored as
 * two planes, which are matrices of the real type.
 */
static char *place_in_plane(const struct lt_layout *l, const void *matrix,
			    int part, uint64_t row, uint64_t col)
{
	enum element real = element_real((enum element)l->type);

	return (char *)(uintptr_t)matrix + part * l->plane_offset +
	       lt_place(l, row, col) * element_size(real);
}

static void read_planar(const struct lt_layout *l, const void *matrix,
			uint64_t row, uint64_t col, double ret[2])
{
	enum element real = element_real((enum element)l->type);

	for (int part = 0; part < 2; part++)
		element_convert(&ret[part], R_64F,
				place_in_plane(l, matrix, part, row, col), real,
				1);
}

static void write_planar(const struct lt_layout *l, void *matrix, uint64_t row,
			 uint64_t col, const double x[2])
{
	enum element real = element_real((enum element)l->type);

	for (int part = 0; part < 2; part++)
		element_convert(place_in_plane(l, matrix, part, row, col), real,
				&x[part], R_64F, 1);
}

void lt_read_column(const struct lt_layout *l, const void *matrix, uint64_t col,
		    double *ret)
{
	enum element type = (enum element)l->type, wide = wide_type(type);
	size_t size = lt_bytes(l->type, 1), step = wide == C_64F ? 2 : 1;

	GK_ASSERT(col < l->cols);
	if (type != R_4F_E2M1 && !is_planar(l) &&
	    l->order == CUBLASLT_ORDER_COL) {
		element_convert(ret, wide,
				(const char *)matrix +
				    lt_place(l, 0, col) * size,
				type, l->rows);
		return;
	}
	for (uint64_t i = 0; i < l->rows; i++) {
		size_t place = lt_place(l, i, col);

		if (type == R_4F_E2M1)
			ret[i] = read_e2m1(matrix, place);
		else if (is_planar(l))
			read_planar(l, matrix, i, col, ret + i * step);
		else
			element_convert(ret + i * step, wide,
					(const char *)matrix + place * size,
					type, 1);
	}
}

void lt_write_column(const struct lt_layout *l, void *matrix, uint64_t col,
		     const double *x)
{
	enum element type = (enum element)l->type, wide = wide_type(type);
	size_t size = lt_bytes(l->type, 1), step = wide == C_64F ? 2 : 1;

	GK_ASSERT(col < l->cols);
	if (type != R_4F_E2M1 && !is_planar(l) &&
	    l->order == CUBLASLT_ORDER_COL) {
		element_convert((char *)matrix + lt_place(l, 0, col) * size,
				type, x, wide, l->rows);
		return;
	}
	for (uint64_t i = 0; i < l->rows; i++) {
		size_t place = lt_place(l, i, col);

		if (type == R_4F_E2M1)
			write_e2m1(matrix, place, x[i]);
		else if (is_planar(l))
			write_planar(l, matrix, i, col, x + i * step);
		else
			element_convert((char *)matrix + place * size, type,
					x + i * step, wide, 1);
	}
}
