/*
 * decode.h - turning a function's instructions into ops: what the functions
 * that rows of op.def name work with.
 */
#ifndef GKF_PTX_DECODE_H
#define GKF_PTX_DECODE_H

#include "ptx/interp/op.h"

struct gkf_constant {
	uint64_t value;
	uint32_t place;
	uint8_t bytes;
};

/* The form of a name: equal names are one pointer. */
struct gkf_memo {
	const char *name;
	const struct gkf_form *form;
	struct gkf_modifiers modifiers;
};
#define GKF_MEMOS 256

struct gkf_decoder {
	struct gkf_ptx_kernel *kernel;
	const struct gkf_ptx_module *module;
	const uint64_t *addresses;
	struct gkf_arena scratch;
	/* The next fields belong to the kernel. */
	size_t pool_size, pool_room;
	struct gkf_constant *constants;
	size_t constant_count, constant_room;
	uint32_t *constant_table; /* by value: index + 1; 0: free */
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
	uint32_t *branches; /* ops whose imm is an instruction's index */
	size_t branch_count, branch_room;
	/* The next fields belong to the instruction. */
	uint32_t guard, guard_flip, line;
	bool no_memory;
};

/* A new op with the instruction's guard; never NULL. */
struct gkf_op *gkf_emit(struct gkf_decoder *d, gkf_op_fn *run);

const struct gkf_ptx_operand *gkf_operand(const struct gkf_decoder *d,
					  const struct gkf_ptx_instruction *i,
					  unsigned index);
/* The parts of a vector, a list, a pair or an address. */
const struct gkf_ptx_operand *gkf_nested(const struct gkf_decoder *d,
					 const struct gkf_ptx_operand *o,
					 unsigned index);

/*
 * The place of an operand by its letter; GKF_NOWHERE: it does not fit. What
 * has to be computed first is emitted.
 */
uint32_t gkf_source(struct gkf_decoder *d, const struct gkf_ptx_operand *o,
		    char letter);
/* A register, or GKF_NOWHERE with *ret_ok for "_". */
uint32_t gkf_target(struct gkf_decoder *d, const struct gkf_ptx_operand *o,
		    char letter, bool *ret_ok);
/* A register of any width. */
bool gkf_register(const struct gkf_decoder *d, const struct gkf_ptx_operand *o,
		  uint32_t *ret_place, unsigned *ret_bytes);
/*
 * The place of a constant of the kernel, and of new memory in the function's
 * frame, of so many bytes a lane. Without memory they set d->no_memory.
 */
uint32_t gkf_constant(struct gkf_decoder *d, unsigned bytes, uint64_t value);
uint32_t gkf_temporary(struct gkf_decoder *d, unsigned bytes);

/* "b", "h", "w", "l" for that many bytes. */
char gkf_letter(unsigned bytes);
/* The letter of a type: "f" and "d" for floating point. */
char gkf_type_letter(enum gkf_ptx_type type);

/* Casts between registers of bits, from and to so many bytes. */
gkf_op_fn *gkf_bits_cast(unsigned to, unsigned from, bool is_signed);

/* The address of [..] in op: place, offset, space. False: not executed. */
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

/* Places of a value or a vector, and the bytes of its registers; NULL: not. */
const uint32_t *gkf_value_places(struct gkf_decoder *d,
				 const struct gkf_ptx_operand *o,
				 unsigned count, enum gkf_ptx_type type,
				 bool targets, uint8_t *ret_wide);

/* A branch to an instruction. */
void gkf_branch_to(struct gkf_decoder *d, struct gkf_op *op, uint32_t index);

/* The code of a function that is called; decoded later. */
uint32_t gkf_callee(struct gkf_decoder *d, const struct gkf_ptx_function *f);

/* Lays out the shared memory of a kernel; decode_shared.c. */
bool gkf_lay_out_shared(struct gkf_decoder *d,
			const struct gkf_ptx_function *entry);

#endif
