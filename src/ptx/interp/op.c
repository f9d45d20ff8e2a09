/* SPDX-License-Identifier: Apache-2.0 */
/* op.c - defines the functions that the rows of op.def describe. */
#include "ptx/interp/op.h"
#include "ptx/interp/lanes.h"

#include <fenv.h>
#include <stdatomic.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/*
 * PTX's approximate functions, as series in double precision, rounded once. The
 * results are more accurate than the PTX ISA requires, and the same on every
 * machine.
 */

/* Rounds x to the nearest whole number, for |x| < 2^51. */
static inline double nearest(double x)
{
	const double shift = 0x1.8p52;

	return x + shift - shift;
}

/* Returns e^x for |x| <= ln(2)/2; the omitted terms are below 2^-56. */
static inline double exp_near_0(double x)
{
	double sum = 1;

	for (int n = 13; n; n--)
		sum = 1 + x / n * sum;
	return sum;
}

static inline float exp2_32(float a)
{
	double x = a > 200 ? 200 : a < -200 ? -200 : (double)a, n;

	if (a != a)
		return a;
	n = nearest(x);
	return (float)(exp_near_0((x - n) * 0x1.62e42fefa39efp-1) *
		       float64((uint64_t)(1023 + (int)n) << 52));
}

/* Returns 2 atanh(s), which is ln((1 + s) / (1 - s)), for |s| <= 0.172. */
static inline double log_near_1(double s)
{
	double z = s * s, sum = 0;

	for (int n = 21; n > 0; n -= 2)
		sum = sum * z + 2.0 / n;
	return s * sum;
}

static inline float log2_32(float a)
{
	uint64_t u = bits64((double)a);
	int exponent = (int)(u >> 52 & 0x7ff) - 1023;
	double m = float64((u & 0xfffffffffffff) | (uint64_t)1023 << 52);

	if (!(a > 0))
		return a == 0 ? -__builtin_inff() : __builtin_nanf("");
	if (a == __builtin_inff())
		return a;
	if (m > 0x1.6a09e667f3bcdp0) {
		m /= 2;
		exponent++;
	}
	return (float)(exponent +
		       log_near_1((m - 1) / (m + 1)) * 0x1.71547652b82fep0);
}

/* Evaluates `expression` for each lane l in `mask`. */
#define EACH(expression)                                                       \
	if (mask == GKF_ALL_LANES) {                                           \
		LANES_APART                                                    \
		for (unsigned l = 0; l < GKF_LANES; l++) {                     \
			expression;                                            \
		}                                                              \
	} else {                                                               \
		for (unsigned l = 0; l < GKF_LANES; l++)                       \
			if (mask >> l & 1) {                                   \
				expression;                                    \
			}                                                      \
	}
#define HEAD(id)                                                               \
	void gkf_op_##id(struct gkf_warp *w, const struct gkf_op *op,          \
			 uint32_t mask)
#define IN(type, name, place) const type *in_##name = gkf_at(w, place)
#define VALUE(type, name)     type name = in_##name[l]

/* An expression need not use all of its operands. */
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"

#define OP1(id, opcode, pattern, D, A, value)                                  \
	HEAD(id)                                                               \
	{                                                                      \
		IN(A, a, op->a);                                               \
		D *out = gkf_at(w, op->d);                                     \
		EACH(VALUE(A, a); out[l] = value)                              \
	}
#define OP2(id, opcode, pattern, D, A, B, value)                               \
	HEAD(id)                                                               \
	{                                                                      \
		IN(A, a, op->a);                                               \
		IN(B, b, op->b);                                               \
		D *out = gkf_at(w, op->d);                                     \
		EACH(VALUE(A, a); VALUE(B, b); out[l] = value)                 \
	}
