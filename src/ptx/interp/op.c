/* op.c - the functions that rows of op.def describe, and the table of them. */
#include "ptx/interp/op.h"
#include "ptx/interp/approximate.h"
#include "ptx/interp/lanes.h"

#include <fenv.h>
#include <string.h>

#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#endif

/* All lanes, or those of the mask; `expression` sees lane l. */
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
	static void op_##id(struct gkf_warp *w, const struct gkf_op *op,       \
			    uint32_t mask)
#define IN(type, name, place) const type *in_##name = gkf_at(w, place)
#define VALUE(type, name)     type name = in_##name[l]

/* Which operands an expression leaves unused is its own affair. */
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
 * The processor's own, where it has one: the same bits in less time. It is the
 * dynamic loader that is asked: the compiler's way has every program look at
 * its processor when it starts, which takes long in a virtual one.
 */
#if defined(CPU_FEATURE_ACTIVE)
static bool can_fuse;

__attribute__((constructor)) static void ask_processor(void)
{
	can_fuse = CPU_FEATURE_ACTIVE(AVX2) && CPU_FEATURE_ACTIVE(FMA);
}

__attribute__((target("avx2,fma"))) static void fuse(const f32 *a, const f32 *b,
						     const f32 *c, f32 *out)
{
	LANES_APART
	for (unsigned l = 0; l < GKF_LANES; l++)
		out[l] = nan32(__builtin_fmaf(a[l], b[l], c[l]));
}
#else
static const bool can_fuse;

static void fuse(const f32 *a, const f32 *b, const f32 *c, f32 *out)
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
		if (mask == GKF_ALL_LANES && can_fuse)                         \
			fuse(in_a, in_b, in_c, out);                           \
		else                                                           \
			EACH(VALUE(f32, a); VALUE(f32, b); VALUE(f32, c);      \
			     out[l] = nan32(fused32(a, b, c)))                 \
	}

static int rounding(uint8_t round)
{
	static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD,
				    FE_UPWARD};

	return modes[round];
}

#define canon_f32(x) nan32(x)
#define canon_f64(x) (x)

/* Around memory that the compiler cannot know, the mode is in force. */
#define ROUND2(id, opcode, pattern, T, value)                                  \
	HEAD(id)                                                               \
	{                                                                      \
		IN(T, a, op->a);                                               \
		IN(T, b, op->b);                                               \
		T *out = gkf_at(w, op->d);                                     \
		fesetround(rounding(op->round));                               \
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
		fesetround(rounding(op->round));                               \
		EACH(VALUE(T, a); VALUE(T, b); VALUE(T, c);                    \
		     out[l] = canon_##T(value))                                \
		fesetround(FE_TONEAREST);                                      \
	}
#define ROUND1(id, opcode, pattern, T, value)                                  \
	HEAD(id)                                                               \
	{                                                                      \
		IN(T, a, op->a);                                               \
		T *out = gkf_at(w, op->d);                                     \
		fesetround(rounding(op->round));                               \
		EACH(VALUE(T, a); out[l] = canon_##T(value))                   \
		fesetround(FE_TONEAREST);                                      \
	}

typedef unsigned __int128 u128;

/* One lane after the other: what it carries is a bit of the warp's. */
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

/* The results of a comparison: itself and its opposite, each combined. */
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

/* Sums in shared memory keep subnormal numbers, others do not (PTX ISA). */
static float atomic_sum(const struct gkf_warp *w, const unsigned char *at,
			float a, float b)
{
	uintptr_t offset = (uintptr_t)at - (uintptr_t)w->block->shared;

	return nan32(offset < w->run->shared_size ? a + b
						  : ftz(ftz(a) + ftz(b)));
}

/*
 * Lanes one after the other, as they would be in some order. Bits are
 * compared, so that a NaN does not wait for itself.
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

/* Letters of signatures. */
#define L_u16 "h"
#define L_s16 "h"
#define L_u32 "w"
#define L_s32 "w"
#define L_u64 "l"
#define L_s64 "l"
#define L_f32 "f"
#define L_f64 "d"

#define ATOMIC "$sem? $scope? $space? $hint* "
const struct gkf_form gkf_forms[] = {
#define ROW(id, opcode, pattern, signature)                                    \
	{#opcode, pattern, signature, op_##id, gkf_decode_signature},
#define OP1(id, opcode, pattern, D, A, value)                                  \
	ROW(id, opcode, pattern, L_##D "=" L_##A)
#define OP2(id, opcode, pattern, D, A, B, value)                               \
	ROW(id, opcode, pattern, L_##D "=" L_##A L_##B)
#define OP3(id, opcode, pattern, D, A, B, C, value)                            \
	ROW(id, opcode, pattern, L_##D "=" L_##A L_##B L_##C)
#define OP4(id, opcode, pattern, R, A, B, C, D, value)                         \
	ROW(id, opcode, pattern, L_##R "=" L_##A L_##B L_##C L_##D)
#define OP2P(id, opcode, pattern, T, value)                                    \
	ROW(id, opcode, pattern, L_##T "=" L_##T L_##T "p")
#define FUSE(id, opcode, pattern) ROW(id, opcode, pattern, "f=fff")
#define ROUND1(id, opcode, pattern, T, value)                                  \
	ROW(id, opcode, pattern, L_##T "=" L_##T)
#define ROUND2(id, opcode, pattern, T, value)                                  \
	ROW(id, opcode, pattern, L_##T "=" L_##T L_##T)
#define ROUND3(id, opcode, pattern, T, value)                                  \
	ROW(id, opcode, pattern, L_##T "=" L_##T L_##T L_##T)
#define CARRY2(id, opcode, pattern, T, W, writes, sum)                         \
	ROW(id, opcode, pattern, L_##T "=" L_##T L_##T)
#define CARRY3(id, opcode, pattern, T, W, writes, sum)                         \
	ROW(id, opcode, pattern, L_##T "=" L_##T L_##T L_##T)
#define PREDICATES(opcode, value) ROW(opcode##_pred, opcode, "pred", "p=pp")
#define TEST(id, pattern, T, test)                                             \
	{"setp", pattern, L_##T L_##T, op_setp_##id, gkf_decode_test},
#define ATOM(id, name, types, T, value)                                        \
	{"atom", ATOMIC name " " types, L_##T, op_atom_##id, gkf_decode_atom}, \
	    {"red", ATOMIC name " " types, L_##T, op_atom_##id,                \
	     gkf_decode_red},
#define HAND(opcode, pattern, decode, run)                                     \
	{#opcode, pattern, NULL, run, decode},
#include "ptx/op.def"
};
const unsigned gkf_form_count = sizeof gkf_forms / sizeof *gkf_forms;

static const struct gkf_form *find_form(const char *opcode, size_t length,
					const char *modifiers,
					struct gkf_modifiers *ret_modifiers)
{
	for (unsigned i = 0; i < gkf_form_count; i++) {
		const struct gkf_form *f = &gkf_forms[i];

		if (strlen(f->opcode) == length &&
		    !memcmp(f->opcode, opcode, length) &&
		    gkf_match(f->pattern, modifiers, ret_modifiers))
			return f;
	}
	return NULL;
}

const struct gkf_form *gkf_form_find(const char *name,
				     struct gkf_modifiers *ret_modifiers)
{
	size_t length = strcspn(name + 1, ".") + 1;
	const struct gkf_form *f =
	    find_form(name, length, name + length, ret_modifiers);
	char ordered[GKF_MODIFIERS_MAX];

	if (!f && gkf_match_order(name + length, ordered))
		f = find_form(name, length, ordered, ret_modifiers);
	return f;
}
