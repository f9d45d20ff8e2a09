/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parse_body.c - parses the body of a PTX function: declarations, labels,
 * instructions and their operands.
 */
#include "ptx/front/parse.h"
#include "ptx/front/special_name.h"

#include <string.h>

/* maximum bytes of an instruction's name and modifiers */
#define NAME_MAX_LENGTH 160
/* maximum operands of an instruction, vector or list */
#define OPERANDS_MAX 64
#define NESTING_MAX  4 /* maximum levels of operands within operands */

static void parse_operand(struct gkf_ptx_parser *p, struct gkf_ptx_operand *o,
			  unsigned depth);

/* Parses registers of one type: names, or ranges such as %r<9>. */
static void parse_registers(struct gkf_ptx_parser *p)
{
	uint8_t vector = gkf_parse_try_word(p, ".v2")   ? 2
			 : gkf_parse_try_word(p, ".v4") ? 4
							: 0;
	enum gkf_ptx_type type = gkf_parse_type(p);

	do {
		const char *name = gkf_parse_name(p);
		struct gkf_symbol *s =
		    gkf_symbol_add(p, GKF_SYMBOL_RANGE, name);

		if (!s)
			return;
		s->type = (uint8_t)type;
		s->vector = vector;
		if (gkf_parse_try(p, '<')) {
			s->count = gkf_parse_number(p, UINT32_MAX);
			gkf_parse_expect(p, '>');
			if (!s->count) /* an empty range */
				s->kind = GKF_SYMBOL_LABEL;
			continue;
		}
		if (!gkf_symbol_registers(p, s))
			return;
	} while (gkf_parse_try(p, ','));
	gkf_parse_expect(p, ';');
}

/* Appends operands and makes them the nested operands of `parent`. */
static void adopt_operands(struct gkf_ptx_parser *p,
			   struct gkf_ptx_operand *parent,
			   const struct gkf_ptx_operand *list, uint16_t count)
{
	parent->index = (uint32_t)p->operands_count;
	parent->count = count;
	for (uint16_t i = 0; i < count; i++) {
		struct gkf_ptx_operand *o = GKF_APPEND(p, operands);

		if (!o)
			return;
		*o = list[i];
	}
}

/* Parses operands up to the given sign. */
static void parse_operands(struct gkf_ptx_parser *p,
			   struct gkf_ptx_operand *parent, char end,
			   unsigned depth)
{
	struct gkf_ptx_operand list[OPERANDS_MAX];
	uint16_t count = 0;

	parent->index = 0;
	parent->count = 0;
	while (!gkf_parse_is(p, end) && p->token.kind != GKF_PTX_END) {
		if (count == OPERANDS_MAX || depth > NESTING_MAX) {
			gkf_parse_fail(p, "too many operands");
			return;
		}
		parse_operand(p, &list[count++], depth);
		if (!gkf_parse_try(p, ','))
			break;
	}
	gkf_parse_expect(p, end);
	adopt_operands(p, parent, list, count);
}

/* Parses v[...]: the index counts elements, not bytes. */
static void parse_element(struct gkf_ptx_parser *p, struct gkf_ptx_operand *o)
{
	const struct gkf_ptx_variable *v = &p->variables[o->index];
	struct gkf_ptx_operand parts[2] = {*o};
	uint8_t bytes = gkf_ptx_types[v->type].bytes;
	int64_t r = -1;

	gkf_parse_expect(p, '[');
	if (p->token.kind == GKF_PTX_WORD && !gkf_parse_is_word(p, "WARP_SZ"))
		r = gkf_symbol_register(p, gkf_parse_name(p));
	if (r >= 0)
		parts[1] = (struct gkf_ptx_operand){
		    .kind = GKF_PTX_OP_REG,
		    .index = (uint32_t)r,
		    .value = gkf_parse_offset(p),
		};
	else
		parts[0].value =
		    (int64_t)((uint64_t)gkf_parse_signed(p) * bytes);
	gkf_parse_expect(p, ']');
	if (!v->is_array)
		gkf_parse_fail(p, "\"%.80s\" is not an array", v->name);
	o->kind = GKF_PTX_OP_ELEMENT;
	o->value = bytes;
	adopt_operands(p, o, parts, r < 0 ? 1 : 2);
}

