/* SPDX-License-Identifier: Apache-2.0 */
/* decode_control.c - decodes branches, calls, barriers and sleeps. */
#include "ptx/interp/decode.h"

#include <string.h>

bool gkf_decode_bra(struct gkf_decoder *d, const struct gkf_ptx_instruction *i,
		    const struct gkf_form *form, const struct gkf_modifiers *m)
{
	(void)m;
	if (i->count != 1 || gkf_operand(d, i, 0)->kind != GKF_PTX_OP_LABEL)
		return false;
	gkf_branch_to(d, gkf_emit(d, form->run), gkf_operand(d, i, 0)->index);
	return true;
}

/*
 * Lists the copies from a call's operands to the callee's parameters or, if
 * `back` is set, from the callee's results to the operands. Returns NULL if
 * they do not match or when out of memory.
 */
static const struct gkf_copy *list_copies(struct gkf_decoder *d,
					  const struct gkf_ptx_operand *given,
					  const uint32_t *wanted,
					  uint32_t count, bool back)
{
	struct gkf_copy *list =
	    gkf_arena_get(&d->kernel->arena, (count + 1) * sizeof *list);

	if (!list) {
		d->no_memory = true;
		return NULL;
	}
	if ((given ? given->count : 0) != count)
		return NULL;
	for (uint32_t n = 0; n < count; n++) {
		const struct gkf_ptx_operand *o = gkf_nested(d, given, n);
		const struct gkf_ptx_variable *from, *to;

		if (o->kind != GKF_PTX_OP_VARIABLE || o->value)
			return NULL;
		from = &d->module->variables[o->index];
		to = &d->module->variables[wanted[n]];
		if (from->space != GKF_PTX_PARAM || from->is_kernel_param ||
		    to->space != GKF_PTX_PARAM || from->size != to->size)
			return NULL;
		list[n] = (struct gkf_copy){
		    .from = (uint32_t)(back ? to : from)->offset,
		    .to = (uint32_t)(back ? from : to)->offset,
		    .size = (uint32_t)from->size};
	}
	return list;
}

/*
 * These functions have no body in PTX; we execute them. gpukit_spin_us(.param
 * .b32 us) keeps the device busy for that many microseconds. CUDA's device
 * runtime declares the others: cudaGraphSetConditional(.param .b64 handle,
 * .param .b32 value) and __assertfail(message, file, line, function, bytes per
 * character).
 */
static const struct {
	const char *name;
	uint32_t params, size[5]; /* bytes */
	gkf_op_fn *fn;
} built_ins[] = {
    {"gpukit_spin_us", 1, {4}, gkf_op_spin},
    {"cudaGraphSetConditional", 2, {8, 4}, gkf_op_set_condition},
    {"__assertfail", 5, {8, 8, 4, 8, 8}, gkf_op_assert},
};

static bool is_built_in(const struct gkf_decoder *d,
			const struct gkf_ptx_function *f, unsigned b)
{
	if (strcmp(f->name, built_ins[b].name) ||
	    f->param_count != built_ins[b].params)
		return false;
	for (uint32_t i = 0; i < f->param_count; i++)
		if (d->module->variables[f->params[i]].size !=
		    built_ins[b].size[i])
			return false;
	return true;
}

static bool decode_built_in(struct gkf_decoder *d,
			    const struct gkf_ptx_function *f,
			    const struct gkf_ptx_operand *given)
{
	const struct gkf_copy *in;
	struct gkf_op *op;
	unsigned b = 0, count = sizeof built_ins / sizeof *built_ins;

	while (b < count && !is_built_in(d, f, b))
		b++;
	if (b == count)
		return false;
	in = list_copies(d, given, f->params, f->param_count, false);
	if (!in)
		return false;
	op = gkf_emit(d, built_ins[b].fn);
	op->imm =
	    (int64_t)(in[0].from | (uint64_t)in[f->param_count - 1].from << 32);
	return true;
}

