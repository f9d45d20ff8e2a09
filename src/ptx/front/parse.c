/* SPDX-License-Identifier: Apache-2.0 */
/* parse.c - parses PTX modules: their directives and the heads of functions. */
#include "ptx/front/parse.h"
#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "9.0" -> 90 */
static void parse_version(struct gkf_ptx_parser *p)
{
	struct gkf_ptx_token t = gkf_parse_take(p);
	unsigned major = 0, minor = 0;
	char text[16] = "";

	if (t.length < sizeof text)
		memcpy(text, t.text, t.length);
	if (t.kind != GKF_PTX_DOUBLE ||
	    sscanf(text, "%3u.%1u", &major, &minor) != 2) {
		gkf_parse_fail_at(p, t.line, "not a version");
		return;
	}
	p->module->version = major * 10 + minor;
	if (p->module->version > p->max_version) {
		gkf_parse_fail_at(p, t.line,
				  ".version %u.%u is newer than this driver, "
				  "which supports %u.%u",
				  major, minor, p->max_version / 10,
				  p->max_version % 10);
		p->error = GK_ERR_VERSION;
	}
}

static void parse_target(struct gkf_ptx_parser *p)
{
	do {
		const char *name = gkf_parse_name(p);
		char *end;

		if (strncmp(name, "sm_", 3) && strncmp(name, "compute_", 8))
			continue;
		p->module->target =
		    (unsigned)strtoul(strchr(name, '_') + 1, &end, 10);
		p->module->target_kind = *end;
		if (p->module->target < 10 || p->module->target > 999)
			gkf_parse_fail(p, "no such target: %.40s", name);
	} while (gkf_parse_try(p, ','));
}

/* Parses parameters in parentheses; returns the indices of their variables. */
static const uint32_t *parse_parameters(struct gkf_ptx_parser *p,
					uint32_t *ret_count)
{
	uint32_t *list = NULL, count = 0;
	size_t room = 0;

	*ret_count = 0;
	if (!gkf_parse_try(p, '('))
		return NULL;
	while (!gkf_parse_is(p, ')') && p->token.kind != GKF_PTX_END) {
		list = gkf_parse_room(p, list, count, &room, sizeof *list);
		if (!list)
			return NULL;
		list[count++] = gkf_parse_parameter(p);
		if (!gkf_parse_try(p, ','))
			break;
	}
	gkf_parse_expect(p, ')');
	*ret_count = count;
	return list;
}

/*
 * Gives a kernel's parameters their offsets in the launch's parameter buffer.
 */
static void lay_out_parameters(struct gkf_ptx_parser *p,
			       struct gkf_ptx_function *f)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < f->param_count && !p->error; i++) {
		struct gkf_ptx_variable *v = &p->variables[f->params[i]];

		at = (at + v->align - 1) & ~(uint64_t)(v->align - 1);
		v->offset = at;
		v->is_kernel_param = true;
		at += v->size;
		if (at > 32768)
			gkf_parse_fail(p, "too many parameters");
	}
	f->param_size = (uint32_t)at;
}

/* Places a function's parameters and results in its local memory. */
static void lay_out_local(struct gkf_ptx_parser *p, struct gkf_ptx_function *f)
{
	for (uint32_t i = 0; i < f->return_count && !p->error; i++)
		gkf_parse_place(p, f, f->returns[i]);
	for (uint32_t i = 0; i < f->param_count && !p->error; i++)
		gkf_parse_place(p, f, f->params[i]);
}

static void parse_dimensions(struct gkf_ptx_parser *p, uint32_t ret[3])
{
	ret[0] = ret[1] = ret[2] = 1;
	for (unsigned i = 0; i < 3; i++) {
		ret[i] = (uint32_t)gkf_parse_number(p, UINT32_MAX);
		if (!gkf_parse_try(p, ','))
			break;
	}
}

