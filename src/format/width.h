/*
 * width.h - how many columns of a terminal a UTF-8 text takes, and cutting
 * and padding by columns. Widths of wide and combining characters are the C
 * library's: they need LC_CTYPE set to a UTF-8 locale.
 */
#ifndef GK_FORMAT_WIDTH_H
#define GK_FORMAT_WIDTH_H

#include "base/str.h"

/* Columns of the first len bytes. Invalid bytes count one column each. */
size_t gk_columns(const char *text, size_t len);

/* Bytes of the longest beginning that takes at most columns columns. */
size_t gk_fit(const char *text, size_t len, size_t columns);

/* The same, up to a blank where there is one; a character at least. */
size_t gk_fit_words(const char *text, size_t len, size_t columns);

enum gk_align { GK_LEFT, GK_RIGHT, GK_CENTER };

/*
 * Adds a cell exactly columns wide: padded with blanks, or cut at the end
 * with mark ("..") in place of what is missing. Foreign bytes are cleaned.
 */
void gk_cell(struct gk_buf *out, const char *text, size_t columns,
	     enum gk_align align, const char *mark);

/* The same, but too long a text loses its beginning. */
void gk_cell_tail(struct gk_buf *out, const char *text, size_t columns,
		  const char *mark);

/* Adds a text with foreign bytes cleaned. */
void gk_add_clean(struct gk_buf *out, const char *text, size_t len);

/*
 * Adds a text for a terminal without UTF-8: line drawing becomes - = + and |,
 * anything else that is not ASCII becomes '?'.
 */
void gk_add_ascii(struct gk_buf *out, const char *text, size_t len);

#endif