/* Decodes call (results), function, (arguments); both lists are optional. */
bool gkf_decode_call(struct gkf_decoder *d, const struct gkf_ptx_instruction *i,
		     const struct gkf_form *form, const struct gkf_modifiers *m)
{
	const struct gkf_ptx_operand *out = NULL, *in = NULL, *o;
	const struct gkf_ptx_function *f;
	struct gkf_call *call;
	struct gkf_op *op;
	unsigned n = 0;

	(void)form;
	(void)m;
	if (n < i->count && gkf_operand(d, i, n)->kind == GKF_PTX_OP_LIST)
		out = gkf_operand(d, i, n++);
	if (n < i->count && gkf_operand(d, i, n)->kind == GKF_PTX_OP_SINK)
		n++;
	if (n >= i->count)
		return false;
	o = gkf_operand(d, i, n++);
	if (n < i->count && gkf_operand(d, i, n)->kind == GKF_PTX_OP_LIST)
		in = gkf_operand(d, i, n++);
	if (o->kind != GKF_PTX_OP_FUNCTION || n != i->count)
		return false;
	f = &d->module->functions[o->index];
	if (!f->has_body)
		return decode_built_in(d, f, in);
	call = gkf_arena_get(&d->kernel->arena, sizeof *call);
	if (!call) {
		d->no_memory = true;
		return true;
	}
	call->in = list_copies(d, in, f->params, f->param_count, false);
	call->out = list_copies(d, out, f->returns, f->return_count, true);
	if (!call->in || !call->out || f->is_entry)
		return false;
	call->in_count = f->param_count;
	call->out_count = f->return_count;
	call->code = gkf_callee(d, f);
	op = gkf_emit(d, gkf_op_call);
	op->call = call;
	return true;
}

/* Decodes bar barrier, threads. The thread count is optional; 0 means all. */
bool gkf_decode_bar(struct gkf_decoder *d, const struct gkf_ptx_instruction *i,
		    const struct gkf_form *form, const struct gkf_modifiers *m)
{
	uint32_t a, b;
	struct gkf_op *op;

	(void)m;
	if (i->count < 1 || i->count > 2 ||
	    (form->run == gkf_op_bar_arrive && i->count != 2))
		return false;
	a = gkf_source(d, gkf_operand(d, i, 0), 'w');
	b = i->count > 1 ? gkf_source(d, gkf_operand(d, i, 1), 'w')
			 : gkf_constant(d, 4, 0);
	if (a == GKF_NOWHERE || b == GKF_NOWHERE)
		return false;
	op = gkf_emit(d, form->run);
	op->a = a;
	op->b = b;
	return true;
}

/*
 * Decodes bar.red result, barrier, threads, predicate. The thread count is
 * optional.
 */
bool gkf_decode_bar_red(struct gkf_decoder *d,
			const struct gkf_ptx_instruction *i,
			const struct gkf_form *form,
			const struct gkf_modifiers *m)
{
	uint32_t target, a, b, c;
	const struct gkf_ptx_operand *said;
	struct gkf_op *op;
	bool ok;

	if (i->count < 3 || i->count > 4)
		return false;
	said = gkf_operand(d, i, i->count - 1U);
	target = gkf_target(d, gkf_operand(d, i, 0), m->bool_ ? 'p' : 'w', &ok);
	a = gkf_source(d, gkf_operand(d, i, 1), 'w');
	b = i->count > 3 ? gkf_source(d, gkf_operand(d, i, 2), 'w')
			 : gkf_constant(d, 4, 0);
	c = gkf_source(d, said, 'p');
	if (!ok || target == GKF_NOWHERE || a == GKF_NOWHERE ||
	    b == GKF_NOWHERE || c == GKF_NOWHERE)
		return false;
	op = gkf_emit(d, form->run);
	op->a = a;
	op->b = b;
	op->c = c;
	op->flip_c = said->negated;
	op = gkf_emit(d, gkf_op_bar_result);
	op->a = a;
	op->d = target;
	op->bool_ = m->bool_;
	return true;
}

bool gkf_decode_nanosleep(struct gkf_decoder *d,
			  const struct gkf_ptx_instruction *i,
			  const struct gkf_form *form,
			  const struct gkf_modifiers *m)
{
	uint32_t a = i->count == 1 ? gkf_source(d, gkf_operand(d, i, 0), 'w')
				   : GKF_NOWHERE;

	(void)m;
	if (a == GKF_NOWHERE)
		return false;
	gkf_emit(d, form->run)->a = a;
	return true;
}
