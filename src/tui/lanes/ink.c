/* ink.c - owns the table of tokens, and draws texts with them. */
#include "tui/lanes/ink.h"

#include "format/width.h"
#include "tui/model.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NONE        GRID_COLOR_NONE
#define COLORS_MANY 256
#define COLORS_FEW  8
#define TEXT_MAX    512

enum palette { DARK, LIGHT, SIXTEEN, BLIND, PALETTES };

static const struct {
	uint16_t color[PALETTES];
	uint16_t attribute, mono; /* with colours, and without any */
} inks[INK_COUNT] = {
    [INK_TEXT] = {{NONE, NONE, NONE, NONE}, 0, 0},
    [INK_STRONG] = {{NONE, NONE, NONE, NONE}, GRID_BOLD, GRID_BOLD},
    [INK_DIM] = {{245, 242, 8, 245}, 0, GRID_DIM},
    [INK_FAINT] = {{238, 252, 8, 238}, 0, GRID_DIM},
    [INK_ACCENT] = {{80, 30, 6, 80}, GRID_BOLD, GRID_BOLD},
    [INK_WORK_BODY] = {{23, 152, 6, 24}, 0, GRID_DIM},
    [INK_WORK] = {{66, 109, 6, 67}, 0, 0},
    [INK_WORK + 1] = {{37, 73, 6, 74}, 0, 0},
    [INK_WORK + 2] = {{43, 30, 14, 81}, 0, 0},
    [INK_WORK_MOST] = {{86, 23, 14, 117}, 0, 0},
    [INK_POWER_BODY] = {{94, 223, 3, 94}, 0, GRID_DIM},
    [INK_POWER] = {{180, 94, 11, 180}, 0, 0},
    [INK_OTHER_BODY] = {{60, 189, 4, 60}, 0, GRID_DIM},
    [INK_OTHER] = {{109, 60, 12, 109}, 0, 0},
    [INK_OWNER] = {{111, 25, 12, 74}, 0, 0},
    [INK_OWNER + 1] = {{176, 90, 13, 229}, 0, 0},
    [INK_OWNER + 2] = {{150, 64, 10, 36}, 0, 0},
    [INK_OWNER + 3] = {{137, 94, 3, 180}, 0, 0},
    [INK_OWNER + 4] = {{116, 30, 14, 32}, 0, 0},
    [INK_OWNER + 5] = {{182, 132, 5, 175}, 0, 0},
    [INK_OWNER_OTHER] = {{242, 247, 8, 242}, 0, 0},
    [INK_WARN] = {{214, 130, 11, 214}, 0, GRID_BOLD},
    [INK_FAIL] = {{203, 160, 9, 202}, 0, GRID_REVERSE},
};

/* Backgrounds of what is selected; 0: reversed. */
static const uint16_t selected[PALETTES] = {
    [DARK] = 1 + 236, [LIGHT] = 1 + 254, [BLIND] = 1 + 236};

bool lanes_is_mono(const struct tui *t)
{
	return t->options.term.theme == TUI_MONO ||
	       (t->colors && t->colors < COLORS_FEW);
}

bool lanes_is_ascii(const struct tui *t)
{
	return t->options.term.ascii;
}

static enum palette palette_of(const struct tui *t)
{
	if (t->colors && t->colors < COLORS_MANY)
		return SIXTEEN;
	return t->options.term.theme == TUI_LIGHT         ? LIGHT
	       : t->options.term.theme == TUI_COLOR_BLIND ? BLIND
							  : DARK;
}

struct grid_style lanes_ink(const struct tui *t, enum ink ink)
{
	if (lanes_is_mono(t))
		return (struct grid_style){NONE, inks[ink].mono};
	return (struct grid_style){inks[ink].color[palette_of(t)],
				   inks[ink].attribute};
}

struct grid_style lanes_bold(const struct tui *t, enum ink ink)
{
	struct grid_style style = lanes_ink(t, ink);

	style.attribute = (uint16_t)((style.attribute & ~GRID_DIM) | GRID_BOLD);
	return style;
}

void lanes_mark_selected(const struct tui *t, struct grid *g, int row,
			 int column, int width)
{
	uint16_t ground = selected[palette_of(t)];

	if (ground && !lanes_is_mono(t))
		grid_ground(g, row, column, width, ground);
	else
		grid_mark(g, row, column, width, GRID_REVERSE, GRID_DIM);
}

enum ink lanes_work_ink(double percent)
{
	int step = percent < 0 ? 0 : percent >= 75 ? 3 : (int)(percent / 25);

	return (enum ink)(INK_WORK + step);
}

int lanes_put(struct grid *g, int row, int column, struct grid_style style,
	      const char *format, ...)
{
	char text[TEXT_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	return grid_line(g, row, column, text, strlen(text), style);
}

void lanes_cell(struct grid *g, int row, int column, int width, bool right,
		struct grid_style style, const char *text)
{
	struct gk_buf cell = {0};
	size_t len = strlen(text);
	bool cut = lanes_width(text) > width;

	if (width <= 0)
		return;
	if (cut)
		len = gk_fit(text, len, (size_t)width - 1);
	gk_buf_add(&cell, text, len);
	gk_buf_puts(&cell, cut ? "›" : "");
	text = cell.data ? cell.data : "";
	if (right)
		column += width - lanes_width(text);
	lanes_put(g, row, column, style, "%s", text);
	gk_buf_free(&cell);
}

void lanes_fill(struct grid *g, int row, int column, int width, wchar_t sign,
		struct grid_style style)
{
	if (row < 0 || row >= g->rows)
		return;
	for (int c = column < 0 ? 0 : column;
	     c < column + width && c < g->columns; c++)
		*grid_at(g, row, c) =
		    (struct grid_cell){.c = sign, .style = style};
}

int lanes_width(const char *text)
{
	return (int)gk_columns(text, strlen(text));
}
