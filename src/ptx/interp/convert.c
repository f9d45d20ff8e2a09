/* SPDX-License-Identifier: Apache-2.0 */
/* convert.c - executes cvt between types, and packing and unpacking vectors. */
#include "base/assert.h"
#include "ptx/interp/lanes.h"
#include "ptx/interp/op.h"

#include <fenv.h>

/* Rounds to a whole number; returns NaN and infinity unchanged. */
static double round_to_whole(double x, uint8_t round)
{
	double size = x < 0 ? -x : x, r;

	if (!(size < 4503599627370496.0))
		return x;
	r = (size + 4503599627370496.0) - 4503599627370496.0;
	if (round == GKF_ROUND_ZERO && r > size)
		r -= 1;
	if (x < 0 || bits64(x) >> 63)
		r = -r;
	if (round == GKF_ROUND_DOWN && r > x)
		r -= 1;
	if (round == GKF_ROUND_UP && r < x)
		r = r + 1 == 0 ? -0.0 : r + 1;
	return r;
}

static double read_float(double x, bool is_single, const struct gkf_op *op)
{
	return is_single && op->flush ? (double)ftz((float)x) : x;
}

/*
 * Converts floats to integers, clamped to the integer's range. A NaN becomes 0
 * or, if the float or the integer has 64 bits, an integer with only the top bit
 * set (PTX ISA, cvt).
 */
#define FROM_NAN(D, A)                                                         \
	(sizeof(A) == 8 || sizeof(D) == 8 ? (D)((u64)1 << (sizeof(D) * 8 - 1)) \
					  : 0)
#define CAST_FI(D, A, min, max)                                                \
	static void cast_##D##_##A(struct gkf_warp *w,                         \
				   const struct gkf_op *op, uint32_t mask)     \
	{                                                                      \
		const A *a = gkf_at(w, op->a);                                 \
		D *out = gkf_at(w, op->d);                                     \
		for (unsigned l = 0; l < GKF_LANES; l++) {                     \
			double x =                                             \
			    read_float((double)a[l], sizeof(A) == 4, op);      \
			if (!(mask >> l & 1))                                  \
				continue;                                      \
			if (x != x) {                                          \
				out[l] = FROM_NAN(D, A);                       \
				continue;                                      \
			}                                                      \
			x = round_to_whole(x, op->round);                      \
			out[l] = x <= (double)(min)   ? (D)(min)               \
				 : x >= (double)(max) ? (D)(max)               \
						      : (D)x;                  \
		}                                                              \
	}
#define CAST_II(D, A)                                                          \
	static void cast_##D##_##A(struct gkf_warp *w,                         \
				   const struct gkf_op *op, uint32_t mask)     \
	{                                                                      \
		const A *a = gkf_at(w, op->a);                                 \
		D *out = gkf_at(w, op->d);                                     \
		for (unsigned l = 0; l < GKF_LANES; l++)                       \
			if (mask >> l & 1)                                     \
				out[l] = (D)a[l];                              \
	}
#define SAT_II(D, A, min, max)                                                 \
	static void sat_##D##_##A(struct gkf_warp *w, const struct gkf_op *op, \
				  uint32_t mask)                               \
	{                                                                      \
		const A *a = gkf_at(w, op->a);                                 \
		D *out = gkf_at(w, op->d);                                     \
		for (unsigned l = 0; l < GKF_LANES; l++) {                     \
			__int128 x = a[l];                                     \
			if (mask >> l & 1)                                     \
				out[l] = (D)(x < (min)   ? (min)               \
					     : x > (max) ? (max)               \
							 : x);                 \
		}                                                              \
	}

static float finish_f32(float x, const struct gkf_op *op)
{
	if (op->flush)
		x = ftz(x);
	return op->saturate ? sat32(x) : nan32(x);
}

static double finish_f64(double x, const struct gkf_op *op)
{
	if (!op->saturate)
		return x;
	return x > 0 ? (x < 1 ? x : 1) : 0;
}

/*
 * Converts to floating point in the op's rounding mode; op.c explains why
 * fesetround() works here.
 */
