/* SPDX-License-Identifier: Apache-2.0 */
/* parse_data.c - parses declarations of variables, types and initialisers. */
#include "base/assert.h"
#include "ptx/front/parse.h"

#include <string.h>

#define SIZE_LIMIT ((uint64_t)1 << 40)
#define DATA_LIMIT ((uint64_t)1 << 30) /* maximum bytes of an initialiser */
#define DIMENSIONS 8
/* maximum local memory per thread, as in CUDA */
#define LOCAL_LIMIT (512U << 10)

/* A variable whose initialiser is being parsed. */
struct filling {
	struct gkf_ptx_variable *v;
	uint8_t *data;
	uint64_t room;
	unsigned bytes; /* bytes of an element */
	struct gkf_ptx_fixup *fixups;
	size_t fixups_room;
	/* [i]: bytes of a subarray that spans dimension i and all later ones */
	uint64_t stride[DIMENSIONS + 1];
	unsigned dimensions;
};

enum gkf_ptx_type gkf_parse_type(struct gkf_ptx_parser *p)
{
	enum gkf_ptx_type type = GKF_PTX_TYPES;

	if (p->token.kind == GKF_PTX_DOTTED)
		type = gkf_ptx_type(p->token.text + 1, p->token.length - 1);
	if (type == GKF_PTX_TYPES) {
		gkf_parse_unexpected(p, "a type");
		return GKF_PTX_T_b32;
	}
	gkf_parse_take(p);
	return type;
}

static void parse_alignment(struct gkf_ptx_parser *p,
			    struct gkf_ptx_variable *v)
{
	uint64_t align = gkf_parse_number(p, 1 << 20);

	if (!align || (align & (align - 1)))
		gkf_parse_fail(p, "an alignment must be a power of two");
	else
		v->align = (uint32_t)align;
}

bool gkf_parse_attributes(struct gkf_ptx_parser *p)
{
	bool managed = false;

	while (gkf_parse_try_word(p, ".attribute")) {
		unsigned depth = 0;

		do {
			managed |= gkf_parse_is_word(p, ".managed");
			depth += gkf_parse_is(p, '(');
			depth -= depth && gkf_parse_is(p, ')');
			gkf_parse_take(p);
		} while (depth && p->token.kind != GKF_PTX_END);
	}
	return managed;
}

/*
 * Parses what the variables of a list have in common: attributes, alignment and
 * type.
 */
static void parse_variable_type(struct gkf_ptx_parser *p,
				struct gkf_ptx_variable *v)
{
	v->vector = 1;
	v->managed = gkf_parse_attributes(p) | p->managed;
	for (;;) {
		if (gkf_parse_try_word(p, ".align"))
			parse_alignment(p, v);
		else if (gkf_parse_try_word(p, ".v2"))
			v->vector = 2;
		else if (gkf_parse_try_word(p, ".v4"))
			v->vector = 4;
		else
			break;
	}
	v->type = (uint8_t)gkf_parse_type(p);
	while (gkf_parse_is_word(p, ".ptr") || gkf_parse_is_word(p, ".align") ||
	       gkf_parse_space(p) || gkf_parse_is_word(p, ".v2") ||
	       gkf_parse_is_word(p, ".v4")) {
		if (gkf_parse_try_word(p, ".v4"))
			v->vector = 4;
		else if (gkf_parse_try_word(p, ".v2"))
			v->vector = 2;
		else if (gkf_parse_is_word(p, ".align")) {
			gkf_parse_take(p); /* the pointee's alignment */
			gkf_parse_number(p, 1 << 20);
		} else {
			gkf_parse_take(p);
		}
	}
}

/*
 * Parses a name and its dimensions. The first dimension may be empty; then the
 * size is 0.
 */
static void parse_named(struct gkf_ptx_parser *p, struct gkf_ptx_variable *v,
			struct filling *f)
{
	uint64_t length[DIMENSIONS], size;

	f->v = v;
	f->bytes = gkf_ptx_types[v->type].bytes;
	v->line = p->token.line;
	v->name = gkf_parse_name(p);
	size = (uint64_t)f->bytes * v->vector;
	if (!v->align)
		v->align = (uint32_t)size;
	while (gkf_parse_try(p, '[')) {
		if (f->dimensions == DIMENSIONS) {
			gkf_parse_fail(p, "too many dimensions");
			return;
		}
		length[f->dimensions++] =
		    gkf_parse_is(p, ']') ? 0 : gkf_parse_size(p, SIZE_LIMIT);
		gkf_parse_expect(p, ']');
	}
	v->is_array = f->dimensions > 0;
	f->stride[f->dimensions] = f->bytes;
	if (v->vector > 1)
		f->stride[f->dimensions] = size;
	for (unsigned i = f->dimensions; i--;) {
		if (length[i] && size > SIZE_LIMIT / length[i])
			gkf_parse_fail(p, "\"%.80s\" is too big", v->name);
		else
			size *= length[i];
		f->stride[i] = size;
	}
	v->size = size;
}

