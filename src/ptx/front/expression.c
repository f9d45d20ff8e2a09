/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expression.c - parses and evaluates constant expressions: C's operators and
 * precedence, on doubles and on 64-bit integers, which are signed unless they
 * do not fit or end with U (PTX ISA, "Constants").
 */
#include "ptx/front/parse.h"

#include <string.h>

#define NESTING_MAX 64

static struct gkf_ptx_number parse_expression(struct gkf_ptx_parser *p,
					      unsigned low, unsigned depth);

enum operation {
	OP_OR_ELSE,
	OP_AND_THEN,
	OP_OR,
	OP_XOR,
	OP_AND,
	OP_EQ,
	OP_NE,
	OP_LE,
	OP_GE,
	OP_SHL,
	OP_SHR,
	OP_LT,
	OP_GT,
	OP_ADD,
	OP_SUB,
	OP_MUL,
	OP_DIV,
	OP_REM,
};

/* Longer operators come before their own prefixes: "<=" before "<". */
static const struct operator
{
	const char *text;
	uint8_t binds, operation;
}
operators[] = {
    {"||", 1, OP_OR_ELSE}, {"&&", 2, OP_AND_THEN}, {"|", 3, OP_OR},
    {"^", 4, OP_XOR},      {"&", 5, OP_AND},       {"==", 6, OP_EQ},
    {"!=", 6, OP_NE},      {"<=", 7, OP_LE},       {">=", 7, OP_GE},
    {"<<", 8, OP_SHL},     {">>", 8, OP_SHR},      {"<", 7, OP_LT},
    {">", 7, OP_GT},       {"+", 9, OP_ADD},       {"-", 9, OP_SUB},
    {"*", 10, OP_MUL},     {"/", 10, OP_DIV},      {"%", 10, OP_REM},
};

static struct gkf_ptx_number whole_number(uint64_t value, bool is_unsigned)
{
	return (struct gkf_ptx_number){GKF_PTX_INTEGER, is_unsigned, value};
}

static double as_double(struct gkf_ptx_number n)
{
	double d;

	memcpy(&d, &n.value, sizeof d);
	return d;
}

static struct gkf_ptx_number real_number(double d)
{
	struct gkf_ptx_number n = {.kind = GKF_PTX_DOUBLE};

	memcpy(&n.value, &d, sizeof d);
	return n;
}

/* Returns the quotient or, if `rest` is set, the remainder. */
static struct gkf_ptx_number divide_integers(struct gkf_ptx_parser *p,
					     bool rest, struct gkf_ptx_number a,
					     struct gkf_ptx_number b)
{
	uint64_t x = a.value, y = b.value;

	if (!y) {
		gkf_parse_fail(p, "division by zero");
		return a;
	}
	if (a.is_unsigned || b.is_unsigned)
		return whole_number(rest ? x % y : x / y, true);
	if (y == UINT64_MAX) /* the divisor is -1 */
		return whole_number(rest ? 0 : 0 - x, false);
	return whole_number((uint64_t)(rest ? (int64_t)x % (int64_t)y
					    : (int64_t)x / (int64_t)y),
			    false);
}

static struct gkf_ptx_number combine_integers(struct gkf_ptx_parser *p,
					      enum operation op,
					      struct gkf_ptx_number a,
					      struct gkf_ptx_number b)
{
	uint64_t x = a.value, y = b.value;
	bool u = a.is_unsigned || b.is_unsigned;
	bool less = u ? x < y : (int64_t)x < (int64_t)y;

	switch (op) {
	case OP_OR_ELSE:
		return whole_number(x || y, false);
	case OP_AND_THEN:
		return whole_number(x && y, false);
	case OP_OR:
		return whole_number(x | y, u);
	case OP_XOR:
		return whole_number(x ^ y, u);
	case OP_AND:
		return whole_number(x & y, u);
	case OP_EQ:
		return whole_number(x == y, false);
	case OP_NE:
		return whole_number(x != y, false);
	case OP_LE:
		return whole_number(less || x == y, false);
	case OP_GE:
		return whole_number(!less, false);
	case OP_LT:
		return whole_number(less, false);
	case OP_GT:
		return whole_number(!less && x != y, false);
	case OP_SHL:
		return whole_number(x << (y & 63), a.is_unsigned);
	case OP_SHR:
		y &= 63;
		return whole_number(a.is_unsigned ? x >> y
						  : (uint64_t)((int64_t)x >> y),
				    a.is_unsigned);
	case OP_ADD:
		return whole_number(x + y, u);
	case OP_SUB:
		return whole_number(x - y, u);
	case OP_MUL:
		return whole_number(x * y, u);
	case OP_DIV:
	case OP_REM:
		break;
	}
	return divide_integers(p, op == OP_REM, a, b);
}

