/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode_shared.c - lays out the shared variables used by a kernel and the
 * functions it may call. A launch's dynamic shared memory follows them.
 */
#include "ptx/interp/decode.h"

#define SHARED_MAX (1U << 24)

static bool place_shared(struct gkf_decoder *d, uint32_t index)
{
	const struct gkf_ptx_variable *v = &d->module->variables[index];
	struct gkf_ptx_kernel *k = d->kernel;
	uint64_t at = ((uint64_t)k->static_shared + v->align - 1) &
		      ~(uint64_t)(v->align - 1);

	if (at + v->size > SHARED_MAX)
		return false;
	d->shared[index] = (uint32_t)at;
	k->static_shared = (uint32_t)(at + v->size);
	return true;
}

/*
 * Handles an operand: gives a variable seen for the first time its offset, or
 * marks a function as called.
 */
static bool look_at_operand(struct gkf_decoder *d,
			    const struct gkf_ptx_operand *o, bool *placed,
			    bool *called, uint32_t *align)
{
	const struct gkf_ptx_variable *v;

	if (o->kind == GKF_PTX_OP_FUNCTION)
		called[o->index] = true;
	if (o->kind != GKF_PTX_OP_VARIABLE || placed[o->index])
		return true;
	v = &d->module->variables[o->index];
	if (v->space != GKF_PTX_SHARED && v->space != GKF_PTX_CONST)
		return true;
	placed[o->index] = true;
	if (v->space == GKF_PTX_CONST) {
		d->kernel->constants += (uint32_t)v->size;
		return true;
	}
	if (v->size)
		return place_shared(d, o->index);
	if (v->align > *align)
		*align = v->align;
	return true;
}

bool gkf_lay_out_shared(struct gkf_decoder *d,
			const struct gkf_ptx_function *entry)
{
	const struct gkf_ptx_module *m = d->module;
	bool *placed = gkf_arena_get(&d->scratch, m->variable_count + 1);
	bool *called = gkf_arena_get(&d->scratch, m->function_count + 1);
	bool *seen = gkf_arena_get(&d->scratch, m->function_count + 1);
	uint32_t align = 16;
	bool more = true;

	if (!placed || !called || !seen)
		return false;
	called[entry - m->functions] = true;
	while (more) {
		more = false;
		for (uint32_t i = 0; i < m->function_count; i++) {
			const struct gkf_ptx_function *f = &m->functions[i];

			if (!called[i] || seen[i])
				continue;
			seen[i] = more = true;
			for (uint32_t n = 0; n < f->operand_count; n++)
				if (!look_at_operand(d, &f->operands[n], placed,
						     called, &align))
					return false;
		}
	}
	d->kernel->dynamic_at =
	    (d->kernel->static_shared + align - 1) & ~(align - 1);
	for (uint32_t i = 0; i < m->variable_count; i++)
		if (placed[i] && m->variables[i].space == GKF_PTX_SHARED &&
		    !m->variables[i].size)
			d->shared[i] = d->kernel->dynamic_at;
	return true;
}
