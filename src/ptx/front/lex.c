/* SPDX-License-Identifier: Apache-2.0 */
/* lex.c - splits PTX text into tokens. */
#include "ptx/front/lex.h"

#include <stdlib.h>
#include <string.h>

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       c == '$' || c == '%';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int digit_value(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 99;
}

static char peek_char(const struct gkf_ptx_lexer *l, size_t ahead)
{
	return ahead < (size_t)(l->end - l->at) ? l->at[ahead] : '\0';
}

static void skip_comment(struct gkf_ptx_lexer *l)
{
	l->at += 2;
	while (l->at < l->end && !(l->at[0] == '*' && peek_char(l, 1) == '/'))
		l->line += *l->at++ == '\n';
	l->at += l->at < l->end ? 2 : 0;
}

void gkf_ptx_lex_skip_line(struct gkf_ptx_lexer *l)
{
	while (l->at < l->end && *l->at != '\n')
		l->at++;
}

static void skip_space(struct gkf_ptx_lexer *l)
{
	for (; l->at < l->end; l->at++) {
		while (peek_char(l, 0) == '/' &&
		       (peek_char(l, 1) == '/' || peek_char(l, 1) == '*'))
			if (peek_char(l, 1) == '/')
				gkf_ptx_lex_skip_line(l);
			else
				skip_comment(l);
		if (l->at >= l->end)
			break;
		l->line += *l->at == '\n';
		if (!memchr(" \t\r\n\f\v", *l->at, 6))
			break;
	}
}

/*
 * Reads digits of the given base; false if there are none or the value
 * overflows.
 */
static bool lex_digits(struct gkf_ptx_lexer *l, int base, uint64_t *ret_value)
{
	uint64_t value = 0;
	const char *start = l->at;

	while (digit_value(peek_char(l, 0)) < base) {
		uint64_t d = (uint64_t)digit_value(*l->at);

		if (value > (UINT64_MAX - d) / (uint64_t)base)
			return false;
		value = value * (uint64_t)base + d;
		l->at++;
	}
	*ret_value = value;
	return l->at > start;
}

/* Reads 0f or 0d, followed by exactly `count` hexadecimal digits. */
static void lex_bits(struct gkf_ptx_lexer *l, struct gkf_ptx_token *t,
		     long count)
{
	const char *start = l->at += 2;

	t->kind = count == 8 ? GKF_PTX_SINGLE : GKF_PTX_DOUBLE;
	if (!lex_digits(l, 16, &t->value) || l->at - start != count)
		t->kind = GKF_PTX_BAD;
}

static bool is_fraction(const struct gkf_ptx_lexer *l)
{
	size_t i = 0;

	while (is_digit(peek_char(l, i)))
		i++;
	return peek_char(l, i) == '.' ||
	       ((peek_char(l, i) == 'e' || peek_char(l, i) == 'E') &&
		(is_digit(peek_char(l, i + 1)) || peek_char(l, i + 1) == '-' ||
		 peek_char(l, i + 1) == '+'));
}

/* True for .5 and .5e3, but not for the modifiers .2d and .64x128b. */
static bool is_bare_fraction(const struct gkf_ptx_lexer *l)
{
	size_t i = 1;

	while (is_digit(peek_char(l, i)))
		i++;
	if (i > 1 && (peek_char(l, i) == 'e' || peek_char(l, i) == 'E'))
		return is_digit(peek_char(l, i + 1)) ||
		       peek_char(l, i + 1) == '-' || peek_char(l, i + 1) == '+';
	return i > 1 && !is_letter(peek_char(l, i));
}

