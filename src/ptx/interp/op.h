/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op.h - the tables of executed forms, and helpers that their functions share.
 */
#ifndef GKF_PTX_OP_H
#define GKF_PTX_OP_H

#include "ptx/interp/program.h"

struct gkf_decoder;
struct gkf_form;

/* Emits the ops of an instruction; false if we cannot execute it. */
typedef bool gkf_decode_fn(struct gkf_decoder *d,
			   const struct gkf_ptx_instruction *i,
			   const struct gkf_form *form,
			   const struct gkf_modifiers *m);

/*
 * The words of a form. They are arrays, not pointers, because the loader would
 * have to relocate pointers in every process.
 */
struct gkf_form_text {
	char opcode[16];
	/*
	 * One letter per operand, with results before "=": b, h, w, l are
	 * integers of 8, 16, 32, 64 bits; f, d floating point; p a predicate.
	 * Empty: decode checks the operands itself.
	 */
	char signature[8];
	char pattern[72];
};

struct gkf_form {
	gkf_op_fn *run;
	gkf_decode_fn *decode;
};

/*
 * Finds the form of an instruction such as "add.s32", and its words; NULL:
 * none. Defined in form.c.
 */
const struct gkf_form *gkf_form_find(const char *name,
				     const struct gkf_form_text **ret_text,
				     struct gkf_modifiers *ret_modifiers);

/* Returns the op that converts between two types, or NULL (convert.c). */
gkf_op_fn *gkf_convert_find(enum gkf_ptx_type to, enum gkf_ptx_type from,
			    bool saturate, bool integral);
/*
 * Returns the op that extends or truncates integers; sizes are in bytes. Never
 * NULL.
 */
gkf_op_fn *gkf_bits_cast(unsigned to, unsigned from, bool is_signed);

/* The functions that the rows of op.def describe (op.c). */
#define OP1(id, ...)            gkf_op_fn gkf_op_##id;
#define OP2(id, ...)            OP1(id)
#define OP3(id, ...)            OP1(id)
#define OP4(id, ...)            OP1(id)
#define OP2P(id, ...)           OP1(id)
#define FUSE(id, ...)           OP1(id)
#define ROUND1(id, ...)         OP1(id)
#define ROUND2(id, ...)         OP1(id)
#define ROUND3(id, ...)         OP1(id)
#define CARRY2(id, ...)         OP1(id)
#define CARRY3(id, ...)         OP1(id)
#define TEST(id, ...)           OP1(setp_##id)
#define PREDICATES(opcode, ...) OP1(opcode##_pred)
#define ATOM(id, ...)           OP1(atom_##id)
#define HAND(opcode, ...)
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

/* The functions that the rows of op.def name. */
gkf_decode_fn gkf_decode_plain, gkf_decode_nothing, gkf_decode_signature,
    gkf_decode_test, gkf_decode_atom, gkf_decode_red, gkf_decode_mov_pred,
    gkf_decode_not_pred, gkf_decode_mov, gkf_decode_cvt, gkf_decode_cvta,
    gkf_decode_cvta_to, gkf_decode_isspacep, gkf_decode_ld, gkf_decode_st,
    gkf_decode_fence, gkf_decode_bra, gkf_decode_call, gkf_decode_bar,
    gkf_decode_warp, gkf_decode_nanosleep, gkf_decode_lanes, gkf_decode_bar_red,
    gkf_decode_active, gkf_decode_policy, gkf_decode_ldmatrix,
    gkf_decode_stmatrix, gkf_decode_atom_vector;
gkf_op_fn gkf_op_not_pred, gkf_op_mov_pred, gkf_op_mov16, gkf_op_mov32,
    gkf_op_mov64, gkf_op_cvta, gkf_op_cvta_to, gkf_op_isspacep, gkf_op_ld,
    gkf_op_ld_param, gkf_op_st, gkf_op_fence, gkf_op_bra, gkf_op_ret,
    gkf_op_exit, gkf_op_trap, gkf_op_assert, gkf_op_call, gkf_op_bar_sync,
    gkf_op_bar_arrive, gkf_op_warp_sync, gkf_op_nanosleep, gkf_op_spin,
    gkf_op_set_condition, gkf_op_local_address, gkf_op_clock, gkf_op_pack,
    gkf_op_unpack, gkf_op_shuffle, gkf_op_bar_red, gkf_op_bar_result,
    gkf_op_vote, gkf_op_active, gkf_op_match, gkf_op_reduce, gkf_op_ldmatrix,
    gkf_op_stmatrix;

/*
 * Sets a predicate to `value` in the lanes of `mask`; does nothing if `place`
 * is GKF_NOWHERE.
 */
void gkf_put_predicate(struct gkf_warp *w, uint32_t place, uint32_t mask,
		       uint32_t value);

/*
 * Returns the host address of a lane's memory operand, for ATOM rows
 * (memory.c). Returns NULL if the access is illegal; the launch has failed
 * then.
 */
unsigned char *gkf_reach(struct gkf_warp *w, const struct gkf_op *op,
			 unsigned lane);

#endif