/* Parses a name that is not a register. */
static void parse_symbol(struct gkf_ptx_parser *p, struct gkf_ptx_operand *o,
			 const char *name)
{
	const struct gkf_symbol *s = gkf_symbol_find(p, name);

	if (s && s->kind == GKF_SYMBOL_VARIABLE) {
		o->kind = GKF_PTX_OP_VARIABLE;
		o->index = s->index;
		if (gkf_parse_is(p, '['))
			parse_element(p, o);
		else
			o->value = gkf_parse_offset(p);
	} else if (s && s->kind == GKF_SYMBOL_FUNCTION) {
		o->kind = GKF_PTX_OP_FUNCTION;
		o->index = s->index;
	} else if (name[0] == '%' && gkf_special_known(name)) {
		o->kind = GKF_PTX_OP_SPECIAL;
		o->name = name;
	} else if (!strcmp(name, "_")) {
		o->kind = GKF_PTX_OP_SINK;
	} else {
		o->kind = GKF_PTX_OP_LABEL; /* resolved when the scope ends */
		o->name = name;
	}
}

/* Joins two tokens, such as "%tid" and ".x", into one name. */
static const char *join_names(struct gkf_ptx_parser *p, const char *name)
{
	char text[NAME_MAX_LENGTH];
	size_t length = strlen(name);

	if (length + p->token.length >= sizeof text) {
		gkf_parse_fail(p, "\"%.80s\" is not declared", name);
		return name;
	}
	memcpy(text, name, length);
	memcpy(text + length, p->token.text, p->token.length);
	length += p->token.length;
	gkf_parse_take(p);
	return gkf_parse_intern(p, text, length);
}

/*
 * Parses what follows the name of a vector register: an element such as ".x",
 * or nothing if the whole vector is meant.
 */
static void parse_vector(struct gkf_ptx_parser *p, struct gkf_ptx_operand *o,
			 uint32_t first, unsigned elements)
{
	static const char names[] = "xyzwrgba";
	struct gkf_ptx_operand all[4];
	const char *which = NULL;

	for (unsigned i = 0; i < elements; i++)
		all[i] = (struct gkf_ptx_operand){.kind = GKF_PTX_OP_REG,
						  .index = first + i};
	if (p->token.kind != GKF_PTX_DOTTED) {
		adopt_operands(p, o, all, (uint16_t)elements);
		o->kind = GKF_PTX_OP_VECTOR;
		return;
	}
	if (p->token.length == 2)
		which = memchr(names, p->token.text[1], sizeof names - 1);
	if (!which || (unsigned)(which - names) % 4 >= elements) {
		gkf_parse_unexpected(p, "an element of a vector");
		return;
	}
	*o = all[(which - names) % 4];
	gkf_parse_take(p);
}

static void parse_name_operand(struct gkf_ptx_parser *p,
			       struct gkf_ptx_operand *o)
{
	const char *name = gkf_parse_name(p);
	int64_t r = gkf_symbol_register(p, name);

	if (r >= 0 && p->registers[r].elements) {
		parse_vector(p, o, (uint32_t)r, p->registers[r].elements);
	} else if (r >= 0 && p->token.kind == GKF_PTX_DOTTED) {
		o->name = join_names(p, name); /* as in %r1.b0 */
		o->kind = GKF_PTX_OP_SPECIAL;
	} else if (r >= 0) {
		o->kind = GKF_PTX_OP_REG;
		o->index = (uint32_t)r;
	} else {
		if (name[0] == '%' && p->token.kind == GKF_PTX_DOTTED)
			name = join_names(p, name);
		parse_symbol(p, o, name);
	}
}

static void parse_number_operand(struct gkf_ptx_parser *p,
				 struct gkf_ptx_operand *o)
{
	struct gkf_ptx_number n = gkf_parse_constant(p);

	o->value = (int64_t)n.value;
	o->kind = n.kind == GKF_PTX_INTEGER  ? GKF_PTX_OP_INT
		  : n.kind == GKF_PTX_SINGLE ? GKF_PTX_OP_F32
					     : GKF_PTX_OP_F64;
}

/* Parses [base], [base + 4] or [base, {x, y}]. */
static void parse_operand_address(struct gkf_ptx_parser *p,
				  struct gkf_ptx_operand *o, unsigned depth)
{
	struct gkf_ptx_operand base = {0};
	int64_t offset;

