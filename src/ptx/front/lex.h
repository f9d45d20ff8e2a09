/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lex.h - splits PTX text into tokens, which point into it. Never reads past
 * the end of the text, whatever it contains.
 */
#ifndef GKF_PTX_LEX_H
#define GKF_PTX_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gkf_ptx_token_kind {
	GKF_PTX_END,
	GKF_PTX_WORD,   /* name, %name, $name */
	GKF_PTX_DOTTED, /* .name, .L2::cache_hint */
	GKF_PTX_INTEGER,
	GKF_PTX_SINGLE, /* 0f3F800000: value holds the bits */
	GKF_PTX_DOUBLE, /* 0d..., 1.5: value holds the bits */
	GKF_PTX_STRING, /* text without its quotes */
	GKF_PTX_SIGN,   /* one character, in `sign` */
	GKF_PTX_BAD,
};

struct gkf_ptx_token {
	enum gkf_ptx_token_kind kind;
	char sign;
	uint32_t line;
	const char *text;
	size_t length;
	uint64_t value;
};

struct gkf_ptx_lexer {
	const char *at, *end;
	uint32_t line;
};

/* Returns the next token; at the end of the text always GKF_PTX_END. */
struct gkf_ptx_token gkf_ptx_lex(struct gkf_ptx_lexer *lexer);

/* Skips to the end of the line. */
void gkf_ptx_lex_skip_line(struct gkf_ptx_lexer *lexer);

#endif