/* Reads the directives between a function's head and its body. */
static void parse_tuning(struct gkf_ptx_parser *p, struct gkf_ptx_function *f)
{
	uint32_t unused[3];

	while (p->token.kind == GKF_PTX_DOTTED) {
		if (gkf_parse_skip(p))
			continue;
		if (gkf_parse_try_word(p, ".reqntid")) {
			parse_dimensions(p, f->reqntid);
		} else if (gkf_parse_try_word(p, ".maxntid")) {
			parse_dimensions(p, f->maxntid);
		} else if (gkf_parse_try_word(p, ".reqnctapercluster")) {
			parse_dimensions(p, f->cluster);
		} else if (gkf_parse_try_word(p, ".minnctapersm")) {
			f->minnctapersm =
			    (uint32_t)gkf_parse_number(p, UINT32_MAX);
		} else if (gkf_parse_try_word(p, ".maxnreg")) {
			f->maxnreg = (uint32_t)gkf_parse_number(p, UINT32_MAX);
		} else {
			/* another directive: ignore it and its numbers */
			gkf_parse_take(p);
			if (p->token.kind == GKF_PTX_INTEGER)
				parse_dimensions(p, unused);
		}
	}
}

static struct gkf_ptx_function *declare_function(struct gkf_ptx_parser *p,
						 const char *name)
{
	struct gkf_symbol *s = gkf_symbol_find(p, name);
	struct gkf_ptx_function *f;

	if (s && s->kind == GKF_SYMBOL_FUNCTION &&
	    p->functions[s->index].has_body)
		gkf_parse_fail(p, "\"%.80s\" is defined twice", name);
	if (s && s->kind == GKF_SYMBOL_FUNCTION)
		return &p->functions[s->index];
	s = gkf_symbol_add(p, GKF_SYMBOL_FUNCTION, name);
	f = s ? GKF_APPEND(p, functions) : NULL;
	if (!f)
		return NULL;
	*f = (struct gkf_ptx_function){.name = name};
	s->index = (uint32_t)p->functions_count - 1;
	return f;
}

/* Parses a function from after ".entry" or ".func" to the end of its body. */
static void parse_function(struct gkf_ptx_parser *p, bool is_entry,
			   enum gkf_ptx_linkage linkage)
{
	bool has_body = false;
	struct gkf_ptx_function *f,
	    head = {.is_entry = is_entry, .linkage = (uint8_t)linkage};

	gkf_scope_enter(p);
	p->registers_count = 0;
	gkf_parse_attributes(p);
	if (!is_entry)
		head.returns = parse_parameters(p, &head.return_count);
	head.line = p->token.line;
	head.name = gkf_parse_name(p);
	head.params = parse_parameters(p, &head.param_count);
	parse_tuning(p, &head);
	if (is_entry)
		lay_out_parameters(p, &head);
	else
		lay_out_local(p, &head);
	p->scope = 0; /* the function's name is in the module's scope */
	f = declare_function(p, head.name);
	p->scope = (uint32_t)p->scopes_count;
	if (f) {
		*f = head;
		p->function = f;
		has_body = gkf_parse_is(p, '{');
		if (has_body)
			gkf_parse_body(p);
		else
			gkf_parse_expect(p, ';');
	}
	gkf_scope_leave(p);
	if (has_body)
		gkf_parse_keep_body(p, f);
}

static enum gkf_ptx_linkage parse_linkage(struct gkf_ptx_parser *p)
{
	if (gkf_parse_try_word(p, ".visible"))
		return GKF_PTX_VISIBLE;
	if (gkf_parse_try_word(p, ".extern"))
		return GKF_PTX_EXTERN;
	if (gkf_parse_try_word(p, ".weak"))
		return GKF_PTX_WEAK;
	if (gkf_parse_try_word(p, ".common"))
		return GKF_PTX_COMMON;
	return GKF_PTX_INTERNAL;
}

/* .alias name, function; */
static void parse_alias(struct gkf_ptx_parser *p)
{
	struct gkf_ptx_function *from, *to;
	const char *name = gkf_parse_name(p), *of;
	struct gkf_symbol *s;

	gkf_parse_expect(p, ',');
	of = gkf_parse_name(p);
	gkf_parse_expect(p, ';');
	s = gkf_symbol_find(p, of);
	if (!s || s->kind != GKF_SYMBOL_FUNCTION) {
		gkf_parse_fail(p, "\"%.80s\" is not a function", of);
		return;
	}
	from = declare_function(p, name);
	if (!from)
		return;
	to = &p->functions[s->index];
	from = &p->functions[gkf_symbol_find(p, name)->index];
	*from = *to;
	from->name = name;
}

