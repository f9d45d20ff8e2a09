/* SPDX-License-Identifier: Apache-2.0 */
/* roff.h - writes text as lines of man(7). */
#ifndef GK_CLI_MANUAL_ROFF_H
#define GK_CLI_MANUAL_ROFF_H

#include "base/str.h"

/* Adds bytes that roff prints literally: escapes all special characters. */
void roff_literal(struct gk_buf *out, const char *text, size_t len);

/*
 * Adds a text as lines of its own, with `code` and --options in bold. Each
 * sentence begins a new line, and no line is longer than 80 bytes.
 */
void roff_text(struct gk_buf *out, const char *text, size_t len);

/* Does the same for several paragraphs, separated by empty lines. */
void roff_paragraphs(struct gk_buf *out, const char *text);

/*
 * Adds a usage, such as "[OPTION...] FILE", without a newline. Words in
 * capitals are italic, all others bold.
 */
void roff_usage(struct gk_buf *out, const char *text, size_t len);

#endif