static struct gkf_ptx_number
combine_doubles(struct gkf_ptx_parser *p, enum operation op, double x, double y)
{
	switch (op) {
	case OP_OR_ELSE:
		return whole_number(x != 0 || y != 0, false);
	case OP_AND_THEN:
		return whole_number(x != 0 && y != 0, false);
	case OP_EQ:
		return whole_number(x == y, false);
	case OP_NE:
		return whole_number(x != y, false);
	case OP_LE:
		return whole_number(x <= y, false);
	case OP_GE:
		return whole_number(x >= y, false);
	case OP_LT:
		return whole_number(x < y, false);
	case OP_GT:
		return whole_number(x > y, false);
	case OP_ADD:
		return real_number(x + y);
	case OP_SUB:
		return real_number(x - y);
	case OP_MUL:
		return real_number(x * y);
	case OP_DIV:
		return real_number(x / y);
	case OP_OR:
	case OP_XOR:
	case OP_AND:
	case OP_SHL:
	case OP_SHR:
	case OP_REM:
		break;
	}
	gkf_parse_fail(p, "an integer operator on doubles");
	return real_number(0);
}

/* Returns the operator that begins at the current token, or NULL. */
static const struct operator* operator_at(const struct gkf_ptx_parser *p)
{
	const char *at = p->token.text;

	if (p->token.kind != GKF_PTX_SIGN && !gkf_parse_is_word(p, "%"))
		return NULL; /* the lexer reports a lone "%" as a word */
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
		const char *text = operators[i].text;
		size_t length = strlen(text);

		if (length <= (size_t)(p->lexer.end - at) &&
		    !memcmp(text, at, length))
			return &operators[i];
	}
	return NULL;
}

/* Fails unless n is an integer. */
static struct gkf_ptx_number require_integer(struct gkf_ptx_parser *p,
					     struct gkf_ptx_number n)
{
	if (n.kind == GKF_PTX_INTEGER)
		return n;
	gkf_parse_fail(p, "not an integer");
	return whole_number(0, false);
}

/* Parses a cast, such as (.s64), and its operand; "(" was already read. */
static struct gkf_ptx_number parse_cast(struct gkf_ptx_parser *p,
					unsigned depth)
{
	bool is_unsigned = gkf_parse_is_word(p, ".u64");

	if (!is_unsigned && !gkf_parse_is_word(p, ".s64"))
		gkf_parse_unexpected(p, ".s64 or .u64");
	gkf_parse_take(p);
	gkf_parse_expect(p, ')');
	return whole_number(
	    require_integer(p, parse_expression(p, 11, depth)).value,
	    is_unsigned);
}

static struct gkf_ptx_number parse_literal(struct gkf_ptx_parser *p)
{
	struct gkf_ptx_token t = p->token;
	struct gkf_ptx_number n = {.kind = (uint8_t)t.kind, .value = t.value};

	if (gkf_parse_try_word(p, "WARP_SZ"))
		return whole_number(32, false);
	if (t.kind != GKF_PTX_INTEGER && t.kind != GKF_PTX_SINGLE &&
	    t.kind != GKF_PTX_DOUBLE) {
		gkf_parse_unexpected(p, "a number");
		return whole_number(0, false);
	}
	gkf_parse_take(p);
	n.is_unsigned = t.kind == GKF_PTX_INTEGER &&
			(t.value > INT64_MAX || t.text[t.length - 1] == 'U');
	return n;
}

static struct gkf_ptx_number negate_number(struct gkf_ptx_number n)
{
	if (n.kind == GKF_PTX_INTEGER)
		n.value = 0 - n.value;
	else
		n.value ^= (uint64_t)1 << (n.kind == GKF_PTX_SINGLE ? 31 : 63);
	return n;
}