	parse_operand(p, &base, depth + 1);
	if (base.kind == GKF_PTX_OP_ELEMENT)
		gkf_parse_fail(p, "an array element takes no brackets");
	offset = gkf_parse_offset(p);
	if (gkf_parse_try(p, ',')) {
		struct gkf_ptx_operand rest = {0};

		parse_operands(p, &rest, ']', depth + 1);
		o->kind = GKF_PTX_OP_ADDRESSES;
	} else {
		gkf_parse_expect(p, ']');
		o->kind = GKF_PTX_OP_ADDRESS;
	}
	o->value = offset;
	adopt_operands(p, o, &base, 1);
}

static void parse_pair(struct gkf_ptx_parser *p, struct gkf_ptx_operand *o,
		       unsigned depth)
{
	struct gkf_ptx_operand both[2] = {*o};

	parse_operand(p, &both[1], depth + 1);
	*o = (struct gkf_ptx_operand){.kind = GKF_PTX_OP_PAIR};
	adopt_operands(p, o, both, 2);
}

static bool is_name_token(const struct gkf_ptx_token *t)
{
	return t->kind == GKF_PTX_WORD &&
	       (t->length != 7 || memcmp(t->text, "WARP_SZ", 7));
}

/* A sign before a name, "!p" or "-r", does not begin an expression. */
static bool try_prefix(struct gkf_ptx_parser *p, char sign)
{
	struct gkf_ptx_token next;

	if (!gkf_parse_is(p, sign))
		return false;
	next = gkf_parse_peek(p);
	return is_name_token(&next) && gkf_parse_try(p, sign);
}

static void parse_minus(struct gkf_ptx_parser *p, struct gkf_ptx_operand *o)
{
	struct gkf_ptx_operand of = {0};

	parse_name_operand(p, &of);
	o->kind = GKF_PTX_OP_MINUS;
	adopt_operands(p, o, &of, 1);
}

static void parse_operand(struct gkf_ptx_parser *p, struct gkf_ptx_operand *o,
			  unsigned depth)
{
	memset(o, 0, sizeof *o);
	if (depth > NESTING_MAX) {
		gkf_parse_fail(p, "operands are nested too deeply");
		return;
	}
	o->negated = try_prefix(p, '!');
	if (is_name_token(&p->token)) {
		parse_name_operand(p, o);
	} else if (try_prefix(p, '-')) {
		parse_minus(p, o);
	} else if (gkf_parse_try(p, '[')) {
		parse_operand_address(p, o, depth);
	} else if (gkf_parse_try(p, '{')) {
		parse_operands(p, o, '}', depth + 1);
		o->kind = GKF_PTX_OP_VECTOR;
	} else if (p->calls && gkf_parse_try(p, '(')) {
		parse_operands(p, o, ')', depth + 1);
		o->kind = GKF_PTX_OP_LIST;
	} else {
		parse_number_operand(p, o);
	}
	if (gkf_parse_try(p, '|'))
		parse_pair(p, o, depth);
}

/* Parses an opcode such as "ld" with its modifiers. */
static const char *parse_opcode(struct gkf_ptx_parser *p)
{
	char text[NAME_MAX_LENGTH];
	size_t length = 0;

	do {
		if (length + p->token.length >= sizeof text) {
			gkf_parse_fail(p, "too many modifiers");
			return "";
		}
		memcpy(text + length, p->token.text, p->token.length);
		length += p->token.length;
		gkf_parse_take(p);
	} while (p->token.kind == GKF_PTX_DOTTED);
	return gkf_parse_intern(p, text, length);
}

static struct gkf_ptx_instruction *add_instruction(struct gkf_ptx_parser *p)
{
	struct gkf_ptx_instruction *i = GKF_APPEND(p, code);

	if (i)
		*i = (struct gkf_ptx_instruction){.line = p->token.line,
						  .guard = GKF_PTX_NO_GUARD};
	return i;
}

static void parse_guard(struct gkf_ptx_parser *p, struct gkf_ptx_instruction *i)
{
	int64_t r;

	i->guard_negated = gkf_parse_try(p, '!');
	r = gkf_symbol_register(p, gkf_parse_name(p));
	if (r < 0 || p->registers[r].type != GKF_PTX_T_pred)
		gkf_parse_fail(p, "a guard must be a predicate register");
	else
		i->guard = (uint32_t)r;
}

