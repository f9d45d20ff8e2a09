/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.c - links modules: an extern name of one module refers to the definition
 * in another. The linked module shares its parts' instructions and has copies
 * of their operands with new indices.
 */
#include "base/assert.h"
#include "base/err.h"
#include "ptx/front/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A module being linked, and tables that map its indices of variables and
 * functions to indices in the linked module.
 */
struct part {
	const struct gkf_ptx_module *m;
	uint32_t *variables, *functions;
};

struct linking {
	struct gkf_ptx_module *all;
	struct part *parts;
	unsigned count;
	struct gkf_ptx_variable *variables;
	struct gkf_ptx_function *functions;
};

static bool is_shared_name(uint8_t linkage)
{
	return linkage != GKF_PTX_INTERNAL && linkage != GKF_PTX_EXTERN;
}

static bool is_open(const struct gkf_ptx_variable *v)
{
	return v->linkage != GKF_PTX_INTERNAL && v->space != GKF_PTX_SHARED &&
	       v->space != GKF_PTX_PARAM;
}

/*
 * Returns the index of the variable that defines a name, preferring one that is
 * not weak; UINT32_MAX if there is none.
 */
static uint32_t defined_variable(const struct linking *l, const char *name,
				 uint32_t count)
{
	uint32_t weak = UINT32_MAX;

	for (uint32_t i = 0; i < count; i++) {
		const struct gkf_ptx_variable *v = &l->variables[i];

		if (!is_open(v) || !is_shared_name(v->linkage) ||
		    strcmp(v->name, name))
			continue;
		if (v->linkage != GKF_PTX_WEAK)
			return i;
		if (weak == UINT32_MAX)
			weak = i;
	}
	return weak;
}

static uint32_t defined_function(const struct linking *l, const char *name,
				 uint32_t count)
{
	uint32_t weak = UINT32_MAX;

	for (uint32_t i = 0; i < count; i++) {
		const struct gkf_ptx_function *f = &l->functions[i];

		if (!f->has_body || !is_shared_name(f->linkage) ||
		    strcmp(f->name, name))
			continue;
		if (f->linkage != GKF_PTX_WEAK)
			return i;
		if (weak == UINT32_MAX)
			weak = i;
	}
	return weak;
}

/* Copies the variables and functions of all parts, extern ones too. */
static void gather_symbols(struct linking *l)
{
	uint32_t variables = 0, functions = 0;

	for (unsigned k = 0; k < l->count; k++) {
		struct part *p = &l->parts[k];

		for (uint32_t i = 0; i < p->m->variable_count; i++) {
			p->variables[i] = variables;
			l->variables[variables++] = p->m->variables[i];
		}
		for (uint32_t i = 0; i < p->m->function_count; i++) {
			p->functions[i] = functions;
			l->functions[functions++] = p->m->functions[i];
		}
	}
	l->all->variable_count = variables;
	l->all->function_count = functions;
}

/* Maps all variables and functions of the same name to one definition. */
static void settle_names(const struct linking *l)
{
	for (unsigned k = 0; k < l->count; k++) {
		const struct part *p = &l->parts[k];

		for (uint32_t i = 0; i < p->m->variable_count; i++) {
			const struct gkf_ptx_variable *v = &p->m->variables[i];
			uint32_t at = UINT32_MAX;

			if (is_open(v))
				at = defined_variable(l, v->name,
						      l->all->variable_count);
			if (at != UINT32_MAX)
				p->variables[i] = at;
		}
		for (uint32_t i = 0; i < p->m->function_count; i++) {
			const struct gkf_ptx_function *f = &p->m->functions[i];
			uint32_t at = UINT32_MAX;

			if (f->linkage != GKF_PTX_INTERNAL || !f->has_body)
				at = defined_function(l, f->name,
						      l->all->function_count);
			if (at != UINT32_MAX)
				p->functions[i] = at;
		}
	}
}

/* Turns each copy that another definition replaces into a mere declaration. */
static void forget_others(struct linking *l)
{
	uint32_t variable = 0, function = 0;

	for (unsigned k = 0; k < l->count; k++) {
		const struct part *p = &l->parts[k];

		for (uint32_t i = 0; i < p->m->variable_count; i++, variable++)
			if (p->variables[i] != variable)
				l->variables[variable].linkage = GKF_PTX_EXTERN;
		for (uint32_t i = 0; i < p->m->function_count; i++, function++)
			if (p->functions[i] != function)
				l->functions[function].has_body = false;
	}
}

static const uint32_t *renumber_variables(struct linking *l,
					  const struct part *p,
					  const uint32_t *list, uint32_t count)
{
	uint32_t *made =
	    gkf_arena_get(&l->all->arena, (count + 1) * sizeof *made);

	for (uint32_t i = 0; made && i < count; i++)
		made[i] = p->variables[list[i]];
	return made;
}

