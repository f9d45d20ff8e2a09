/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grid.c - owns the cells of a screen, and draws text with ANSI colours into
 * them.
 */
#include "tui/screen/grid.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

bool grid_resize(struct grid *g, int rows, int columns)
{
	struct grid_cell *cells;

	if (rows < 1 || columns < 1)
		return false;
	cells = calloc((size_t)rows * (size_t)columns, sizeof *cells);
	if (!cells)
		return false;
	free(g->cells);
	g->cells = cells;
	g->rows = rows;
	g->columns = columns;
	grid_clear(g);
	return true;
}

void grid_free(struct grid *g)
{
	free(g->cells);
	*g = (struct grid){0};
}

void grid_blank(struct grid *g, int row, int column, int rows, int columns)
{
	for (int r = row < 0 ? 0 : row; r < row + rows && r < g->rows; r++)
		for (int c = column < 0 ? 0 : column;
		     c < column + columns && c < g->columns; c++)
			*grid_at(g, r, c) =
			    (struct grid_cell){.c = L' ', .style = GRID_PLAIN};
}

void grid_clear(struct grid *g)
{
	grid_blank(g, 0, 0, g->rows, g->columns);
}

/* ---- ANSI colours ---- */

/* SGR parameters that add attributes. */
static const struct {
	int number;
	uint16_t add;
} attributes[] = {
    {1, GRID_BOLD},      {2, GRID_DIM},   {3, GRID_ITALIC},
    {4, GRID_UNDERLINE}, {5, GRID_BLINK}, {7, GRID_REVERSE},
};

static void apply_sgr_number(struct grid_style *style, struct grid_style base,
			     int number)
{
	if (number == 0)
		*style = base;
	else if (number >= 30 && number <= 37)
		style->color = (uint16_t)(number - 30);
	else if (number >= 90 && number <= 97)
		style->color = (uint16_t)(number - 90 + 8);
	for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
		if (attributes[i].number == number)
			style->attribute |= attributes[i].add;
}

#define SGR_MAX 8

/*
 * Applies an SGR sequence such as "\033[1;38;5;120m" to *style. 38;5;N sets one
 * of 256 colours. Returns the sequence's length, or 1 if text does not begin
 * with one.
 */
static size_t read_sgr(const char *text, size_t len, struct grid_style base,
		       struct grid_style *style)
{
	int numbers[SGR_MAX] = {0}, n = 0;
	size_t i = 2;

	if (len < 3 || text[1] != '[')
		return 1;
	for (; i < len && text[i] != 'm'; i++) {
		if (text[i] == ';' && n + 1 < SGR_MAX)
			n++;
		else if (text[i] >= '0' && text[i] <= '9')
			numbers[n] = numbers[n] % 100 * 10 + text[i] - '0';
		else
			return 1;
	}
	if (i == len)
		return 1;
	for (int k = 0; k <= n; k++) {
		if (numbers[k] == 38 && k + 2 <= n && numbers[k + 1] == 5) {
			style->color = (uint16_t)(numbers[k + 2] & 0xff);
			k += 2;
		} else {
			apply_sgr_number(style, base, numbers[k]);
		}
	}
	return i + 1;
}

/* ---- text ---- */

/*
 * Draws a character. If it does not fit entirely into the grid, draws blanks.
 */
static void put_cell(struct grid *g, int row, int column, wchar_t c, int width,
		     struct grid_style style)
{
	bool whole = column >= 0 && column + width <= g->columns;

	for (int i = 0; i < width; i++) {
		int at = column + i;

		if (at < 0 || at >= g->columns)
			continue;
		*grid_at(g, row, at) = (struct grid_cell){.c = !whole ? L' '
							       : i    ? 0
								      : c,
							  .style = style};
	}
}

/*
 * Decodes common characters without the C library, for speed: ASCII, and U+2500
 * to U+25BF, each one column wide. Returns the length in bytes; 0 for other
 * characters.
 */
static size_t read_common(const char *text, size_t len, wchar_t *ret_c)
{
	const unsigned char *s = (const unsigned char *)text;

	if (*s >= 0x20 && *s < 0x7f) {
		*ret_c = (wchar_t)*s;
		return 1;
	}
	if (len < 3 || s[0] != 0xe2 || s[1] < 0x94 || s[1] > 0x96 ||
	    (s[2] & 0xc0) != 0x80)
		return 0;
	*ret_c = (wchar_t)(0x2000 | (s[1] & 0x3f) << 6 | (s[2] & 0x3f));
	return 3;
}

