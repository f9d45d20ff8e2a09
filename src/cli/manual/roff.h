/* SPDX-License-Identifier: Apache-2.0 */
/* roff.h - writes text as lines of man(7). */
#ifndef GK_CLI_MANUAL_ROFF_H
#define GK_CLI_MANUAL_ROFF_H

#include "base/str.h"

/* Appends bytes as they are to be read, with every special one escaped. */
void roff_literal(struct gk_buf *out, const char *text, size_t len);

/*
 * Appends a text on lines of its own: `code` and --options are bold. A sentence
 * begins a line, and no line is longer than 80 bytes.
 */
void roff_text(struct gk_buf *out, const char *text, size_t len);

/* The same for several paragraphs, which an empty line separates. */
void roff_paragraphs(struct gk_buf *out, const char *text);

/*
 * Appends a usage, such as "[OPTION...] FILE": names in capitals are italic,
 * all other words bold. Without a new line.
 */
void roff_usage(struct gk_buf *out, const char *text, size_t len);

#endif