static bool copy_function(struct linking *l, const struct part *p,
			  struct gkf_ptx_function *f)
{
	struct gkf_ptx_operand *o =
	    gkf_arena_get(&l->all->arena, (f->operand_count + 1) * sizeof *o);

	f->params = renumber_variables(l, p, f->params, f->param_count);
	f->returns = renumber_variables(l, p, f->returns, f->return_count);
	if (!o || !f->params || !f->returns)
		return false;
	for (uint32_t i = 0; i < f->operand_count; i++) {
		o[i] = f->operands[i];
		if (o[i].kind == GKF_PTX_OP_VARIABLE)
			o[i].index = p->variables[o[i].index];
		else if (o[i].kind == GKF_PTX_OP_FUNCTION)
			o[i].index = p->functions[o[i].index];
	}
	f->operands = o;
	return true;
}

static bool copy_fixups(struct linking *l, const struct part *p,
			struct gkf_ptx_variable *v)
{
	struct gkf_ptx_fixup *list =
	    gkf_arena_get(&l->all->arena, (v->fixup_count + 1) * sizeof *list);

	if (!list)
		return false;
	for (uint32_t i = 0; i < v->fixup_count; i++) {
		list[i] = v->fixups[i];
		if (list[i].variable != GKF_PTX_NO_VARIABLE)
			list[i].variable = p->variables[list[i].variable];
	}
	v->fixups = list;
	return true;
}

static bool copy_parts(struct linking *l)
{
	uint32_t variable = 0, function = 0;

	for (unsigned k = 0; k < l->count; k++) {
		const struct part *p = &l->parts[k];

		for (uint32_t i = 0; i < p->m->variable_count; i++)
			if (!copy_fixups(l, p, &l->variables[variable++]))
				return false;
		for (uint32_t i = 0; i < p->m->function_count; i++)
			if (!copy_function(l, p, &l->functions[function++]))
				return false;
		if (p->m->target > l->all->target) {
			l->all->target = p->m->target;
			l->all->target_kind = p->m->target_kind;
		}
		if (p->m->version > l->all->version)
			l->all->version = p->m->version;
	}
	return true;
}

/* Returns the first variable that no part defines, or NULL. */
static const char *missing_variable(const struct linking *l)
{
	for (unsigned k = 0; k < l->count; k++) {
		const struct part *p = &l->parts[k];

		for (uint32_t i = 0; i < p->m->variable_count; i++) {
			const struct gkf_ptx_variable *v =
			    &l->variables[p->variables[i]];

			if (is_open(v) && v->linkage == GKF_PTX_EXTERN)
				return v->name;
		}
	}
	return NULL;
}

static bool make_parts_room(struct linking *l,
			    struct gkf_ptx_module *const *parts)
{
	struct gkf_arena *a = &l->all->arena;
	size_t variables = 1, functions = 1;

	l->parts = gkf_arena_get(a, l->count * sizeof *l->parts);
	for (unsigned k = 0; l->parts && k < l->count; k++) {
		struct part *p = &l->parts[k];

		p->m = parts[k];
		variables += p->m->variable_count;
		functions += p->m->function_count;
		p->variables = gkf_arena_get(a, (p->m->variable_count + 1) *
						    sizeof(uint32_t));
		p->functions = gkf_arena_get(a, (p->m->function_count + 1) *
						    sizeof(uint32_t));
		if (!p->variables || !p->functions)
			return false;
	}
	l->variables = gkf_arena_get(a, variables * sizeof *l->variables);
	l->functions = gkf_arena_get(a, functions * sizeof *l->functions);
	l->all->parts = gkf_arena_get(a, l->count * sizeof *l->all->parts);
	return l->parts && l->variables && l->functions && l->all->parts;
}

int gkf_ptx_module_link(struct gkf_ptx_module *const *parts, unsigned count,
			char message[GKF_PTX_MESSAGE_MAX],
			struct gkf_ptx_module **ret_module)
{
	struct linking l = {.all = calloc(1, sizeof *l.all), .count = count};
	const char *name;

	GK_ASSERT(parts && count);
	message[0] = '\0';
	if (!l.all || !make_parts_room(&l, parts))
		goto no_memory;
	gather_symbols(&l);
	settle_names(&l);
	forget_others(&l);
	if (!copy_parts(&l))
		goto no_memory;
	name = missing_variable(&l);
	if (name) {
		snprintf(message, GKF_PTX_MESSAGE_MAX,
			 "\"%.80s\" is not defined in any module", name);
		gkf_ptx_module_free(l.all);
		return GK_ERR_CORRUPT;
	}
	l.all->variables = l.variables;
	l.all->functions = l.functions;
	l.all->address_size = 64;
	memcpy(l.all->parts, parts, count * sizeof *parts);
	l.all->part_count = count;
	*ret_module = l.all;
	return 0;
no_memory:
	gkf_ptx_module_free(l.all);
	return GK_ERR_NOMEM;
}
