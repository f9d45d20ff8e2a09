/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode.c - decodes an entry function, and all functions that it calls, into a
 * kernel.
 */
#include "ptx/interp/decode.h"
#include "base/assert.h"
#include "base/err.h"
#include "ptx/interp/special.h"

#include <stdlib.h>
#include <string.h>

/* bytes of local memory per lane for recursive calls */
#define RECURSION_ROOM (64U << 10)
#define REGISTERS_MAX  64 /* 65536 registers per block / 1024 threads */
#define FRAME_MAX      (1U << (GKF_AREA_SHIFT - 1)) /* bytes */

/*
 * Returns the name of the function that a refused instruction calls or of the
 * special register that it reads, or NULL.
 */
static const char *find_telling_operand(struct gkf_decoder *d,
					const struct gkf_ptx_instruction *i)
{
	const struct gkf_ptx_operand *o;

	for (unsigned n = 0; n < i->count; n++) {
		o = gkf_operand(d, i, n);
		if (o->kind == GKF_PTX_OP_FUNCTION)
			return d->module->functions[o->index].name;
		if (o->kind == GKF_PTX_OP_SPECIAL)
			return o->name;
		if (o->kind == GKF_PTX_OP_REG && !strncmp(i->name, "call", 4))
			return d->function->registers[o->index].name;
	}
	return NULL;
}

static void refuse_instruction(struct gkf_decoder *d,
			       const struct gkf_ptx_instruction *i)
{
	struct gkf_ptx_refused *r = &d->kernel->refused;

	if (!r->name)
		*r = (struct gkf_ptx_refused){.function = d->function->name,
					      .name = i->name,
					      .operand =
						  find_telling_operand(d, i),
					      .line = i->line};
}

/*
 * The blocks of a cluster would have to run concurrently; ours run in sequence.
 */
static void refuse_cluster(struct gkf_decoder *d,
			   const struct gkf_ptx_function *entry)
{
	const uint32_t *c = entry->cluster;

	if ((uint64_t)c[0] * c[1] * c[2] > 1)
		d->kernel->refused =
		    (struct gkf_ptx_refused){.function = entry->name,
					     .name = ".reqnctapercluster",
					     .line = entry->line};
}

static const struct gkf_memo *memo_of_form(struct gkf_decoder *d,
					   const char *name)
{
	struct gkf_memo *m = &d->memos[((uintptr_t)name >> 4) % GKF_MEMOS];

	if (m->name != name) {
		m->name = name;
		m->form = gkf_form_find(name, &m->text, &m->modifiers);
	}
	return m;
}

static void decode_instruction(struct gkf_decoder *d,
			       const struct gkf_ptx_instruction *i)
{
	const struct gkf_memo *memo = memo_of_form(d, i->name);
	const struct gkf_form *form = memo->form;

	d->line = i->line;
	d->form_text = memo->text;
	d->guard = GKF_TRUE;
	d->guard_flip = 0;
	if (i->guard != GKF_PTX_NO_GUARD)
		d->guard = d->register_places[i->guard];
	if (i->guard_negated)
		d->guard_flip = UINT32_MAX;
	if (!form || !form->decode(d, i, form, &memo->modifiers))
		refuse_instruction(d, i);
}

/*
 * Lays out a function's registers in its frame, widest first, so that each is
 * aligned.
 */
static bool place_registers(struct gkf_decoder *d)
{
	const struct gkf_ptx_function *f = d->function;

	d->frame_size = 0;
	d->register_places =
	    gkf_arena_get(&d->scratch, f->register_count * sizeof(uint32_t));
	if (!d->register_places)
		return false;
	for (unsigned bytes = 16; bytes; bytes /= 2)
		for (uint32_t r = 0; r < f->register_count; r++) {
			enum gkf_ptx_type type =
			    (enum gkf_ptx_type)f->registers[r].type;

			if (type == GKF_PTX_T_pred ||
			    gkf_ptx_types[type].bytes != bytes)
				continue;
			d->register_places[r] = d->frame_size;
			d->frame_size += bytes * GKF_LANES;
			if (d->frame_size >= FRAME_MAX)
				return false;
		}
	for (uint32_t r = 0; r < f->register_count; r++)
		if (f->registers[r].type == GKF_PTX_T_pred) {
			d->register_places[r] = d->frame_size;
			d->frame_size += sizeof(uint32_t);
			if (d->frame_size >= FRAME_MAX)
				return false;
		}
	return true;
}

/* Turns branch targets from indices of instructions into indices of ops. */
static void link_branches(struct gkf_decoder *d, const uint32_t *first_op)
{
	for (size_t i = 0; i < d->branch_count; i++) {
		struct gkf_op *op = &d->ops[d->branches[i]];

		op->imm = first_op[op->imm];
	}
}