#define OP3(id, opcode, pattern, D, A, B, C, value)                            \
	HEAD(id)                                                               \
	{                                                                      \
		IN(A, a, op->a);                                               \
		IN(B, b, op->b);                                               \
		IN(C, c, op->c);                                               \
		D *out = gkf_at(w, op->d);                                     \
		EACH(VALUE(A, a); VALUE(B, b); VALUE(C, c); out[l] = value)    \
	}
#define OP4(id, opcode, pattern, R, A, B, C, D, value)                         \
	HEAD(id)                                                               \
	{                                                                      \
		IN(A, a, op->a);                                               \
		IN(B, b, op->b);                                               \
		IN(C, c, op->c);                                               \
		IN(D, d, op->e);                                               \
		R *out = gkf_at(w, op->d);                                     \
		EACH(VALUE(A, a); VALUE(B, b); VALUE(C, c); VALUE(D, d);       \
		     out[l] = value)                                           \
	}
#define OP2P(id, opcode, pattern, T, value)                                    \
	HEAD(id)                                                               \
	{                                                                      \
		IN(T, a, op->a);                                               \
		IN(T, b, op->b);                                               \
		uint32_t chosen = *(const u32 *)gkf_at(w, op->c);              \
		T *out = gkf_at(w, op->d);                                     \
		if (op->flip_c)                                                \
			chosen = ~chosen;                                      \
		EACH(VALUE(T, a); VALUE(T, b); bool p = chosen >> l & 1;       \
		     out[l] = value)                                           \
	}

/*
 * Uses the processor's FMA instruction if it has one, which gives the same bits
 * in less time. The processor is asked at the first such instruction, not when
 * a program starts, because CPUID is slow in a virtual machine.
 */
#if defined(__x86_64__)
static bool has_avx2_and_fma(void)
{
	unsigned a, b, c, d, saved;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_FMA) ||
	    !(c & bit_OSXSAVE))
		return false;
	/* Bits 1 and 2: whether the OS saves the XMM and YMM registers. */
	__asm__("xgetbv" : "=a"(saved), "=d"(d) : "c"(0));
	return (saved & 6) == 6 && __get_cpuid_count(7, 0, &a, &b, &c, &d) &&
	       b & bit_AVX2;
}

static bool can_fuse(void)
{
	static _Atomic char answer; /* 0: not asked yet */
	char known = atomic_load_explicit(&answer, memory_order_relaxed);

	if (!known) {
		known = has_avx2_and_fma() ? 'y' : 'n';
		atomic_store_explicit(&answer, known, memory_order_relaxed);
	}
	return known == 'y';
}

__attribute__((target("avx2,fma"))) static void
fuse_lanes(const f32 *a, const f32 *b, const f32 *c, f32 *out)
{
	LANES_APART
	for (unsigned l = 0; l < GKF_LANES; l++)
		out[l] = nan32(__builtin_fmaf(a[l], b[l], c[l]));
}
#else
static bool can_fuse(void)
{
	return false;
}

static void fuse_lanes(const f32 *a, const f32 *b, const f32 *c, f32 *out)
{
	for (unsigned l = 0; l < GKF_LANES; l++)
		out[l] = nan32(fused32(a[l], b[l], c[l]));
}
#endif

#define FUSE(id, opcode, pattern)                                              \
	HEAD(id)                                                               \
	{                                                                      \
		IN(f32, a, op->a);                                             \
		IN(f32, b, op->b);                                             \
		IN(f32, c, op->c);                                             \
		f32 *out = gkf_at(w, op->d);                                   \
		if (mask == GKF_ALL_LANES && can_fuse())                       \
			fuse_lanes(in_a, in_b, in_c, out);                     \
		else                                                           \
			EACH(VALUE(f32, a); VALUE(f32, b); VALUE(f32, c);      \
			     out[l] = nan32(fused32(a, b, c)))                 \
	}

#define canon_f32(x) nan32(x)
#define canon_f64(x) (x)

/*
 * The compiler must not move arithmetic across fesetround(). It does not,
 * because the operands are in memory that, as far as it knows, fesetround() may
 * change.
 */