/*
 * Parses an instruction, from its guard or opcode to ';', or a directive such
 * as .branchtargets.
 */
static void parse_instruction(struct gkf_ptx_parser *p)
{
	struct gkf_ptx_instruction i = {0}, *room = add_instruction(p);
	size_t first = p->operands_count;
	struct gkf_ptx_operand all = {0};

	if (!room)
		return;
	i = *room;
	if (gkf_parse_try(p, '@'))
		parse_guard(p, &i);
	if (p->token.kind != GKF_PTX_WORD && p->token.kind != GKF_PTX_DOTTED)
		gkf_parse_name(p); /* reports the error */
	i.name = parse_opcode(p);
	p->calls = !strncmp(i.name, "call", 4);
	parse_operands(p, &all, ';', 0);
	i.first = all.index;
	i.count = all.count;
	for (size_t n = first; n < p->operands_count && !p->error; n++)
		if (p->operands[n].kind == GKF_PTX_OP_LABEL)
			gkf_label_use(p, (uint32_t)n, p->operands[n].name);
	p->code[p->code_count - 1] = i;
}

/* .callprototype, for an indirect call: only its name is kept. */
static void parse_prototype(struct gkf_ptx_parser *p)
{
	struct gkf_ptx_instruction *i = add_instruction(p);

	if (i)
		i->name = gkf_parse_intern(p, ".callprototype", 14);
	while (!gkf_parse_is(p, ';') && p->token.kind != GKF_PTX_END)
		gkf_parse_take(p);
	gkf_parse_expect(p, ';');
}

static bool is_label(struct gkf_ptx_parser *p)
{
	struct gkf_ptx_token t;

	if (p->token.kind != GKF_PTX_WORD)
		return false;
	t = gkf_parse_peek(p);
	return t.kind == GKF_PTX_SIGN && t.sign == ':';
}

static void parse_statement(struct gkf_ptx_parser *p)
{
	enum gkf_ptx_space space = gkf_parse_space(p);

	if (gkf_parse_try(p, ';') || gkf_parse_skip(p)) {
		;
	} else if (gkf_parse_try(p, '{')) {
		gkf_scope_enter(p);
	} else if (space == GKF_PTX_REG) {
		gkf_parse_take(p);
		parse_registers(p);
	} else if (space) {
		gkf_parse_take(p);
		gkf_parse_variables(p, space, GKF_PTX_INTERNAL);
	} else if (is_label(p)) {
		gkf_label_add(p, gkf_parse_name(p));
		gkf_parse_expect(p, ':');
	} else if (gkf_parse_is_word(p, ".callprototype")) {
		parse_prototype(p);
	} else {
		parse_instruction(p);
	}
}

/* Appends a "ret", which labels at the end of the function can refer to. */
static void end_body(struct gkf_ptx_parser *p)
{
	struct gkf_ptx_instruction *i = add_instruction(p);

	if (i)
		i->name = gkf_parse_intern(p, "ret", 3);
}

void gkf_parse_body(struct gkf_ptx_parser *p)
{
	unsigned depth = p->depth;

	p->code_count = p->operands_count = 0;
	gkf_parse_expect(p, '{');
	while (p->token.kind != GKF_PTX_END) {
		if (!gkf_parse_is(p, '}'))
			parse_statement(p);
		else if (p->depth > depth)
			gkf_scope_leave(p), gkf_parse_take(p);
		else
			break;
	}
	gkf_parse_expect(p, '}');
	end_body(p);
}

void gkf_parse_keep_body(struct gkf_ptx_parser *p, struct gkf_ptx_function *f)
{
	f->has_body = true;
	f->code = gkf_parse_keep(p, p->code, p->code_count, sizeof *p->code);
	f->code_count = (uint32_t)p->code_count;
	f->operands = gkf_parse_keep(p, p->operands, p->operands_count,
				     sizeof *p->operands);
	f->operand_count = (uint32_t)p->operands_count;
	f->registers = gkf_parse_keep(p, p->registers, p->registers_count,
				      sizeof *p->registers);
	f->register_count = (uint32_t)p->registers_count;
}
