/* parse_body.c - the body of a PTX function: declarations, labels,
 * instructions and their operands. */
#include "fake/ptx/parse.h"

#include <string.h>

#define NAME_MAX_LENGTH 160 /* of an instruction with its modifiers */
#define OPERANDS_MAX    64  /* of one instruction, vector or list */
#define NESTING_MAX     4   /* of operands in operands */

static void operand(struct gkf_ptx_parser *p, struct gkf_ptx_operand *o,
		    unsigned depth);

/* Registers of one type: names, or ranges as %r<9>. */
static void registers(struct gkf_ptx_parser *p)
{
	enum gkf_ptx_type type;

	while (gkf_parse_is_word(p, ".v2") || gkf_parse_is_word(p, ".v4"))
		gkf_parse_fail(p, "vectors of registers are not known");
	type = gkf_parse_type(p);
	do {
		const char *name = gkf_parse_name(p);
		struct gkf_symbol *s =
		    gkf_symbol_add(p, GKF_SYMBOL_RANGE, name);
		struct gkf_ptx_register *r;

		if (!s)
			return;
		s->type = (uint8_t)type;
		if (gkf_parse_try(p, '<')) {
			s->count = gkf_parse_number(p, UINT32_MAX);
			gkf_parse_expect(p, '>');
			if (!s->count) /* none of them */
				s->kind = GKF_SYMBOL_LABEL;
			continue;
		}
		r = GKF_APPEND(p, registers);
		if (!r)
			return;
		*r = (struct gkf_ptx_register){name, (uint8_t)type};
		s->index = (uint32_t)p->registers_count - 1;
	} while (gkf_parse_try(p, ','));
	gkf_parse_expect(p, ';');
}

/* Operands up to a sign; they lie together once all of them are read. */
static void operands(struct gkf_ptx_parser *p, struct gkf_ptx_operand *parent,
		     char end, unsigned depth)
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
		operand(p, &list[count++], depth);
		if (!gkf_parse_try(p, ','))
			break;
	}
	gkf_parse_expect(p, end);
	parent->index = (uint32_t)p->operands_count;
	parent->count = count;
	for (uint16_t i = 0; i < count; i++) {
		struct gkf_ptx_operand *o = GKF_APPEND(p, operands);

		if (!o)
			return;
		*o = list[i];
	}
}

/* What names a name that is not a register. */
static void symbol(struct gkf_ptx_parser *p, struct gkf_ptx_operand *o,
		   const char *name)
{
	const struct gkf_symbol *s = gkf_symbol_find(p, name);

	if (s && s->kind == GKF_SYMBOL_VARIABLE) {
		o->kind = GKF_PTX_OP_VARIABLE;
		o->index = s->index;
		o->value = 0;
		if (gkf_parse_is(p, '+') || gkf_parse_is(p, '-')) {
			gkf_parse_try(p, '+');
			o->value = gkf_parse_signed(p);
		}
	} else if (s && s->kind == GKF_SYMBOL_FUNCTION) {
		o->kind = GKF_PTX_OP_FUNCTION;
		o->index = s->index;
	} else if (!strcmp(name, "WARP_SZ")) {
		o->kind = GKF_PTX_OP_INT;
		o->value = 32;
	} else if (name[0] == '%') {
		o->kind = GKF_PTX_OP_SPECIAL;
		o->name = name;
	} else if (!strcmp(name, "_")) {
		o->kind = GKF_PTX_OP_SINK;
	} else {
		o->kind = GKF_PTX_OP_LABEL; /* settled at the scope's end */
		o->name = name;
	}
}

/* %tid.x and the like are one name. */
static const char *word(struct gkf_ptx_parser *p)
{
	char text[NAME_MAX_LENGTH];
	const char *name = gkf_parse_name(p);
	size_t length = strlen(name);

	if (name[0] != '%' || p->token.kind != GKF_PTX_DOTTED ||
	    length + p->token.length >= sizeof text)
		return name;
	memcpy(text, name, length);
	memcpy(text + length, p->token.text, p->token.length);
	length += p->token.length;
	gkf_parse_take(p);
	return gkf_parse_intern(p, text, length);
}

static void name_operand(struct gkf_ptx_parser *p, struct gkf_ptx_operand *o)
{
	const char *name = word(p);
	int64_t r = gkf_symbol_register(p, name);

	if (r >= 0) {
		o->kind = GKF_PTX_OP_REG;
		o->index = (uint32_t)r;
	} else {
		symbol(p, o, name);
	}
}