#define CAST_TO(D, A, take, finish)                                            \
	static void cast_##D##_##A(struct gkf_warp *w,                         \
				   const struct gkf_op *op, uint32_t mask)     \
	{                                                                      \
		const A *a = gkf_at(w, op->a);                                 \
		D *out = gkf_at(w, op->d);                                     \
		if (op->round)                                                 \
			fesetround(rounding_mode(op->round));                  \
		for (unsigned l = 0; l < GKF_LANES; l++)                       \
			if (mask >> l & 1)                                     \
				out[l] = finish((D)take(a[l]), op);            \
		if (op->round)                                                 \
			fesetround(FE_TONEAREST);                              \
	}
/* Rounds to a whole number of the same type. */
#define CAST_WHOLE(T, finish)                                                  \
	static void whole_##T(struct gkf_warp *w, const struct gkf_op *op,     \
			      uint32_t mask)                                   \
	{                                                                      \
		const T *a = gkf_at(w, op->a);                                 \
		T *out = gkf_at(w, op->d);                                     \
		for (unsigned l = 0; l < GKF_LANES; l++) {                     \
			double x =                                             \
			    read_float((double)a[l], sizeof(T) == 4, op);      \
			if (mask >> l & 1)                                     \
				out[l] = finish(                               \
				    (T)round_to_whole(x, op->round), op);      \
		}                                                              \
	}

#define INTEGERS(X)                                                            \
	X(u8, 0, UINT8_MAX)                                                    \
	X(s8, INT8_MIN, INT8_MAX)                                              \
	X(u16, 0, UINT16_MAX)                                                  \
	X(s16, INT16_MIN, INT16_MAX)                                           \
	X(u32, 0, UINT32_MAX)                                                  \
	X(s32, INT32_MIN, INT32_MAX)                                           \
	X(u64, 0, UINT64_MAX)                                                  \
	X(s64, INT64_MIN, INT64_MAX)
#define FROM_ALL(D, min, max)                                                  \
	CAST_II(D, u8)                                                         \
	CAST_II(D, s8)                                                         \
	CAST_II(D, u16)                                                        \
	CAST_II(D, s16)                                                        \
	CAST_II(D, u32)                                                        \
	CAST_II(D, s32)                                                        \
	CAST_II(D, u64)                                                        \
	CAST_II(D, s64)                                                        \
	SAT_II(D, u8, min, max)                                                \
	SAT_II(D, s8, min, max)                                                \
	SAT_II(D, u16, min, max)                                               \
	SAT_II(D, s16, min, max)                                               \
	SAT_II(D, u32, min, max)                                               \
	SAT_II(D, s32, min, max)                                               \
	SAT_II(D, u64, min, max)                                               \
	SAT_II(D, s64, min, max)                                               \
	CAST_FI(D, f32, min, max)                                              \
	CAST_FI(D, f64, min, max)                                              \
	CAST_TO(f32, D, , finish_f32)                                          \
	CAST_TO(f64, D, , finish_f64)
INTEGERS(FROM_ALL)
CAST_TO(f32, f64, , finish_f32)
#define FLUSHED(x) (op->flush ? ftz(x) : (x))
CAST_TO(f64, f32, FLUSHED, finish_f64)
CAST_TO(f32, f32, , finish_f32)
CAST_TO(f64, f64, , finish_f64)
CAST_WHOLE(f32, finish_f32)
CAST_WHOLE(f64, finish_f64)