#define ROUND2(id, opcode, pattern, T, value)                                  \
	HEAD(id)                                                               \
	{                                                                      \
		IN(T, a, op->a);                                               \
		IN(T, b, op->b);                                               \
		T *out = gkf_at(w, op->d);                                     \
		fesetround(rounding_mode(op->round));                          \
		EACH(VALUE(T, a); VALUE(T, b); out[l] = canon_##T(value))      \
		fesetround(FE_TONEAREST);                                      \
	}
#define ROUND3(id, opcode, pattern, T, value)                                  \
	HEAD(id)                                                               \
	{                                                                      \
		IN(T, a, op->a);                                               \
		IN(T, b, op->b);                                               \
		IN(T, c, op->c);                                               \
		T *out = gkf_at(w, op->d);                                     \
		fesetround(rounding_mode(op->round));                          \
		EACH(VALUE(T, a); VALUE(T, b); VALUE(T, c);                    \
		     out[l] = canon_##T(value))                                \
		fesetround(FE_TONEAREST);                                      \
	}
#define ROUND1(id, opcode, pattern, T, value)                                  \
	HEAD(id)                                                               \
	{                                                                      \
		IN(T, a, op->a);                                               \
		T *out = gkf_at(w, op->d);                                     \
		fesetround(rounding_mode(op->round));                          \
		EACH(VALUE(T, a); out[l] = canon_##T(value))                   \
		fesetround(FE_TONEAREST);                                      \
	}

typedef unsigned __int128 u128;

/*
 * Processes one lane after another; each lane's carry is one bit of w->carry.
 */
#define CARRIED(T, W, writes, third, sum)                                      \
	IN(T, a, op->a);                                                       \
	IN(T, b, op->b);                                                       \
	T *out = gkf_at(w, op->d);                                             \
	uint32_t carried = 0;                                                  \
	for (unsigned l = 0; l < GKF_LANES; l++) {                             \
		if (!(mask >> l & 1))                                          \
			continue;                                              \
		VALUE(T, a);                                                   \
		VALUE(T, b);                                                   \
		third;                                                         \
		W carry = w->carry >> l & 1, all = sum;                        \
		out[l] = (T)all;                                               \
		carried |= (uint32_t)(all >> sizeof(T) * 8 & 1) << l;          \
	}                                                                      \
	if (writes)                                                            \
		w->carry = (w->carry & ~mask) | carried;
#define CARRY2(id, opcode, pattern, T, W, writes, sum)                         \
	HEAD(id)                                                               \
	{                                                                      \
		CARRIED(T, W, writes, , sum)                                   \
	}
#define CARRY3(id, opcode, pattern, T, W, writes, sum)                         \
	HEAD(id)                                                               \
	{                                                                      \
		IN(T, c, op->c);                                               \
		CARRIED(T, W, writes, VALUE(T, c), sum)                        \
	}

void gkf_put_predicate(struct gkf_warp *w, uint32_t place, uint32_t mask,
		       uint32_t value)
{
	u32 *p;

	if (place == GKF_NOWHERE)
		return;
	p = gkf_at(w, place);
	*p = (*p & ~mask) | (value & mask);
}

static uint32_t combine_predicate(uint32_t value, uint32_t with, unsigned how)
{
	if (how == GKF_BOOL_AND)
		return value & with;
	if (how == GKF_BOOL_OR)
		return value | with;
	return how == GKF_BOOL_XOR ? value ^ with : value;
}

/* Stores a comparison and its negation, each combined with predicate c. */
static void put_test(struct gkf_warp *w, const struct gkf_op *op, uint32_t mask,
		     uint32_t value)
{
	uint32_t with = 0;

	if (op->bool_)
		with = *(const u32 *)gkf_at(w, op->c);
	if (op->flip_c)
		with = ~with;
	gkf_put_predicate(w, op->d, mask,
			  combine_predicate(value, with, op->bool_));
	gkf_put_predicate(w, op->e, mask,
			  combine_predicate(~value, with, op->bool_));
}

#define TEST(id, pattern, T, test)                                             \
	HEAD(setp_##id)                                                        \
	{                                                                      \
		IN(T, a, op->a);                                               \
		IN(T, b, op->b);                                               \
		uint32_t value = 0;                                            \
		for (unsigned l = 0; l < GKF_LANES; l++) {                     \
			VALUE(T, a);                                           \
			VALUE(T, b);                                           \
			value |= (uint32_t)(test) << l;                        \
		}                                                              \
		put_test(w, op, mask, value);                                  \
	}

#define PREDICATES(opcode, value)                                              \
	HEAD(opcode##_pred)                                                    \
	{                                                                      \
		uint32_t a = *(const u32 *)gkf_at(w, op->a);                   \
		uint32_t b = *(const u32 *)gkf_at(w, op->b);                   \
		gkf_put_predicate(w, op->d, mask, value);                      \
	}

/*
 * atom.add.f32 keeps subnormals in shared memory but flushes them elsewhere
 * (PTX ISA).
 */
static float atomic_sum(const struct gkf_warp *w, const unsigned char *at,
			float a, float b)
{
	uintptr_t offset = (uintptr_t)at - (uintptr_t)w->block->shared;

	return nan32(offset < w->run->shared_size ? a + b
						  : ftz(ftz(a) + ftz(b)));
}

/*
 * Lanes act one after another, since PTX leaves the order open. The
 * compare-exchange compares bits, not values, so that a NaN in memory does not
 * make it loop forever.
 */
#define ATOM(id, name, types, T, value)                                        \
	HEAD(atom_##id)                                                        \
	{                                                                      \
		IN(T, b, op->b);                                               \
		IN(T, c, op->c);                                               \
		T *out = op->d == GKF_NOWHERE ? NULL : gkf_at(w, op->d);       \
		for (unsigned l = 0; l < GKF_LANES; l++) {                     \
			unsigned char *at;                                     \
			T old, new;                                            \
			if (!(mask >> l & 1))                                  \
				continue;                                      \
			at = gkf_reach(w, op, l);                              \
			if (!at)                                               \
				return;                                        \
			VALUE(T, b);                                           \
			VALUE(T, c);                                           \
			__atomic_load((T *)(void *)at, &old,                   \
				      __ATOMIC_RELAXED);                       \
			do                                                     \
				new = value;                                   \
			while (!__atomic_compare_exchange(                     \
			    (T *)(void *)at, &old, &new, false,                \
			    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));              \
			if (out)                                               \
				out[l] = old;                                  \
		}                                                              \
	}
#define HAND(opcode, pattern, decode, run)
#include "ptx/op.def"
#undef OP1
#undef OP2
#undef OP3
#undef OP4
#undef OP2P
#undef FUSE
#undef ROUND1
#undef ROUND2
#undef ROUND3
#undef CARRY2
#undef CARRY3
#undef TEST
#undef PREDICATES
#undef ATOM
#undef HAND

void gkf_op_not_pred(struct gkf_warp *w, const struct gkf_op *op, uint32_t mask)
{
	gkf_put_predicate(w, op->d, mask, ~*(const u32 *)gkf_at(w, op->a));
}

void gkf_op_mov_pred(struct gkf_warp *w, const struct gkf_op *op, uint32_t mask)
{
	uint32_t value = *(const u32 *)gkf_at(w, op->a);

	gkf_put_predicate(w, op->d, mask, op->flip_c ? ~value : value);
}

#define MOVE(bits)                                                             \
	void gkf_op_mov##bits(struct gkf_warp *w, const struct gkf_op *op,     \
			      uint32_t mask)                                   \
	{                                                                      \
		IN(u##bits, a, op->a);                                         \
		u##bits *out = gkf_at(w, op->d);                               \
		EACH(out[l] = in_a[l])                                         \
	}
MOVE(16)
MOVE(32)
MOVE(64)
#undef MOVE
