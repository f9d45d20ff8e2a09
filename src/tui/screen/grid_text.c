/* SPDX-License-Identifier: Apache-2.0 */
/* grid_text.c - writes a grid as lines of text with ANSI colours. */
#include "tui/screen/grid_text.h"

#include <limits.h>
#include <string.h>
#include <wchar.h>

static void put_style(struct gk_buf *out, struct grid_style style)
{
	static const struct {
		unsigned attribute;
		int code;
	} codes[] = {{GRID_BOLD, 1}, {GRID_DIM, 2}, {GRID_REVERSE, 7}};

	gk_buf_puts(out, "\x1b[0");
	for (size_t i = 0; i < 3; i++)
		if (style.attribute & codes[i].attribute)
			gk_buf_printf(out, ";%d", codes[i].code);
	if (style.color != GRID_COLOR_NONE)
		gk_buf_printf(out, ";38;5;%d", (int)style.color);
	gk_buf_putc(out, 'm');
}

static void put_sign(struct gk_buf *out, wchar_t sign)
{
	char bytes[MB_LEN_MAX];
	mbstate_t state = {0};
	size_t len = wcrtomb(bytes, sign, &state);

	if (len == (size_t)-1)
		gk_buf_putc(out, '?');
	else
		gk_buf_add(out, bytes, len);
}

static int used_columns(const struct grid *g, int row)
{
	int columns = g->columns;

	while (columns && grid_at(g, row, columns - 1)->c == L' ')
		columns--;
	return columns;
}

void grid_text(struct gk_buf *out, const struct grid *g, int rows, bool color)
{
	for (int r = 0; r < rows; r++) {
		struct grid_style before = GRID_PLAIN;

		for (int c = 0; c < used_columns(g, r); c++) {
			const struct grid_cell *cell = grid_at(g, r, c);

			if (color &&
			    memcmp(&before, &cell->style, sizeof before) != 0)
				put_style(out, cell->style);
			before = cell->style;
			if (cell->c)
				put_sign(out, cell->c);
		}
		if (color)
			put_style(out, GRID_PLAIN);
		gk_buf_putc(out, '\n');
	}
}