/* Reserves the bytes up to `end`; false when there is no memory or no space. */
static bool reserve_data(struct gkf_ptx_parser *p, struct filling *f,
			 uint64_t end)
{
	struct gkf_ptx_variable *v = f->v;
	uint64_t room = f->room ? f->room : 64;
	uint8_t *grown;

	if (end > DATA_LIMIT || (v->size && end > v->size)) {
		gkf_parse_fail(p, "more values than \"%.80s\" holds", v->name);
		return false;
	}
	while (room < end)
		room *= 2;
	if (room != f->room) {
		grown = gkf_arena_get(p->arena, room);
		if (!grown) {
			gkf_parse_no_memory(p);
			return false;
		}
		if (v->data_size)
			memcpy(grown, f->data, v->data_size);
		v->data = f->data = grown;
		f->room = room;
	}
	if (v->data_size < end)
		v->data_size = end;
	return true;
}

static void put_data(struct gkf_ptx_parser *p, struct filling *f, uint64_t at,
		     uint64_t value)
{
	if (reserve_data(p, f, at + f->bytes))
		memcpy(f->data + at, &value, f->bytes > 8 ? 8 : f->bytes);
}

/*
 * Parses a name or generic(name), with an offset. `mask` is 0xff00 in
 * 0xff00(name), or 0 if there is no mask.
 */
static void parse_data_address(struct gkf_ptx_parser *p, struct filling *f,
			       uint64_t at, uint64_t mask)
{
	const struct gkf_symbol *symbol;
	struct gkf_ptx_fixup *fixup;
	bool generic = gkf_parse_try_word(p, "generic");

	if (generic)
		gkf_parse_expect(p, '(');
	f->fixups = gkf_parse_room(p, f->fixups, f->v->fixup_count,
				   &f->fixups_room, sizeof *f->fixups);
	if (!f->fixups)
		return;
	fixup = &f->fixups[f->v->fixup_count++];
	f->v->fixups = f->fixups;
	fixup->symbol = gkf_parse_name(p);
	symbol = gkf_symbol_find(p, fixup->symbol);
	fixup->variable = GKF_PTX_NO_VARIABLE;
	if (symbol && symbol->kind == GKF_SYMBOL_VARIABLE)
		fixup->variable = symbol->index;
	if (generic)
		gkf_parse_expect(p, ')');
	fixup->offset = at;
	fixup->bytes = (uint8_t)f->bytes;
	fixup->shift = mask ? (uint8_t)__builtin_ctzll(mask) : 0;
	fixup->addend = gkf_parse_offset(p);
	put_data(p, f, at, 0);
}

/*
 * Returns a number's bits in a type of the given size. The bits of a 0f literal
 * are used unchanged, as NVIDIA's assembler does.
 */
static uint64_t convert_number(struct gkf_ptx_number n, unsigned bytes)
{
	uint64_t bits = n.value;
	double d;
	float f;

	if (n.kind == GKF_PTX_DOUBLE && bytes == 4) {
		memcpy(&d, &bits, sizeof d);
		f = (float)d;
		bits = 0;
		memcpy(&bits, &f, sizeof f);
	}
	return bits;
}

static void parse_data_value(struct gkf_ptx_parser *p, struct filling *f,
			     uint64_t at)
{
	uint8_t kind = gkf_ptx_types[f->v->type].kind;
	struct gkf_ptx_number n;

	if (p->token.kind == GKF_PTX_WORD && !gkf_parse_is_word(p, "WARP_SZ")) {
		parse_data_address(p, f, at, 0);
		return;
	}
	n = gkf_parse_constant(p);
	if (n.kind == GKF_PTX_INTEGER && gkf_parse_try(p, '(')) {
		parse_data_address(p, f, at, n.value);
		gkf_parse_expect(p, ')');
		return;
	}
	if (n.kind == GKF_PTX_INTEGER
		? kind == GKF_PTX_FLOAT
		: kind == GKF_PTX_UNSIGNED || kind == GKF_PTX_SIGNED)
		gkf_parse_fail(p, "\"%.80s\" needs %s", f->v->name,
			       kind == GKF_PTX_FLOAT ? "floating-point values"
						     : "integers");
	put_data(p, f, at, convert_number(n, f->bytes));
}

/* Skips the settings of a texture or sampler; we do not use them. */
static void parse_settings(struct gkf_ptx_parser *p)
{
	while (!gkf_parse_is(p, '}') && p->token.kind != GKF_PTX_END)
		gkf_parse_take(p);
	gkf_parse_expect(p, '}');
}

