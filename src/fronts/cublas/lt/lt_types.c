/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lt_types.c - owns the table of types that products support.
 */
#include "fronts/cublas/lt/lt_problem.h"

#define NONE LT_NO_TYPE

enum compute { HALF, INTEGER, PLAIN, FLOAT, FAST, DOUBLE };

static const struct {
	enum compute compute;
	int32_t scale, a, b, c, d, bias;
} rows[] = {
#define TYPES(compute, scale, a, b, c, d, bias)                                \
	{compute,      (int32_t)(scale), (int32_t)(a),   (int32_t)(b),         \
	 (int32_t)(c), (int32_t)(d),     (int32_t)(bias)},
#include "fronts/cublas/lt/lt_types.def"
#undef TYPES
};

static bool computes_in(enum compute row, int32_t type)
{
	switch (type) {
	case CUBLAS_COMPUTE_16F:
	case CUBLAS_COMPUTE_16F_PEDANTIC:
		return row == HALF;
	case CUBLAS_COMPUTE_32I:
	case CUBLAS_COMPUTE_32I_PEDANTIC:
		return row == INTEGER;
	case CUBLAS_COMPUTE_32F:
		return row == FLOAT || row == PLAIN;
	case CUBLAS_COMPUTE_32F_PEDANTIC:
		return row == FLOAT;
	case CUBLAS_COMPUTE_32F_FAST_16F:
	case CUBLAS_COMPUTE_32F_FAST_16BF:
	case CUBLAS_COMPUTE_32F_FAST_TF32:
	case CUBLAS_COMPUTE_32F_EMULATED_16BFX9:
		return row == FAST;
	case CUBLAS_COMPUTE_64F:
	case CUBLAS_COMPUTE_64F_PEDANTIC:
	case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
		return row == DOUBLE;
	default:
		return false;
	}
}

bool lt_types_are_known(const struct lt_types *t, int32_t *ret_bias)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (computes_in(rows[i].compute, t->compute) &&
		    rows[i].scale == t->scale && rows[i].a == t->a &&
		    rows[i].b == t->b && rows[i].c == t->c &&
		    rows[i].d == t->d) {
			*ret_bias = rows[i].bias;
			return true;
		}
	return false;
}

enum element lt_sums_of(const struct lt_types *t)
{
	if (computes_in(INTEGER, t->compute))
		return R_32I;
	if (t->scale == C_64F || t->scale == R_64F)
		return (enum element)t->scale;
	return t->scale == C_32F ? C_32F : R_32F;
}

bool lt_is_narrow(uint32_t type)
{
	return type == R_8F_E4M3 || type == R_8F_E5M2 || type == R_4F_E2M1;
}

unsigned lt_alignment(uint32_t type_a, uint32_t type)
{
	if (lt_is_narrow(type_a))
		return 16;
	if (type_a == R_8I)
		return 4;
	return (unsigned)element_size(element_real((enum element)type));
}
