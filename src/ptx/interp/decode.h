/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode.h - turns a function's instructions into ops: the decoder's state, and
 * helpers for the decode functions that rows of op.def name.
 */
#ifndef GKF_PTX_DECODE_H
#define GKF_PTX_DECODE_H

#include "ptx/interp/op.h"

struct gkf_constant {
	uint64_t value;
	uint32_t place;
	uint8_t bytes;
};

/* A form found earlier, cached by the address of its name, which is unique. */
struct gkf_memo {
	const char *name;
	const struct gkf_form *form;
	const struct gkf_form_text *text;
	struct gkf_modifiers modifiers;
};
#define GKF_MEMOS 256

struct gkf_decoder {
	struct gkf_ptx_kernel *kernel;
	const struct gkf_ptx_module *module;
	const uint64_t *addresses; /* [i]: address of the module's variable i */
	struct gkf_arena scratch;
	/* The next fields belong to the kernel. */
	size_t pool_size, pool_room;
	struct gkf_constant *constants;
	size_t constant_count, constant_room;
	uint32_t *constant_table; /* hash table by value: index + 1; 0: free */
	size_t constant_slots;    /* a power of two, or 0 */
	size_t code_room;
	struct gkf_memo memos[GKF_MEMOS];
	uint32_t *shared; /* offsets of variables in shared memory */
	/* The next fields belong to the function. */
	const struct gkf_ptx_function *function;
	struct gkf_op *ops;
	size_t op_count, op_room;
	uint32_t *register_places;
	uint32_t frame_size;
	uint32_t *branches; /* ops whose imm is still an instruction's index */
	size_t branch_count, branch_room;
	/* The next fields belong to the instruction. */
	uint32_t guard, guard_flip, line;
	const struct gkf_form_text *form_text;
	bool no_memory;
};

/* Appends an op with the instruction's guard and returns it; never NULL. */
struct gkf_op *gkf_emit(struct gkf_decoder *d, gkf_op_fn *run);

const struct gkf_ptx_operand *gkf_operand(const struct gkf_decoder *d,
					  const struct gkf_ptx_instruction *i,
					  unsigned index);
/* Returns one part of a vector, a list, a pair or an address. */
const struct gkf_ptx_operand *gkf_nested(const struct gkf_decoder *d,
					 const struct gkf_ptx_operand *o,
					 unsigned index);

/*
 * Returns the place of an operand to read, first emitting ops that compute it
 * if needed. `letter` is the type that it must have (struct gkf_form_text).
 * Returns GKF_NOWHERE if it has another type.
 */
uint32_t gkf_source(struct gkf_decoder *d, const struct gkf_ptx_operand *o,
		    char letter);
/*
 * Returns the place of the register that receives a result. For the operand
 * "_", this is GKF_NOWHERE and *ret_ok is true.
 */
uint32_t gkf_target(struct gkf_decoder *d, const struct gkf_ptx_operand *o,
		    char letter, bool *ret_ok);
/* Finds a register of any width; false if the operand is not a register. */
bool gkf_register(const struct gkf_decoder *d, const struct gkf_ptx_operand *o,
		  uint32_t *ret_place, unsigned *ret_bytes);
/*
 * Return the place of a kernel's constant and of a new register in the
 * function's frame. `bytes` is the size per lane. When out of memory, they set
 * d->no_memory.
 */
uint32_t gkf_constant(struct gkf_decoder *d, unsigned bytes, uint64_t value);
uint32_t gkf_temporary(struct gkf_decoder *d, unsigned bytes);

/* Returns 'b', 'h', 'w' or 'l' for 1, 2, 4 or 8 bytes. */
char gkf_letter(unsigned bytes);
/* Returns a type's letter; floating-point types have 'f' and 'd'. */
char gkf_type_letter(enum gkf_ptx_type type);

/*
 * Decodes an address [..] into the place, offset and space of ret_op. Returns
 * false if we cannot execute such an access.
 */
bool gkf_address(struct gkf_decoder *d, const struct gkf_ptx_operand *o,
		 enum gkf_ptx_space space, struct gkf_op *ret_op);

static inline void gkf_aim(struct gkf_op *op, const struct gkf_op *at)
{
	op->a = at->a;
	op->imm = at->imm;
	op->space = at->space;
	op->framed = at->framed;
	op->narrow_address = at->narrow_address;
}

/*
 * Returns the places of a value or of a vector's elements, and sets *ret_wide
 * to the size of their registers in bytes. Returns NULL if the operand does not
 * fit.
 */
const uint32_t *gkf_value_places(struct gkf_decoder *d,
				 const struct gkf_ptx_operand *o,
				 unsigned count, enum gkf_ptx_type type,
				 bool targets, uint8_t *ret_wide);

/* Makes op branch to the instruction with that index. */
void gkf_branch_to(struct gkf_decoder *d, struct gkf_op *op, uint32_t index);

/* Returns the index of a called function's code, which is decoded later. */
uint32_t gkf_callee(struct gkf_decoder *d, const struct gkf_ptx_function *f);

/*
 * Lays out a kernel's shared memory; false if it is too big. Defined in
 * decode_shared.c.
 */
bool gkf_lay_out_shared(struct gkf_decoder *d,
			const struct gkf_ptx_function *entry);

#endif
