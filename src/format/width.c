/* SPDX-License-Identifier: Apache-2.0 */
/* width.c - measures, cuts and pads UTF-8 text by columns. */
#include "format/width.h"

#include <string.h>
#include <wchar.h>

/* Returns the columns of the character at s; *ret_len is its length. */
static size_t step_character(const char *s, size_t left, size_t *ret_len)
{
	size_t n;
	int width;

	if ((unsigned char)*s < 0x80) {
		*ret_len = 1;
		return 1;
	}
	n = gk_utf8_len(s, left);
	*ret_len = n ? n : 1;
	if (n <= 1)
		return 1;
	width = wcwidth((wchar_t)gk_utf8_decode(s, n));
	return width < 0 ? 1 : (size_t)width;
}

size_t gk_columns(const char *text, size_t len)
{
	size_t columns = 0, n;

	for (size_t i = 0; i < len; i += n)
		columns += step_character(text + i, len - i, &n);
	return columns;
}

size_t gk_fit(const char *text, size_t len, size_t columns)
{
	size_t i = 0, n;

	while (i < len) {
		size_t width = step_character(text + i, len - i, &n);

		if (width > columns)
			break;
		columns -= width;
		i += n;
	}
	return i;
}

size_t gk_fit_words(const char *text, size_t len, size_t columns)
{
	size_t fit = gk_fit(text, len, columns), at = fit, first;

	if (fit == len)
		return len;
	while (at && text[at] != ' ')
		at--;
	if (at || fit)
		return at ? at : fit;
	step_character(text, len, &first);
	return first;
}

void gk_add_clean(struct gk_buf *out, const char *text, size_t len)
{
	char piece[8];

	for (size_t i = 0; i < len;) {
		size_t run = i, n;

		while (run < len && text[run] >= 0x20 && text[run] < 0x7f)
			run++;
		gk_buf_add(out, text + i, run - i);
		i = run;
		if (i == len)
			break;
		n = gk_utf8_len(text + i, len - i);
		n = n ? n : 1;
		gk_buf_add(out, piece,
			   gk_str_clean(piece, sizeof piece, text + i, n));
		i += n;
	}
}

static void pad_and_add(struct gk_buf *out, const char *text, size_t len,
			size_t blanks, enum gk_align align)
{
	size_t before = align == GK_RIGHT    ? blanks
			: align == GK_CENTER ? blanks / 2
					     : 0;

	gk_buf_pad(out, ' ', before);
	gk_buf_add(out, text, len);
	gk_buf_pad(out, ' ', blanks - before);
}

void gk_cell(struct gk_buf *out, const char *text, size_t columns,
	     enum gk_align align, const char *mark)
{
	struct gk_buf clean = {0};
	size_t width, fit, mark_width = strlen(mark);

	gk_add_clean(&clean, text, strlen(text));
	width = gk_columns(clean.data, clean.len);
	if (width <= columns) {
		pad_and_add(out, clean.data, clean.len, columns - width, align);
	} else {
		size_t room = columns > mark_width ? columns - mark_width : 0;

		fit = gk_fit(clean.data, clean.len, room);
		gk_buf_add(out, clean.data, fit);
		gk_buf_add(out, mark,
			   columns < mark_width ? columns : mark_width);
		gk_buf_pad(out, ' ', room - gk_columns(clean.data, fit));
	}
	out->failed |= clean.failed;
	gk_buf_free(&clean);
}

void gk_cell_tail(struct gk_buf *out, const char *text, size_t columns,
		  const char *mark)
{
	size_t len = strlen(text), start = 0, n;
	size_t mark_width = gk_columns(mark, strlen(mark));
	size_t width = gk_columns(text, len);

	if (width <= columns || columns < mark_width) {
		gk_cell(out, text, columns, GK_LEFT, "");
		return;
	}
	while (start < len && width > columns - mark_width) {
		width -= step_character(text + start, len - start, &n);
		start += n;
	}
	gk_buf_puts(out, mark);
	gk_cell(out, text + start, columns - mark_width, GK_LEFT, "");
}

static const struct {
	const char *utf8;
	char ascii;
} replacements[] = {
    {"═", '='}, {"─", '-'}, {"│", '|'}, {"├", '|'}, {"┤", '|'}, {"╞", '|'},
    {"╡", '|'}, {"╒", '+'}, {"╕", '+'}, {"╘", '+'}, {"╛", '+'}, {"┬", '+'},
    {"┴", '+'}, {"┼", '+'}, {"╪", '+'}, {"╤", '+'}, {"╧", '+'}, {"└", '`'},
    {"█", '|'}, {"▏", '|'}, {"▎", '|'}, {"▍", '|'}, {"▌", '|'}, {"▋", '|'},
    {"▊", '|'}, {"▉", '|'}, {"░", '|'}, {"°", ' '}, {"…", '.'},
};

static char ascii_of(const char *s, size_t n)
{
	for (size_t i = 0; i < sizeof replacements / sizeof *replacements; i++)
		if (!strncmp(replacements[i].utf8, s, n))
			return replacements[i].ascii;
	return '?';
}

void gk_add_ascii(struct gk_buf *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len;) {
		size_t run = i, n;

		while (run < len && (unsigned char)text[run] < 0x80)
			run++;
		gk_buf_add(out, text + i, run - i);
		i = run;
		if (i == len)
			break;
		n = gk_utf8_len(text + i, len - i);
		n = n ? n : 1;
		gk_buf_putc(out, ascii_of(text + i, n));
		i += n;
	}
}