static bool decode_callee(struct gkf_decoder *d, uint32_t index)
{
	const struct gkf_ptx_function *f = d->kernel->codes[index].source;
	struct gkf_code *code;
	uint32_t *first_op =
	    gkf_arena_get(&d->scratch, (f->code_count + 1) * sizeof *first_op);

	d->function = f;
	d->ops = NULL;
	d->op_count = d->op_room = 0;
	d->branches = NULL;
	d->branch_count = d->branch_room = 0;
	if (!first_op || !place_registers(d))
		return false;
	for (uint32_t i = 0; i < f->code_count && !d->no_memory; i++) {
		first_op[i] = (uint32_t)d->op_count;
		decode_instruction(d, &f->code[i]);
	}
	if (d->no_memory)
		return false;
	link_branches(d, first_op);
	code = &d->kernel->codes[index];
	code->ops = d->ops;
	code->count = (uint32_t)d->op_count;
	code->frame_size = (d->frame_size + 63) & ~63U;
	if (code->frame_size > d->kernel->max_frame)
		d->kernel->max_frame = code->frame_size;
	return true;
}

static bool decode_kernel(struct gkf_decoder *d,
			  const struct gkf_ptx_function *entry)
{
	struct gkf_ptx_kernel *k = d->kernel;

	d->shared = gkf_arena_get(&d->scratch, (d->module->variable_count + 1) *
						   sizeof *d->shared);
	refuse_cluster(d, entry);
	gkf_constant(d, 4, UINT32_MAX); /* GKF_TRUE */
	gkf_callee(d, entry);
	if (!d->shared || d->no_memory || !gkf_lay_out_shared(d, entry))
		return false;
	for (uint32_t i = 0; i < k->code_count; i++) {
		if (!decode_callee(d, i))
			return false;
		k->stack += k->codes[i].local_size;
	}
	k->block_specials = k->specials & gkf_specials_of_blocks();
	if (k->recursive)
		k->stack += RECURSION_ROOM;
	k->stack = (k->stack + 63) & ~63U;
	return true;
}

int gkf_ptx_kernel_new(const struct gkf_ptx_module *module,
		       const uint64_t *addresses,
		       const struct gkf_ptx_function *entry,
		       struct gkf_ptx_kernel **ret_kernel)
{
	struct gkf_ptx_kernel *k = calloc(1, sizeof *k);
	struct gkf_decoder d = {
	    .kernel = k, .module = module, .addresses = addresses};
	bool ok;

	GK_ASSERT(entry >= module->functions &&
		  entry < module->functions + module->function_count);
	if (!k)
		return GK_ERR_NOMEM;
	k->source = entry;
	ok = decode_kernel(&d, entry);
	gkf_arena_free(&d.scratch);
	if (!ok) {
		gkf_ptx_kernel_free(k);
		return GK_ERR_NOMEM;
	}
	*ret_kernel = k;
	return 0;
}

void gkf_ptx_kernel_free(struct gkf_ptx_kernel *k)
{
	if (k) {
		gkf_arena_free(&k->arena);
		free(k->pool);
	}
	free(k);
}

bool gkf_ptx_kernel_refused(const struct gkf_ptx_kernel *k,
			    struct gkf_ptx_refusal *ret_refusal)
{
	if (k->refused.name)
		*ret_refusal = (struct gkf_ptx_refusal){
		    k->refused.function, k->refused.name, k->refused.operand,
		    k->refused.line};
	return k->refused.name != NULL;
}

uint32_t gkf_ptx_kernel_shared(const struct gkf_ptx_kernel *k)
{
	return k->static_shared;
}

uint32_t gkf_ptx_kernel_constants(const struct gkf_ptx_kernel *k)
{
	return k->constants;
}

uint32_t gkf_ptx_kernel_local(const struct gkf_ptx_kernel *k)
{
	return k->stack;
}

/*
 * Estimates the registers per thread after register allocation: half the number
 * of virtual registers, plus 16. At most REGISTERS_MAX, so that a block of 1024
 * threads can always start.
 */
uint32_t gkf_ptx_kernel_registers(const struct gkf_ptx_kernel *k)
{
	uint32_t most = k->codes[0].frame_size / (GKF_LANES * 4) / 2;

	most = (most + 16 + 7) & ~7U;
	if (most > REGISTERS_MAX)
		most = REGISTERS_MAX;
	if (k->source->maxnreg && most > k->source->maxnreg)
		most = k->source->maxnreg;
	return most;
}