/*
 * Decodes any character and determines its width. Invalid and unprintable
 * characters become '?'.
 */
static size_t read_any(const char *text, size_t len, wchar_t *ret_c,
		       int *ret_width)
{
	mbstate_t state = {0};
	size_t used = mbrtowc(ret_c, text, len, &state);

	if (used == 0 || used > len) {
		used = 1;
		*ret_c = L'?';
	}
	*ret_width = wcwidth(*ret_c);
	if (*ret_width < 0) {
		*ret_c = L'?';
		*ret_width = 1;
	}
	return used;
}

int grid_line(struct grid *g, int row, int column, const char *text, size_t len,
	      struct grid_style base)
{
	struct grid_style style = base;
	size_t used;

	if (row < 0 || row >= g->rows)
		return column;
	for (size_t i = 0; i < len && column < g->columns; i += used) {
		wchar_t c;
		int width = 1;

		if (text[i] == '\033') {
			used = read_sgr(text + i, len - i, base, &style);
			if (used > 1)
				continue;
		}
		used = read_common(text + i, len - i, &c);
		if (!used)
			used = read_any(text + i, len - i, &c, &width);
		if (width > 0)
			put_cell(g, row, column, c, width, style);
		column += width;
	}
	return column;
}

void grid_mark(struct grid *g, int row, int column, int width, unsigned add,
	       unsigned remove)
{
	if (row < 0 || row >= g->rows)
		return;
	for (int c = column < 0 ? 0 : column;
	     c < column + width && c < g->columns; c++) {
		uint16_t *attribute = &grid_at(g, row, c)->style.attribute;

		*attribute = (uint16_t)((*attribute & ~remove) | add);
	}
}

void grid_tint(struct grid *g, int row, int column, int width, uint16_t color)
{
	if (row < 0 || row >= g->rows)
		return;
	for (int c = column < 0 ? 0 : column;
	     c < column + width && c < g->columns; c++)
		grid_at(g, row, c)->style.color = color;
}

void grid_ground(struct grid *g, int row, int column, int width,
		 uint16_t ground)
{
	if (row < 0 || row >= g->rows)
		return;
	for (int c = column < 0 ? 0 : column;
	     c < column + width && c < g->columns; c++)
		grid_at(g, row, c)->ground = ground;
}

void grid_dim(struct grid *g)
{
	for (int row = 0; row < g->rows; row++)
		grid_mark(g, row, 0, g->columns, GRID_DIM, GRID_BOLD);
}

/*
 * Returns the ASCII substitute of a drawing character; '?' for other
 * characters.
 */
static wchar_t ascii_of(wchar_t c)
{
	static const struct {
		const wchar_t *drawings;
		wchar_t ascii;
	} table[] = {
	    {L"─╴╶", L'-'},         {L"═", L'='},
	    {L"│├┤╞╡║", L'|'},      {L"╒╕╘╛╤╧╪┬┴┼┌┐└┘", L'+'},
	    {L"▏▎▍▌▋▊▉█░▒▓", L'|'}, {L"▲", L'^'},
	    {L"▼", L'v'},           {L"△", L'^'},
	    {L"▽", L'v'},           {L"━╸▄", L'='},
	    {L"▁–−—", L'-'},        {L"✕×", L'X'},
	    {L"■", L'H'},           {L"◌", L'~'},
	    {L"◆", L'!'},           {L"◫", L'#'},
	    {L"●", L'*'},           {L"○·", L'.'},
	    {L"›", L'>'},           {L"‹◀", L'<'},
	    {L"┃", L'|'},           {L"┊", L':'},
	    {L"↓", L'v'},           {L"↑", L'^'},
	    {L"…", L':'},           {L"°", L' '},
	    {L"⊗", L'E'},           {L"◈", L'%'},
	    {L"◇", L'+'},
	};

	if (c < 0x80)
		return c;
	if (c >= 0x2800 &&
	    c <= 0x28ff) /* Braille patterns, of which graphs consist */
		return c == 0x2800 ? L' ' : L'=';
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (wcschr(table[i].drawings, c))
			return table[i].ascii;
	return L'?';
}

void grid_to_ascii(struct grid *g)
{
	for (int i = 0; i < g->rows * g->columns; i++)
		g->cells[i].c = g->cells[i].c ? ascii_of(g->cells[i].c) : L'?';
}