static void parse_directive(struct gkf_ptx_parser *p)
{
	enum gkf_ptx_linkage link;
	enum gkf_ptx_space space;

	if (gkf_parse_skip(p) || gkf_parse_try(p, ';'))
		return;
	if (gkf_parse_try_word(p, ".target")) {
		parse_target(p);
		return;
	}
	if (gkf_parse_try_word(p, ".address_size")) {
		p->module->address_size = (unsigned)gkf_parse_number(p, 64);
		return;
	}
	if (gkf_parse_try_word(p, ".alias")) {
		parse_alias(p);
		return;
	}
	p->managed = gkf_parse_attributes(p);
	link = parse_linkage(p);
	p->managed |= gkf_parse_attributes(p);
	space = gkf_parse_space(p);
	if (gkf_parse_is_word(p, ".entry") || gkf_parse_is_word(p, ".func")) {
		bool is_entry = gkf_parse_is_word(p, ".entry");

		gkf_parse_take(p);
		parse_function(p, is_entry, link);
	} else if (space > GKF_PTX_LOCAL) {
		gkf_parse_take(p);
		gkf_parse_variables(p, space, link);
		p->managed = false;
	} else {
		gkf_parse_unexpected(p, "a directive");
	}
}

static void parse_module(struct gkf_ptx_parser *p)
{
	gkf_parse_take(p); /* reads the first token */
	if (!gkf_parse_try_word(p, ".version")) {
		gkf_parse_unexpected(p, ".version");
		return;
	}
	parse_version(p);
	while (p->token.kind != GKF_PTX_END)
		parse_directive(p);
	if (!p->error && !p->module->target)
		gkf_parse_fail(p, ".target is missing");
	if (!p->error && p->module->address_size == 32)
		gkf_parse_fail(p, "32-bit addresses are not supported");
	p->module->variables = gkf_parse_keep(
	    p, p->variables, p->variables_count, sizeof *p->variables);
	p->module->variable_count = (uint32_t)p->variables_count;
	p->module->functions = gkf_parse_keep(
	    p, p->functions, p->functions_count, sizeof *p->functions);
	p->module->function_count = (uint32_t)p->functions_count;
}

int gkf_ptx_module_read(const char *text, size_t size, unsigned max_version,
			char message[GKF_PTX_MESSAGE_MAX],
			struct gkf_ptx_module **ret_module)
{
	struct gkf_ptx_parser *p = calloc(1, sizeof *p);
	struct gkf_ptx_module *m = calloc(1, sizeof *m);
	int error = GK_ERR_NOMEM;

	message[0] = '\0';
	if (p && m) {
		p->lexer = (struct gkf_ptx_lexer){text, text + size, 1};
		p->module = m;
		p->arena = &m->arena;
		p->max_version = max_version;
		p->message = message;
		if (gkf_symbols_begin(p))
			parse_module(p);
		error = p->error;
		gkf_arena_free(&p->scratch);
	}
	free(p);
	if (error)
		gkf_ptx_module_free(m);
	else
		*ret_module = m;
	return error;
}

/*
 * sm_90a runs only on 9.0, sm_100f on 10.0 and newer 10.x, sm_80 on 8.0 and
 * newer.
 */
bool gkf_ptx_module_fits(const struct gkf_ptx_module *m, unsigned capability)
{
	if (m->target_kind == 'a')
		return m->target == capability;
	if (m->target_kind == 'f')
		return m->target <= capability &&
		       m->target / 10 == capability / 10;
	return m->target <= capability;
}

void gkf_ptx_module_free(struct gkf_ptx_module *m)
{
	if (!m)
		return;
	for (unsigned i = 0; i < m->part_count; i++)
		gkf_ptx_module_free(m->parts[i]);
	gkf_arena_free(&m->arena);
	free(m);
}

const struct gkf_ptx_function *
gkf_ptx_function_find(const struct gkf_ptx_module *m, const char *name)
{
	for (uint32_t i = 0; i < m->function_count; i++)
		if (!strcmp(m->functions[i].name, name))
			return &m->functions[i];
	return NULL;
}
