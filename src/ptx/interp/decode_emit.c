/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode_emit.c - appends ops, branches and called functions; reads operands.
 */
#include "base/assert.h"
#include "ptx/interp/decode.h"

#define CODES_MAX 4096

static const struct gkf_op nothing;

struct gkf_op *gkf_emit(struct gkf_decoder *d, gkf_op_fn *run)
{
	static _Thread_local struct gkf_op lost;
	struct gkf_op *ops = gkf_arena_grow(
	    &d->kernel->arena, d->ops, d->op_count, &d->op_room, sizeof *ops);
	struct gkf_op *op;

	if (!ops) {
		d->no_memory = true;
		lost = nothing;
		return &lost;
	}
	d->ops = ops;
	op = &ops[d->op_count++];
	*op = (struct gkf_op){.run = run,
			      .guard = d->guard,
			      .guard_flip = d->guard_flip,
			      .line = d->line,
			      .count = 1,
			      .d = GKF_NOWHERE,
			      .e = GKF_NOWHERE,
			      .a = GKF_TRUE,
			      .b = GKF_TRUE,
			      .c = GKF_TRUE,
			      .window = (uint8_t)(d->op_count % GKF_WINDOWS)};
	return op;
}

const struct gkf_ptx_operand *gkf_operand(const struct gkf_decoder *d,
					  const struct gkf_ptx_instruction *i,
					  unsigned index)
{
	GK_ASSERT(index < i->count);
	return &d->function->operands[i->first + index];
}

const struct gkf_ptx_operand *gkf_nested(const struct gkf_decoder *d,
					 const struct gkf_ptx_operand *o,
					 unsigned index)
{
	GK_ASSERT(index < o->count);
	return &d->function->operands[o->index + index];
}

void gkf_branch_to(struct gkf_decoder *d, struct gkf_op *op, uint32_t index)
{
	uint32_t *grown =
	    gkf_arena_grow(&d->scratch, d->branches, d->branch_count,
			   &d->branch_room, sizeof *grown);

	if (!grown) {
		d->no_memory = true;
		return;
	}
	d->branches = grown;
	d->branches[d->branch_count++] = (uint32_t)(op - d->ops);
	op->imm = index;
}

uint32_t gkf_callee(struct gkf_decoder *d, const struct gkf_ptx_function *f)
{
	struct gkf_ptx_kernel *k = d->kernel;
	struct gkf_code *grown;

	for (uint32_t i = 0; i < k->code_count; i++)
		if (k->codes[i].source == f) {
			k->recursive |= f == d->function || k->codes[i].count;
			return i;
		}
	grown = gkf_arena_grow(&k->arena, k->codes, k->code_count,
			       &d->code_room, sizeof *grown);
	if (!grown || k->code_count == CODES_MAX) {
		d->no_memory = true;
		return 0;
	}
	k->codes = grown;
	k->codes[k->code_count] = (struct gkf_code){
	    .source = f, .local_size = (f->local_size + 15) & ~15U};
	return k->code_count++;
}
