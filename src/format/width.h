/* SPDX-License-Identifier: Apache-2.0 */
/*
 * width.h - measures UTF-8 text in terminal columns, and cuts and pads it by
 * columns. The widths of wide and combining characters come from the C library,
 * so LC_CTYPE must be set to a UTF-8 locale.
 */
#ifndef GK_FORMAT_WIDTH_H
#define GK_FORMAT_WIDTH_H

#include "base/str.h"

/*
 * Returns the columns of the first len bytes. Each invalid byte counts as one.
 */
size_t gk_columns(const char *text, size_t len);

/* Returns the length in bytes of the longest prefix that fits the columns. */
size_t gk_fit(const char *text, size_t len, size_t columns);

/*
 * Like gk_fit(), but breaks after the last blank that fits, if there is one.
 * Returns the length of at least one character.
 */
size_t gk_fit_words(const char *text, size_t len, size_t columns);

enum gk_align { GK_LEFT, GK_RIGHT, GK_CENTER };

/*
 * Adds a cell exactly `columns` wide. A short text is padded with blanks; a
 * long one is cut, and mark ("..") replaces its end. Unprintable bytes are
 * replaced.
 */
void gk_cell(struct gk_buf *out, const char *text, size_t columns,
	     enum gk_align align, const char *mark);

/* Like gk_cell(), but cuts the beginning of a long text. */
void gk_cell_tail(struct gk_buf *out, const char *text, size_t columns,
		  const char *mark);

/* Adds a text, replacing unprintable bytes. */
void gk_add_clean(struct gk_buf *out, const char *text, size_t len);

/*
 * Adds a text for a terminal without UTF-8. Line-drawing characters become - =
 * + and |; all other non-ASCII characters become '?'.
 */
void gk_add_ascii(struct gk_buf *out, const char *text, size_t len);

#endif