/* Indexed by the result's type, then by the operand's. */
struct cast {
	gkf_op_fn *plain, *saturating;
};
#define T(type) [GKF_PTX_T_##type]
#define ROW(D, min, max)                                                       \
	T(D) = {T(u8) = {cast_##D##_u8, sat_##D##_u8},                         \
		T(s8) = {cast_##D##_s8, sat_##D##_s8},                         \
		T(u16) = {cast_##D##_u16, sat_##D##_u16},                      \
		T(s16) = {cast_##D##_s16, sat_##D##_s16},                      \
		T(u32) = {cast_##D##_u32, sat_##D##_u32},                      \
		T(s32) = {cast_##D##_s32, sat_##D##_s32},                      \
		T(u64) = {cast_##D##_u64, sat_##D##_u64},                      \
		T(s64) = {cast_##D##_s64, sat_##D##_s64},                      \
		T(f32) = {cast_##D##_f32, cast_##D##_f32},                     \
		T(f64) = {cast_##D##_f64, cast_##D##_f64}},
#define SAME(cast)                                                             \
	{                                                                      \
		cast, cast                                                     \
	}
#define FLOAT_ROW(D)                                                           \
	T(D) = {T(u8) = SAME(cast_##D##_u8),   T(s8) = SAME(cast_##D##_s8),    \
		T(u16) = SAME(cast_##D##_u16), T(s16) = SAME(cast_##D##_s16),  \
		T(u32) = SAME(cast_##D##_u32), T(s32) = SAME(cast_##D##_s32),  \
		T(u64) = SAME(cast_##D##_u64), T(s64) = SAME(cast_##D##_s64),  \
		T(f32) = SAME(cast_##D##_f32), T(f64) = SAME(cast_##D##_f64)},
static const struct cast casts[GKF_PTX_TYPES][GKF_PTX_TYPES] = {
    INTEGERS(ROW) FLOAT_ROW(f32) FLOAT_ROW(f64)};

gkf_op_fn *gkf_convert_find(enum gkf_ptx_type to, enum gkf_ptx_type from,
			    bool saturate, bool integral)
{
	bool floats;

	GK_ASSERT(to < GKF_PTX_TYPES && from < GKF_PTX_TYPES);
	floats = gkf_ptx_types[to].kind == GKF_PTX_FLOAT &&
		 gkf_ptx_types[from].kind == GKF_PTX_FLOAT;
	if (integral && floats && to == from && casts[to][from].plain)
		return to == GKF_PTX_T_f32 ? whole_f32 : whole_f64;
	if (integral && gkf_ptx_types[from].kind != GKF_PTX_FLOAT)
		return NULL;
	if (integral && floats)
		return NULL;
	return saturate ? casts[to][from].saturating : casts[to][from].plain;
}

/* In packing and unpacking, the first element occupies the lowest bits. */
static uint64_t lane_of(const void *lanes, unsigned bytes, unsigned l)
{
	switch (bytes) {
	case 1:
		return ((const u8 *)lanes)[l];
	case 2:
		return ((const u16 *)lanes)[l];
	case 4:
		return ((const u32 *)lanes)[l];
	default:
		return ((const u64 *)lanes)[l];
	}
}

static void put_lane(void *lanes, unsigned bytes, unsigned l, uint64_t value)
{
	memcpy((unsigned char *)lanes + (size_t)l * bytes, &value, bytes);
}

void gkf_op_pack(struct gkf_warp *w, const struct gkf_op *op, uint32_t mask)
{
	for (unsigned l = 0; l < GKF_LANES; l++) {
		uint64_t value = 0;

		if (!(mask >> l & 1))
			continue;
		for (unsigned e = 0; e < op->count; e++)
			value |= lane_of(gkf_at(w, op->places[e]), op->size, l)
				 << e * op->size * 8;
		put_lane(gkf_at(w, op->d), op->wide, l, value);
	}
}

void gkf_op_unpack(struct gkf_warp *w, const struct gkf_op *op, uint32_t mask)
{
	for (unsigned l = 0; l < GKF_LANES; l++) {
		uint64_t value = lane_of(gkf_at(w, op->a), op->wide, l);

		if (!(mask >> l & 1))
			continue;
		for (unsigned e = 0; e < op->count; e++)
			if (op->places[e] != GKF_NOWHERE)
				put_lane(gkf_at(w, op->places[e]), op->size, l,
					 value >> e * op->size * 8);
	}
}

gkf_op_fn *gkf_bits_cast(unsigned to, unsigned from, bool is_signed)
{
	static const enum gkf_ptx_type plain[] = {GKF_PTX_T_u8, GKF_PTX_T_u16,
						  GKF_PTX_T_u32, GKF_PTX_T_u64};
	static const enum gkf_ptx_type sign[] = {GKF_PTX_T_s8, GKF_PTX_T_s16,
						 GKF_PTX_T_s32, GKF_PTX_T_s64};
	const enum gkf_ptx_type *of = is_signed ? sign : plain;

	GK_ASSERT(__builtin_popcount(to) == 1 && to <= 8);
	GK_ASSERT(__builtin_popcount(from) == 1 && from <= 8);
	return gkf_convert_find(of[__builtin_ctz(to)], of[__builtin_ctz(from)],
				false, false);
}
