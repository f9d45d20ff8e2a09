/* SPDX-License-Identifier: Apache-2.0 */
/* parse_token.c - takes tokens, grows arrays and records the first error. */
#include "base/err.h"
#include "ptx/front/parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static __attribute__((format(printf, 3, 0))) void
fail(struct gkf_ptx_parser *p, uint32_t line, const char *format, va_list args)
{
	int n;

	if (p->error)
		return;
	p->error = GK_ERR_CORRUPT;
	n = snprintf(p->message, GKF_PTX_MESSAGE_MAX, "line %u: ", line);
	vsnprintf(p->message + n, GKF_PTX_MESSAGE_MAX - (size_t)n, format,
		  args);
	p->token = (struct gkf_ptx_token){.kind = GKF_PTX_END, .text = ""};
}

void gkf_parse_fail(struct gkf_ptx_parser *p, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fail(p, p->token.line, format, args);
	va_end(args);
}

void gkf_parse_fail_at(struct gkf_ptx_parser *p, uint32_t line,
		       const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fail(p, line, format, args);
	va_end(args);
}

void gkf_parse_no_memory(struct gkf_ptx_parser *p)
{
	gkf_parse_fail(p, "out of memory");
	if (p->error == GK_ERR_CORRUPT)
		p->error = GK_ERR_NOMEM;
}

void *gkf_parse_grow(struct gkf_ptx_parser *p, const void *array, size_t count,
		     size_t *room, size_t element)
{
	void *grown = gkf_arena_grow(&p->scratch, array, count, room, element);

	if (!grown)
		gkf_parse_no_memory(p);
	return grown;
}

const void *gkf_parse_keep(struct gkf_ptx_parser *p, const void *array,
			   size_t count, size_t element)
{
	void *kept = count ? gkf_arena_get(p->arena, count * element) : NULL;

	if (kept)
		memcpy(kept, array, count * element);
	else if (count)
		gkf_parse_no_memory(p);
	return kept;
}

void *gkf_parse_room(struct gkf_ptx_parser *p, const void *array, size_t count,
		     size_t *room, size_t element)
{
	void *grown = gkf_arena_grow(p->arena, array, count, room, element);

	if (!grown)
		gkf_parse_no_memory(p);
	return grown;
}

struct gkf_ptx_token gkf_parse_take(struct gkf_ptx_parser *p)
{
	struct gkf_ptx_token taken = p->token;

	if (!p->error)
		p->token = gkf_ptx_lex(&p->lexer);
	if (p->token.kind == GKF_PTX_BAD)
		gkf_parse_fail(
		    p, "not a number or a string: \"%.*s\"",
		    (int)(p->token.length > 40 ? 40 : p->token.length),
		    p->token.text);
	return taken;
}

bool gkf_parse_is(const struct gkf_ptx_parser *p, char sign)
{
	return p->token.kind == GKF_PTX_SIGN && p->token.sign == sign;
}

bool gkf_parse_is_word(const struct gkf_ptx_parser *p, const char *word)
{
	return (p->token.kind == GKF_PTX_WORD ||
		p->token.kind == GKF_PTX_DOTTED) &&
	       /* a quick test, which usually fails */
	       word[0] == p->token.text[0] && strlen(word) == p->token.length &&
	       !memcmp(word, p->token.text, p->token.length);
}

bool gkf_parse_try(struct gkf_ptx_parser *p, char sign)
{
	bool is = gkf_parse_is(p, sign);

	if (is)
		gkf_parse_take(p);
	return is;
}

bool gkf_parse_try_word(struct gkf_ptx_parser *p, const char *word)
{
	bool is = gkf_parse_is_word(p, word);

	if (is)
		gkf_parse_take(p);
	return is;
}

/* Returns the token after p->token without taking it. */
struct gkf_ptx_token gkf_parse_peek(const struct gkf_ptx_parser *p)
{
	struct gkf_ptx_lexer ahead = p->lexer;

	return gkf_ptx_lex(&ahead);
}

void gkf_parse_unexpected(struct gkf_ptx_parser *p, const char *wanted)
{
	int n = p->token.length > 40 ? 40 : (int)p->token.length;

	if (p->token.kind == GKF_PTX_END)
		gkf_parse_fail(p, "expected %s, found the end", wanted);
	else
		gkf_parse_fail(p, "expected %s, found \"%.*s\"", wanted, n,
			       p->token.text);
}

void gkf_parse_expect(struct gkf_ptx_parser *p, char sign)
{
	char wanted[] = {'"', sign, '"', '\0'};

	if (!gkf_parse_try(p, sign))
		gkf_parse_unexpected(p, wanted);
}

uint64_t gkf_parse_number(struct gkf_ptx_parser *p, uint64_t max)
{
	if (p->token.kind != GKF_PTX_INTEGER) {
		gkf_parse_unexpected(p, "a number");
		return 0;
	}
	if (p->token.value > max) {
		gkf_parse_fail(p, "%.*s is too large", (int)p->token.length,
			       p->token.text);
		return 0;
	}
	return gkf_parse_take(p).value;
}
