/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce.c - computes reductions. 16-bit and 8-bit floats are computed as float
 * and rounded at the end.
 */
#include "fronts/nccl/reduce.h"
#include "base/assert.h"
#include "fronts/common/element.h"
#include "fronts/nccl/front.h"

#include <string.h>

/* A buffer for a block of any type. */
struct block {
	uint64_t words[REDUCE_BLOCK];
};

/* The type in which a reduction is computed. */
enum kind { I8, U8, I32, U32, I64, U64, F32, F64 };

static const struct {
	enum kind kind;
	/*
	 * the type, if it is a narrow one that is computed as float; else R_32F
	 */
	enum element narrow;
} types[ncclNumTypes] = {
    [ncclInt8] = {I8, R_32F},
    [ncclUint8] = {U8, R_32F},
    [ncclInt32] = {I32, R_32F},
    [ncclUint32] = {U32, R_32F},
    [ncclInt64] = {I64, R_32F},
    [ncclUint64] = {U64, R_32F},
    [ncclFloat16] = {F32, R_16F},
    [ncclFloat32] = {F32, R_32F},
    [ncclFloat64] = {F64, R_32F},
    [ncclBfloat16] = {F32, R_16BF},
    [ncclFloat8e4m3] = {F32, R_8F_E4M3},
    [ncclFloat8e5m2] = {F32, R_8F_E5M2},
};

#define EACH(statement)                                                        \
	for (size_t i = 0; i < n; i++)                                         \
		statement;                                                     \
	break

/* As in fmax() and fmin(): if one operand is NaN, the result is the other. */
#define MORE(a, b) ((b) > (a) || (a) != (a) ? (b) : (a))
#define LESS(a, b) ((b) < (a) || (a) != (a) ? (b) : (a))

/*
 * GCC compiles the functions twice, for AVX2 and for other processors; the
 * program chooses at run time. The AVX2 code is twice as fast.
 */
#if defined(__x86_64__) && !defined(__clang__) &&                              \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

/*
 * Arithmetic is done in the type `round`, which is unsigned for integers, so
 * that sums and products wrap around. `to` may be `a`.
 */
#define ARITHMETIC(name, type, round)                                          \
	WIDE static void combine_##name(type *to, const type *a,               \
					const type *b, uint32_t op, size_t n)  \
	{                                                                      \
		switch (op) {                                                  \
		case ncclProd:                                                 \
			EACH(to[i] = (type)((round)a[i] * (round)b[i]));       \
		case ncclMax:                                                  \
			EACH(to[i] = MORE(a[i], b[i]));                        \
		case ncclMin:                                                  \
			EACH(to[i] = LESS(a[i], b[i]));                        \
		default:                                                       \
			EACH(to[i] = (type)((round)a[i] + (round)b[i]));       \
		}                                                              \
	}                                                                      \
	WIDE static void scale_##name(type *to, const type *in, uint64_t bits, \
				      size_t n)                                \
	{                                                                      \
		type factor;                                                   \
                                                                               \
		memcpy(&factor, &bits, sizeof factor);                         \
		for (size_t i = 0; i < n; i++)                                 \
			to[i] = (type)((round)in[i] * (round)factor);          \
	}                                                                      \
	static void divide_##name(type *to, unsigned ranks, size_t n)          \
	{                                                                      \
		for (size_t i = 0; i < n; i++)                                 \
			to[i] = (type)(to[i] / (type)ranks);                   \
	}
ARITHMETIC(i8, int8_t, unsigned)
ARITHMETIC(u8, uint8_t, unsigned)
ARITHMETIC(i32, int32_t, uint32_t)
ARITHMETIC(u32, uint32_t, uint32_t)
ARITHMETIC(i64, int64_t, uint64_t)
ARITHMETIC(u64, uint64_t, uint64_t)
ARITHMETIC(f32, float, float)
ARITHMETIC(f64, double, double)

/* Calls the function for a kind: CALL(function, element type). */
#define BY_KIND(kind, function)                                                \
	switch (kind) {                                                        \
	case I8:                                                               \
		CALL(function##_i8, int8_t);                                   \
		break;                                                         \
	case U8:                                                               \
		CALL(function##_u8, uint8_t);                                  \
		break;                                                         \
	case I32:                                                              \
		CALL(function##_i32, int32_t);                                 \
		break;                                                         \
	case U32:                                                              \
		CALL(function##_u32, uint32_t);                                \
		break;                                                         \
	case I64:                                                              \
		CALL(function##_i64, int64_t);                                 \
		break;                                                         \
	case U64:                                                              \
		CALL(function##_u64, uint64_t);                                \
		break;                                                         \
	case F32:                                                              \
		CALL(function##_f32, float);                                   \
		break;                                                         \
	case F64:                                                              \
		CALL(function##_f64, double);                                  \
		break;                                                         \
	}

/* A rank's scalar in the type of the computation. */
static uint64_t widen_scalar(enum element narrow, uint64_t bits)
{
	uint64_t wide = 0;

	if (narrow == R_32F)
		return bits;
	element_convert(&wide, R_32F, &bits, narrow, 1);
	return wide;
}

/* Returns a rank's elements in the type of the computation, converted into
 * `room` if needed. */
static const void *load_elements(const struct reduction *r, struct block *room,
				 const void *in, unsigned rank, size_t n)
{
	enum element narrow = types[r->type].narrow;
	uint64_t scalar;

	if (narrow != R_32F) {
		element_convert(room, R_32F, in, narrow, n);
		in = room;
	}
	if (r->op != OP_SCALED)
		return in;
	scalar = widen_scalar(narrow, r->scalar[rank]);
#define CALL(function, type)                                                   \
	function((type *)(void *)room, (const type *)in, scalar, n)
	BY_KIND(types[r->type].kind, scale)
#undef CALL
	return room;
}

static void combine_elements(const struct reduction *r, void *to, const void *a,
			     const void *b, size_t n)
{
#define CALL(function, type)                                                   \
	function((type *)to, (const type *)a, (const type *)b, r->op, n)
	BY_KIND(types[r->type].kind, combine)
#undef CALL
}

static void divide_elements(const struct reduction *r, void *to, size_t n)
{
#define CALL(function, type) function((type *)to, r->ranks, n)
	BY_KIND(types[r->type].kind, divide)
#undef CALL
}

/* The result of 16-bit and 8-bit floats is computed in `sum` first, the result
 * of all other types directly in `to`. */
void reduce_block(const struct reduction *r, void *to,
		  const char *const in[RANKS_MAX], size_t n)
{
	enum element narrow = types[r->type].narrow;
	struct block sum, first, room;
	void *at = narrow != R_32F ? &sum : to;
	const void *so_far;

	GK_ASSERT(r->ranks && r->ranks <= RANKS_MAX && n <= REDUCE_BLOCK);
	so_far = load_elements(r, &first, in[0], 0, n);
	for (unsigned i = 1; i < r->ranks; i++) {
		combine_elements(r, at, so_far,
				 load_elements(r, &room, in[i], i, n), n);
		so_far = at;
	}
	if (so_far != at)
		memcpy(at, so_far,
		       n * (narrow != R_32F ? sizeof(float)
					    : type_size((int)r->type)));
	if (r->op == ncclAvg)
		divide_elements(r, at, n);
	if (narrow != R_32F)
		element_convert(to, narrow, at, R_32F, n);
}