static void number_operand(struct gkf_ptx_parser *p, struct gkf_ptx_operand *o)
{
	bool negative = false;
	struct gkf_ptx_token t;

	while (gkf_parse_is(p, '-') || gkf_parse_is(p, '+'))
		negative ^= gkf_parse_take(p).sign == '-';
	t = gkf_parse_take(p);
	o->value = (int64_t)t.value;
	if (t.kind == GKF_PTX_INTEGER) {
		o->kind = GKF_PTX_OP_INT;
		o->value = (int64_t)(negative ? 0 - t.value : t.value);
	} else if (t.kind == GKF_PTX_SINGLE) {
		o->kind = GKF_PTX_OP_F32;
		o->value ^= (int64_t)negative << 31;
	} else if (t.kind == GKF_PTX_DOUBLE) {
		o->kind = GKF_PTX_OP_F64;
		o->value = (int64_t)(t.value ^ (uint64_t)negative << 63);
	} else {
		gkf_parse_fail_at(p, t.line,
				  "\"%.*s\" where an operand should be",
				  t.length > 40 ? 40 : (int)t.length, t.text);
	}
}

/* [base], [base + 4], [base, {x, y}] */
static void address(struct gkf_ptx_parser *p, struct gkf_ptx_operand *o,
		    unsigned depth)
{
	struct gkf_ptx_operand base = {0}, *room;
	int64_t offset = 0;

	operand(p, &base, depth + 1);
	if (gkf_parse_is(p, '+') || gkf_parse_is(p, '-')) {
		gkf_parse_try(p, '+');
		offset = gkf_parse_signed(p);
	}
	if (gkf_parse_try(p, ',')) {
		struct gkf_ptx_operand rest = {0};

		operands(p, &rest, ']', depth + 1);
		o->kind = GKF_PTX_OP_ADDRESSES;
	} else {
		gkf_parse_expect(p, ']');
		o->kind = GKF_PTX_OP_ADDRESS;
	}
	o->index = (uint32_t)p->operands_count;
	o->count = 1;
	o->value = offset;
	room = GKF_APPEND(p, operands);
	if (room)
		*room = base;
}

static void pair(struct gkf_ptx_parser *p, struct gkf_ptx_operand *o,
		 unsigned depth)
{
	struct gkf_ptx_operand both[2] = {*o}, *room;

	operand(p, &both[1], depth + 1);
	*o = (struct gkf_ptx_operand){.kind = GKF_PTX_OP_PAIR,
				      .count = 2,
				      .index = (uint32_t)p->operands_count};
	for (unsigned i = 0; i < 2; i++) {
		room = GKF_APPEND(p, operands);
		if (!room)
			return;
		*room = both[i];
	}
}

static void operand(struct gkf_ptx_parser *p, struct gkf_ptx_operand *o,
		    unsigned depth)
{
	memset(o, 0, sizeof *o);
	if (depth > NESTING_MAX) {
		gkf_parse_fail(p, "operands in operands in operands");
		return;
	}
	o->negated = gkf_parse_try(p, '!');
	if (p->token.kind == GKF_PTX_WORD) {
		name_operand(p, o);
	} else if (gkf_parse_try(p, '[')) {
		address(p, o, depth);
	} else if (gkf_parse_try(p, '{')) {
		operands(p, o, '}', depth + 1);
		o->kind = GKF_PTX_OP_VECTOR;
	} else if (gkf_parse_try(p, '(')) {
		operands(p, o, ')', depth + 1);
		o->kind = GKF_PTX_OP_LIST;
	} else {
		number_operand(p, o);
	}
	if (gkf_parse_try(p, '|'))
		pair(p, o, depth);
}

/* Labels of the operands from first on. */
static void note_labels(struct gkf_ptx_parser *p, size_t first)
{
	for (size_t i = first; i < p->operands_count && !p->error; i++)
		if (p->operands[i].kind == GKF_PTX_OP_LABEL)
			gkf_label_use(p, (uint32_t)i, p->operands[i].name);
}

/* "ld" and the modifiers that follow. */
static const char *opcode(struct gkf_ptx_parser *p)
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

