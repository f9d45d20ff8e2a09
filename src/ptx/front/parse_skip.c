/* SPDX-License-Identifier: Apache-2.0 */
/* parse_skip.c - skips directives that we ignore: debug info and pragmas. */
#include "ptx/front/parse.h"

/* Skips the rest of a line such as @@DWARF or # 1 "file". */
static void skip_line(struct gkf_ptx_parser *p)
{
	uint32_t line = p->token.line;

	if (p->lexer.line == line)
		gkf_ptx_lex_skip_line(&p->lexer);
	gkf_parse_take(p);
}

static void skip_integers(struct gkf_ptx_parser *p, unsigned count)
{
	while (count--)
		gkf_parse_number(p, UINT64_MAX);
}

/* .file 1 "name", perhaps with a time and a size */
static void skip_file(struct gkf_ptx_parser *p)
{
	skip_integers(p, 1);
	if (p->token.kind == GKF_PTX_STRING)
		gkf_parse_take(p);
	else
		gkf_parse_unexpected(p, "a quoted name");
	while (gkf_parse_try(p, ','))
		skip_integers(p, 1);
}

/* .loc 1 2 3, function_name label+4, inlined_at 1 2 3 */
static void skip_loc(struct gkf_ptx_parser *p)
{
	skip_integers(p, 3);
	while (gkf_parse_try(p, ',')) {
		if (gkf_parse_try_word(p, "inlined_at")) {
			skip_integers(p, 3);
		} else {
			gkf_parse_try_word(p, "function_name");
			gkf_parse_name(p);
			gkf_parse_offset(p);
		}
	}
}

static void skip_braces(struct gkf_ptx_parser *p)
{
	unsigned depth = 0;

	do {
		depth += gkf_parse_is(p, '{');
		depth -= depth && gkf_parse_is(p, '}');
		gkf_parse_take(p);
	} while (p->token.kind != GKF_PTX_END && depth);
}

bool gkf_parse_skip(struct gkf_ptx_parser *p)
{
	struct gkf_ptx_token next = {.kind = GKF_PTX_END};

	if (gkf_parse_is(p, '@') || gkf_parse_is(p, '#'))
		next = gkf_parse_peek(p);
	if (next.kind == GKF_PTX_SIGN ? next.sign == '@'
				      : next.kind == GKF_PTX_INTEGER) {
		skip_line(p);
	} else if (gkf_parse_try_word(p, ".loc")) {
		skip_loc(p);
	} else if (gkf_parse_try_word(p, ".file")) {
		skip_file(p);
	} else if (gkf_parse_try_word(p, ".section")) {
		gkf_parse_take(p);
		skip_braces(p);
	} else if (gkf_parse_try_word(p, ".pragma")) {
		while (p->token.kind == GKF_PTX_STRING || gkf_parse_is(p, ','))
			gkf_parse_take(p);
		gkf_parse_expect(p, ';');
	} else {
		return false;
	}
	return true;
}