/* Parses the { } of one dimension; missing values are 0. */
static void parse_data_values(struct gkf_ptx_parser *p, struct filling *f,
			      unsigned dimension, uint64_t at)
{
	uint64_t step;

	if (!gkf_parse_try(p, '{')) {
		parse_data_value(p, f, at);
		return;
	}
	if (gkf_ptx_types[f->v->type].kind == GKF_PTX_OPAQUE) {
		parse_settings(p);
		return;
	}
	/*
	 * The distance between two values: the bytes of a row, of a scalar, or
	 * of an element of a vector.
	 */
	step = dimension < f->dimensions ? f->stride[dimension + 1] : f->bytes;
	if (dimension > f->dimensions) {
		gkf_parse_fail(p, "too many braces");
		return;
	}
	while (!gkf_parse_is(p, '}') && p->token.kind != GKF_PTX_END) {
		parse_data_values(p, f, dimension + 1, at);
		at += step;
		if (at > SIZE_LIMIT)
			gkf_parse_fail(p, "\"%.80s\" is too big", f->v->name);
		if (!gkf_parse_try(p, ','))
			break;
	}
	gkf_parse_expect(p, '}');
}

void gkf_parse_place(struct gkf_ptx_parser *p, struct gkf_ptx_function *f,
		     uint32_t variable)
{
	struct gkf_ptx_variable *v;
	uint64_t at;

	GK_ASSERT(variable < p->variables_count);
	v = &p->variables[variable];
	at = (f->local_size + v->align - 1) & ~(uint64_t)(v->align - 1);
	if (v->size > LOCAL_LIMIT || at + v->size > LOCAL_LIMIT) {
		gkf_parse_fail(p, "more than 512 KiB of memory per thread");
		return;
	}
	v->offset = at;
	f->local_size = (uint32_t)(at + v->size);
}

/*
 * Adds a variable or merges it with an earlier declaration; returns its index,
 * or -1 on failure.
 */
static int64_t add_variable(struct gkf_ptx_parser *p,
			    const struct gkf_ptx_variable *v)
{
	struct gkf_symbol *s = gkf_symbol_find(p, v->name);
	struct gkf_ptx_variable *room;

	if (s && s->kind == GKF_SYMBOL_VARIABLE && s->scope == p->scope) {
		struct gkf_ptx_variable *old = &p->variables[s->index];

		if (old->linkage == GKF_PTX_EXTERN ||
		    v->linkage == GKF_PTX_EXTERN ||
		    v->linkage == GKF_PTX_WEAK) {
			if (v->linkage != GKF_PTX_EXTERN)
				*old = *v;
			return s->index;
		}
	}
	s = gkf_symbol_add(p, GKF_SYMBOL_VARIABLE, v->name);
	room = s ? GKF_APPEND(p, variables) : NULL;
	if (!room)
		return -1;
	*room = *v;
	s->index = (uint32_t)p->variables_count - 1;
	return s->index;
}

void gkf_parse_variables(struct gkf_ptx_parser *p, enum gkf_ptx_space space,
			 enum gkf_ptx_linkage linkage)
{
	struct gkf_ptx_variable shared = {.space = (uint8_t)space,
					  .linkage = (uint8_t)linkage};

	parse_variable_type(p, &shared);
	do {
		struct gkf_ptx_variable v = shared;
		struct filling f = {0};
		int64_t index;

		parse_named(p, &v, &f);
		if (gkf_parse_try(p, '='))
			parse_data_values(p, &f, 0, 0);
		if (!v.size)
			v.size = v.data_size;
		index = p->error ? -1 : add_variable(p, &v);
		if (index >= 0 && p->function && p->depth &&
		    (space == GKF_PTX_LOCAL || space == GKF_PTX_PARAM))
			gkf_parse_place(p, p->function, (uint32_t)index);
	} while (gkf_parse_try(p, ','));
	gkf_parse_expect(p, ';');
}

/* Adds a variable that no name refers to. */
static uint32_t add_nameless(struct gkf_ptx_parser *p,
			     const struct gkf_ptx_variable *v)
{
	struct gkf_ptx_variable *room = GKF_APPEND(p, variables);

	if (!room)
		return 0;
	*room = *v;
	return (uint32_t)p->variables_count - 1;
}

/*
 * Adds a .reg parameter, as in old PTX: the body uses the register, and the
 * list of parameters gets a nameless variable.
 */
static uint32_t register_parameter(struct gkf_ptx_parser *p,
				   const struct gkf_ptx_variable *v)
{
	struct gkf_symbol *s = gkf_symbol_add(p, GKF_SYMBOL_RANGE, v->name);

	if (!s)
		return 0;
	s->type = v->type;
	s->vector = v->vector > 1 ? v->vector : 0;
	return gkf_symbol_registers(p, s) ? add_nameless(p, v) : 0;
}

uint32_t gkf_parse_parameter(struct gkf_ptx_parser *p)
{
	struct gkf_ptx_variable v = {.space = (uint8_t)gkf_parse_space(p)};
	struct filling f = {0};
	int64_t index;

	if (v.space != GKF_PTX_PARAM && v.space != GKF_PTX_REG) {
		gkf_parse_fail(p, "a parameter must begin with .param");
		return 0;
	}
	gkf_parse_take(p);
	parse_variable_type(p, &v);
	parse_named(p, &v, &f);
	if (v.space == GKF_PTX_REG)
		return register_parameter(p, &v);
	if (!strcmp(v.name, "_"))
		return add_nameless(p, &v);
	index = p->error ? -1 : add_variable(p, &v);
	return index < 0 ? 0 : (uint32_t)index;
}