static struct gkf_ptx_instruction *add(struct gkf_ptx_parser *p)
{
	struct gkf_ptx_instruction *i = GKF_APPEND(p, code);

	if (i)
		*i = (struct gkf_ptx_instruction){.line = p->token.line,
						  .guard = GKF_PTX_NO_GUARD};
	return i;
}

static void guard(struct gkf_ptx_parser *p, struct gkf_ptx_instruction *i)
{
	int64_t r;

	i->guard_negated = gkf_parse_try(p, '!');
	r = gkf_symbol_register(p, gkf_parse_name(p));
	if (r < 0 || p->registers[r].type != GKF_PTX_T_pred)
		gkf_parse_fail(p, "a guard is a predicate register");
	else
		i->guard = (uint32_t)r;
}

/* From the opcode, or from a table's directive, to ';'. */
static void instruction(struct gkf_ptx_parser *p)
{
	struct gkf_ptx_instruction i = {0}, *room = add(p);
	size_t first = p->operands_count;
	struct gkf_ptx_operand all = {0};

	if (!room)
		return;
	i = *room;
	if (gkf_parse_try(p, '@'))
		guard(p, &i);
	if (p->token.kind != GKF_PTX_WORD && p->token.kind != GKF_PTX_DOTTED)
		gkf_parse_name(p); /* fails */
	i.name = opcode(p);
	operands(p, &all, ';', 0);
	i.first = all.index;
	i.count = all.count;
	note_labels(p, first);
	p->code[p->code_count - 1] = i;
}

/* A prototype of an indirect call: kept as a name, and not looked into. */
static void prototype(struct gkf_ptx_parser *p)
{
	struct gkf_ptx_instruction *i = add(p);

	if (i)
		i->name = gkf_parse_intern(p, ".callprototype", 14);
	while (!gkf_parse_is(p, ';') && p->token.kind != GKF_PTX_END)
		gkf_parse_take(p);
	gkf_parse_expect(p, ';');
}

static bool is_label(struct gkf_ptx_parser *p)
{
	struct gkf_ptx_lexer ahead = p->lexer;
	struct gkf_ptx_token t;

	if (p->token.kind != GKF_PTX_WORD)
		return false;
	t = gkf_ptx_lex(&ahead);
	return t.kind == GKF_PTX_SIGN && t.sign == ':';
}

static void statement(struct gkf_ptx_parser *p)
{
	enum gkf_ptx_space space = gkf_parse_space(p);

	if (gkf_parse_try(p, ';') || gkf_parse_skip(p)) {
		;
	} else if (gkf_parse_try(p, '{')) {
		gkf_scope_enter(p);
	} else if (space == GKF_PTX_REG) {
		gkf_parse_take(p);
		registers(p);
	} else if (space) {
		gkf_parse_take(p);
		gkf_parse_variables(p, space, GKF_PTX_INTERNAL);
	} else if (is_label(p)) {
		gkf_label_add(p, gkf_parse_name(p));
		gkf_parse_expect(p, ':');
	} else if (gkf_parse_is_word(p, ".callprototype")) {
		prototype(p);
	} else {
		instruction(p);
	}
}

/* A function ends as if by "ret", which labels at its end lead to. */
static void end(struct gkf_ptx_parser *p)
{
	struct gkf_ptx_instruction *i = add(p);

	if (i)
		i->name = gkf_parse_intern(p, "ret", 3);
}

void gkf_parse_body(struct gkf_ptx_parser *p)
{
	unsigned depth = p->depth;
	struct gkf_ptx_function *f = p->function;

	p->code = NULL;
	p->operands = NULL;
	p->registers = NULL;
	p->code_count = p->operands_count = p->registers_count = 0;
	p->code_room = p->operands_room = p->registers_room = 0;
	gkf_parse_expect(p, '{');
	while (p->token.kind != GKF_PTX_END) {
		if (!gkf_parse_is(p, '}'))
			statement(p);
		else if (p->depth > depth)
			gkf_scope_leave(p), gkf_parse_take(p);
		else
			break;
	}
	gkf_parse_expect(p, '}');
	end(p);
	f->has_body = true;
	f->code = p->code;
	f->code_count = (uint32_t)p->code_count;
	f->operands = p->operands;
	f->operand_count = (uint32_t)p->operands_count;
	f->registers = p->registers;
	f->register_count = (uint32_t)p->registers_count;
}
