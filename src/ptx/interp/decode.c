/* decode.c - kernels out of functions: every instruction by its form. */
#include "ptx/interp/decode.h"
#include "base/err.h"
#include "ptx/interp/special.h"

#include <stdlib.h>
#include <string.h>

#define RECURSION_ROOM (64U << 10) /* bytes a lane, of local memory */
#define CODES_MAX      4096
#define REGISTERS_MAX  64 /* 65536 of a block, by 1024 threads */
#define FRAME_MAX      (1U << (GKF_AREA_SHIFT - 1)) /* bytes */

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
	return &d->function->operands[i->first + index];
}

const struct gkf_ptx_operand *gkf_nested(const struct gkf_decoder *d,
					 const struct gkf_ptx_operand *o,
					 unsigned index)
{
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

bool gkf_decode_plain(struct gkf_decoder *d,
		      const struct gkf_ptx_instruction *i,
		      const struct gkf_form *form,
		      const struct gkf_modifiers *m)
{
	(void)m;
	gkf_emit(d, form->run);
	return !i->count;
}

bool gkf_decode_nothing(struct gkf_decoder *d,
			const struct gkf_ptx_instruction *i,
			const struct gkf_form *form,
			const struct gkf_modifiers *m)
{
	(void)d;
	(void)i;
	(void)form;
	(void)m;
	return true;
}

static uint32_t opposite(struct gkf_decoder *d, uint32_t predicate)
{
	struct gkf_op *op = gkf_emit(d, gkf_op_not_pred);

	op->a = predicate;
	return op->d = gkf_temporary(d, sizeof(uint32_t));
}

/* Operands as the signature says: a result, then up to four values. */
bool gkf_decode_signature(struct gkf_decoder *d,
			  const struct gkf_ptx_instruction *i,
			  const struct gkf_form *form,
			  const struct gkf_modifiers *m)
{
	const char *letters = form->signature + 2;
	uint32_t place[4] = {GKF_TRUE, GKF_TRUE, GKF_TRUE, GKF_NOWHERE};
	struct gkf_op *op;
	bool flip = false, ok;
	uint32_t target;

	if (i->count != strlen(letters) + 1)
		return false;
	target = gkf_target(d, gkf_operand(d, i, 0), form->signature[0], &ok);
	if (!ok || target == GKF_NOWHERE)
		return ok;
	for (unsigned n = 0; letters[n]; n++) {
		const struct gkf_ptx_operand *o = gkf_operand(d, i, n + 1);

		place[n] = gkf_source(d, o, letters[n]);
		if (place[n] == GKF_NOWHERE ||
		    (o->negated && letters[n] != 'p'))
			return false;
		if (o->negated && n == 2)
			flip = true;
		else if (o->negated)
			place[n] = opposite(d, place[n]);
	}
	op = gkf_emit(d, form->run);
	op->d = target;
	op->a = place[0];
	op->b = place[1];
	op->c = place[2];
	op->e = place[3];
	op->flip_c = flip;
	op->round = m->round;
	return true;
}

/* Whom an instruction calls, or which special register it reads; or NULL. */
static const char *telling_operand(struct gkf_decoder *d,
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
					      .operand = telling_operand(d, i),
					      .line = i->line};
}

/* Blocks that belong together would have to run at the same time. */
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
		m->form = gkf_form_find(name, &m->modifiers);
	}
	return m;
}

static void decode_instruction(struct gkf_decoder *d,
			       const struct gkf_ptx_instruction *i)
{
	const struct gkf_memo *memo = memo_of_form(d, i->name);
	const struct gkf_form *form = memo->form;

	d->line = i->line;
	d->guard = GKF_TRUE;
	d->guard_flip = 0;
	if (i->guard != GKF_PTX_NO_GUARD)
		d->guard = d->register_places[i->guard];
	if (i->guard_negated)
		d->guard_flip = UINT32_MAX;
	if (!form || !form->decode(d, i, form, &memo->modifiers))
		refuse_instruction(d, i);
}

/* Registers side by side, the widest first, so that each is aligned. */
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

/* From indices of instructions to those of ops. */
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

static bool kernel(struct gkf_decoder *d, const struct gkf_ptx_function *entry)
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

	if (!k)
		return GK_ERR_NOMEM;
	k->source = entry;
	ok = kernel(&d, entry);
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
 * A guess of what an assembler would need, which lets registers be used again
 * and again. It is never so many that a block of 1024 threads would not start.
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
