/*
 * op.h - the table of executed forms, and what its functions share.
 */
#ifndef GKF_PTX_OP_H
#define GKF_PTX_OP_H

#include "ptx/interp/program.h"

struct gkf_decoder;
struct gkf_form;

/* Emits what runs an instruction; false: this is not executed. */
typedef bool gkf_decode_fn(struct gkf_decoder *d,
			   const struct gkf_ptx_instruction *i,
			   const struct gkf_form *form,
			   const struct gkf_modifiers *m);

struct gkf_form {
	const char *opcode, *pattern;
	/*
	 * Operands, results before "=": b, h, w, l are 8 to 64 bits, f and d
	 * floating point, p a predicate. NULL: decode knows.
	 */
	const char *signature;
	gkf_op_fn *run;
	gkf_decode_fn *decode;
};

extern const struct gkf_form gkf_forms[];
extern const unsigned gkf_form_count;

/* The form of "add.s32"; NULL: none. */
const struct gkf_form *gkf_form_find(const char *name,
				     struct gkf_modifiers *ret_modifiers);

/* Casts between lanes, by types; NULL: there is none. convert.c. */
gkf_op_fn *gkf_convert_find(enum gkf_ptx_type to, enum gkf_ptx_type from,
			    bool saturate, bool integral);

/* Functions that rows name. */
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

/* Sets the bits of mask of a predicate to those of value; GKF_NOWHERE: none. */
void gkf_put_predicate(struct gkf_warp *w, uint32_t place, uint32_t mask,
		       uint32_t value);

/* Memory, for rows of ATOM; memory.c. The host's place, or NULL and failed. */
unsigned char *gkf_reach(struct gkf_warp *w, const struct gkf_op *op,
			 unsigned lane);

#endif