static void lex_fraction(struct gkf_ptx_lexer *l, struct gkf_ptx_token *t)
{
	char text[64], *end;
	size_t n = 0;
	double value;

	while (n < sizeof text - 1 &&
	       (is_digit(peek_char(l, n)) || peek_char(l, n) == '.' ||
		peek_char(l, n) == 'e' || peek_char(l, n) == 'E' ||
		((peek_char(l, n) == '-' || peek_char(l, n) == '+') &&
		 (peek_char(l, n - 1) == 'e' || peek_char(l, n - 1) == 'E')))) {
		text[n] = l->at[n];
		n++;
	}
	text[n] = '\0';
	value = strtod(text, &end);
	t->kind = end == text + n ? GKF_PTX_DOUBLE : GKF_PTX_BAD;
	memcpy(&t->value, &value, sizeof value);
	l->at += n;
}

static void lex_integer(struct gkf_ptx_lexer *l, struct gkf_ptx_token *t)
{
	char second = (char)(peek_char(l, 1) | 0x20);
	int base = 10;

	if (peek_char(l, 0) == '0' && (second == 'x' || second == 'b')) {
		base = second == 'x' ? 16 : 2;
		l->at += 2;
	} else if (peek_char(l, 0) == '0' && is_digit(peek_char(l, 1))) {
		base = 8;
		l->at++;
	}
	t->kind =
	    lex_digits(l, base, &t->value) ? GKF_PTX_INTEGER : GKF_PTX_BAD;
	if (peek_char(l, 0) == 'U')
		l->at++;
	if ((is_letter(peek_char(l, 0)) && peek_char(l, 0) != '%') ||
	    is_digit(peek_char(l, 0)))
		t->kind = GKF_PTX_BAD;
}

static void lex_number(struct gkf_ptx_lexer *l, struct gkf_ptx_token *t)
{
	char second = (char)(peek_char(l, 1) | 0x20);

	if (peek_char(l, 0) == '0' && second == 'f')
		lex_bits(l, t, 8);
	else if (peek_char(l, 0) == '0' && second == 'd')
		lex_bits(l, t, 16);
	else if (second != 'x' && is_fraction(l))
		lex_fraction(l, t);
	else
		lex_integer(l, t);
}

static void lex_word(struct gkf_ptx_lexer *l, struct gkf_ptx_token *t)
{
	bool dotted = *l->at == '.';

	t->kind = dotted ? GKF_PTX_DOTTED : GKF_PTX_WORD;
	l->at++;
	for (;;) {
		if (is_letter(peek_char(l, 0)) || is_digit(peek_char(l, 0)))
			l->at++;
		else if (dotted && peek_char(l, 0) == ':' &&
			 peek_char(l, 1) == ':' &&
			 (is_letter(peek_char(l, 2)) ||
			  is_digit(peek_char(l, 2))))
			l->at += 2;
		else
			break;
	}
	t->length = (size_t)(l->at - t->text);
}

static void lex_string(struct gkf_ptx_lexer *l, struct gkf_ptx_token *t)
{
	const char *start = ++l->at;

	while (l->at < l->end && *l->at != '"' && *l->at != '\n')
		l->at++;
	t->kind = peek_char(l, 0) == '"' ? GKF_PTX_STRING : GKF_PTX_BAD;
	t->text = start;
	t->length = (size_t)(l->at - start);
	l->at += l->at < l->end;
}

struct gkf_ptx_token gkf_ptx_lex(struct gkf_ptx_lexer *l)
{
	struct gkf_ptx_token t = {.kind = GKF_PTX_END};

	skip_space(l);
	t.line = l->line;
	t.text = l->at;
	if (l->at >= l->end || !*l->at) {
		l->at = l->end;
		return t;
	}
	t.length = 1;
	if (is_digit(*l->at)) {
		lex_number(l, &t);
		t.length = (size_t)(l->at - t.text);
	} else if (*l->at == '.' && is_bare_fraction(l)) {
		lex_fraction(l, &t);
		t.length = (size_t)(l->at - t.text);
	} else if (is_letter(*l->at) ||
		   (*l->at == '.' && (is_letter(peek_char(l, 1)) ||
				      is_digit(peek_char(l, 1))))) {
		lex_word(l, &t);
	} else if (*l->at == '"') {
		lex_string(l, &t);
	} else {
		t.kind = GKF_PTX_SIGN;
		t.sign = *l->at++;
	}
	return t;
}