/*
 * Parses an operand and its unary operators, which bind tighter than binary
 * ones.
 */
static struct gkf_ptx_number parse_unary(struct gkf_ptx_parser *p,
					 unsigned depth)
{
	struct gkf_ptx_number n;
	char sign;

	if (depth > NESTING_MAX) {
		gkf_parse_fail(p, "an expression is nested too deeply");
		return whole_number(0, false);
	}
	if (p->token.kind != GKF_PTX_SIGN)
		return parse_literal(p);
	sign = p->token.sign;
	if (!strchr("+-!~(", sign)) {
		gkf_parse_unexpected(p, "an operand");
		return whole_number(0, false);
	}
	gkf_parse_take(p);
	if (sign == '(' && p->token.kind == GKF_PTX_DOTTED)
		return parse_cast(p, depth);
	n = parse_expression(p, sign == '(' ? 0 : 11, depth);
	if (sign == '(')
		gkf_parse_expect(p, ')');
	else if (sign == '-')
		return negate_number(n);
	else if (sign == '!')
		return whole_number(!require_integer(p, n).value, false);
	else if (sign == '~')
		return whole_number(~require_integer(p, n).value, true);
	return n;
}

static struct gkf_ptx_number parse_choice(struct gkf_ptx_parser *p,
					  struct gkf_ptx_number which,
					  unsigned depth)
{
	struct gkf_ptx_number yes, no;

	yes = require_integer(p, parse_expression(p, 0, depth));
	gkf_parse_expect(p, ':');
	no = require_integer(p, parse_expression(p, 0, depth));
	return require_integer(p, which).value ? yes : no;
}

/*
 * Applies a binary operator. Fails if an operand is a 0f literal, or if only
 * one operand is an integer.
 */
static struct gkf_ptx_number combine_numbers(struct gkf_ptx_parser *p,
					     enum operation op,
					     struct gkf_ptx_number a,
					     struct gkf_ptx_number b)
{
	if (a.kind == GKF_PTX_INTEGER && b.kind == GKF_PTX_INTEGER)
		return combine_integers(p, op, a, b);
	if (a.kind == GKF_PTX_DOUBLE && b.kind == GKF_PTX_DOUBLE)
		return combine_doubles(p, op, as_double(a), as_double(b));
	gkf_parse_fail(p, "operands of different types");
	return a;
}

/* Parses an expression whose operators bind at least as tightly as `low`. */
static struct gkf_ptx_number parse_expression(struct gkf_ptx_parser *p,
					      unsigned low, unsigned depth)
{
	struct gkf_ptx_number n = parse_unary(p, depth + 1), next;
	const struct operator* o;

	while ((o = operator_at(p)) && o->binds >= low && low < 11) {
		for (size_t i = strlen(o->text); i; i--)
			gkf_parse_take(p);
		next = parse_expression(p, o->binds + 1U, depth + 1);
		n = combine_numbers(p, (enum operation)o->operation, n, next);
	}
	if (!low && gkf_parse_try(p, '?'))
		return parse_choice(p, n, depth + 1);
	return n;
}

struct gkf_ptx_number gkf_parse_constant(struct gkf_ptx_parser *p)
{
	return parse_expression(p, 0, 0);
}

int64_t gkf_parse_signed(struct gkf_ptx_parser *p)
{
	return (int64_t)require_integer(p, gkf_parse_constant(p)).value;
}

uint64_t gkf_parse_size(struct gkf_ptx_parser *p, uint64_t max)
{
	uint32_t line = p->token.line;
	struct gkf_ptx_number n = require_integer(p, gkf_parse_constant(p));

	if (n.value > max)
		gkf_parse_fail_at(p, line, "%lld is not a valid size",
				  (long long)n.value);
	return n.value > max ? 0 : n.value;
}

int64_t gkf_parse_offset(struct gkf_ptx_parser *p)
{
	if (!gkf_parse_is(p, '+') && !gkf_parse_is(p, '-'))
		return 0;
	gkf_parse_try(p, '+');
	return gkf_parse_signed(p);
}
