/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ink.c - owns the table of inks with their colours, and draws texts in them.
 */
#include "tui/lanes/ink.h"

#include "base/assert.h"
#include "format/gradient.h"
#include "format/width.h"
#include "tui/screen/color.h"
#include "tui/model/model.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NONE        GRID_COLOR_NONE
#define COLORS_MANY 256
#define COLORS_FEW  8
#define TEXT_MAX    512

enum palette { DARK, LIGHT, FEW, FEW_LIGHT, BLIND, BLIND_LIGHT, PALETTES };

/*
 * Each colour has a contrast of at least 4.5 (WCAG 2) to its background, black
 * or white. Among the first 8 terminal colours, as usually defined, only blue,
 * red and magenta reach that contrast on white.
 */
static const struct {
	uint16_t color[PALETTES];
	uint16_t attribute, mono; /* attributes with colours; without colours */
} inks[INK_COUNT] = {
    [INK_TEXT] = {{NONE, NONE, NONE, NONE, NONE, NONE}, 0, 0},
    [INK_STRONG] = {{NONE, NONE, NONE, NONE, NONE, NONE}, GRID_BOLD, GRID_BOLD},
    [INK_DIM] = {{246, 242, 8, NONE, 246, 242}, 0, GRID_DIM},
    [INK_FAINT] = {{243, 243, 8, NONE, 243, 243}, 0, GRID_DIM},
    [INK_ACCENT] = {{80, 23, 6, 4, 80, 23}, GRID_BOLD, GRID_BOLD},
    [INK_WORK_BODY] = {{30, 243, 6, 4, 31, 243}, 0, GRID_DIM},
    [INK_WORK] = {{73, 60, 6, 4, 74, 60}, 0, 0},
    [INK_WORK + 1] = {{37, 24, 6, 4, 81, 25}, 0, 0},
    [INK_WORK + 2] = {{43, 23, 14, 4, 117, 24}, 0, 0},
    [INK_WORK_MOST] = {{86, 22, 14, 4, 159, 18}, 0, 0},
    [INK_POWER_BODY] = {{136, 95, 3, 5, 136, 95}, 0, GRID_DIM},
    [INK_POWER] = {{180, 94, 11, 5, 180, 94}, 0, 0},
    [INK_OTHER_BODY] = {{103, 61, 8, 4, 103, 61}, 0, GRID_DIM},
    [INK_OTHER] = {{109, 60, 7, 4, 109, 60}, 0, 0},
    [INK_OWNER] = {{111, 25, 15, 4, 74, 25}, 0, 0},
    [INK_OWNER + 1] = {{176, 90, 13, 5, 229, 94}, 0, 0},
    [INK_OWNER + 2] = {{150, 22, 10, NONE, 36, 23}, 0, 0},
    [INK_OWNER + 3] = {{180, 94, 3, 4, 180, 90}, 0, 0},
    [INK_OWNER + 4] = {{116, 23, 14, 5, 39, 16}, 0, 0},
    [INK_OWNER + 5] = {{182, 89, 5, NONE, 175, 52}, 0, 0},
    [INK_OWNER_OTHER] = {{246, 242, 8, NONE, 246, 242}, 0, 0},
    [INK_WARN] = {{214, 94, 11, 5, 214, 94}, 0, GRID_BOLD},
    [INK_FAIL] = {{203, 160, 9, 1, 202, 160}, 0, GRID_REVERSE},
};

/* Background of a selected row: colour + 1, or 0 for reverse video. */
static const uint16_t selected[PALETTES] = {[DARK] = 1 + 235,
					    [LIGHT] = 1 + 255,
					    [BLIND] = 1 + 235,
					    [BLIND_LIGHT] = 1 + 255};

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
	const struct term_options *o = &t->options.term;
	enum palette dark = t->colors && t->colors < COLORS_MANY ? FEW
			    : o->theme == TUI_COLOR_BLIND        ? BLIND
								 : DARK;

	return dark + (term_on_light(o) ? LIGHT - DARK : 0);
}

struct grid_style lanes_ink(const struct tui *t, enum ink ink)
{
	GK_ASSERT(ink < INK_COUNT);
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

/*
 * Faint inks become dim: they would be invisible on a selected row's
 * background.
 */
static void lift_faint(const struct tui *t, struct grid_cell *cell)
{
	static const enum ink faint[] = {INK_FAINT, INK_WORK_BODY,
					 INK_POWER_BODY, INK_OTHER_BODY};

	for (size_t i = 0; i < sizeof faint / sizeof *faint; i++)
		if (cell->style.color == lanes_ink(t, faint[i]).color)
			cell->style.color = lanes_ink(t, INK_DIM).color;
}

void lanes_mark_selected(const struct tui *t, struct grid *g, int row,
			 int column, int width)
{
	uint16_t ground = selected[palette_of(t)];

	if (!ground || lanes_is_mono(t)) {
		grid_mark(g, row, column, width, GRID_REVERSE, GRID_DIM);
		return;
	}
	grid_ground(g, row, column, width, ground);
	for (int c = column < 0 ? 0 : column;
	     row >= 0 && row < g->rows && c < column + width && c < g->columns;
	     c++)
		lift_faint(t, grid_at(g, row, c));
}

enum ink lanes_work_ink(double percent)
{
	int step = percent < 0 ? 0 : percent >= 75 ? 3 : (int)(percent / 25);

	return (enum ink)(INK_WORK + step);
}

/*
 * Returns the ink for a percentage: `usual`, unless the user has set
 * thresholds.
 */
static enum ink level_ink(struct gk_limits limits, double percent,
			  enum ink usual)
{
	if (!limits.heavy)
		return usual;
	return percent * 10 >= limits.heavy      ? INK_FAIL
	       : percent * 10 >= limits.moderate ? INK_WARN
						 : usual;
}

struct grid_style lanes_busy_style(const struct tui *t, double percent,
				   enum ink idle)
{
	enum ink ink = level_ink(t->options.boxed.gpu, percent,
				 percent >= 5 ? lanes_work_ink(percent) : idle);

	return ink == idle ? lanes_ink(t, ink) : lanes_bold(t, ink);
}

struct grid_style lanes_memory_style(const struct tui *t, double share)
{
	return lanes_bold(
	    t, level_ink(t->options.boxed.memory, 100 * share, INK_STRONG));
}

struct grid_style lanes_gradient(const struct tui *t, double share,
				 struct grid_style style)
{
	if (t->options.boxed.colorful && !lanes_is_mono(t) &&
	    (!t->colors || t->colors >= COLORS_MANY))
		style.color = (uint16_t)tui_color_readable(
		    gk_gradient(share), term_on_light(&t->options.term));
	return style;
}

/*
 * For root no process is foreign. Uids of other machines are not comparable
 * with ours.
 */
bool lanes_is_foreign(const struct tui *t, const struct gk_process *p)
{
	return t->uid && p->uid != t->uid && !t->options.hosts &&
	       !t->options.replay;
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

struct lanes_span lanes_take_span(int *at, int gap, int width)
{
	struct lanes_span span = {*at + gap, width};

	if (!width)
		return (struct lanes_span){0, 0};
	*at += gap + width;
	return span;
}

void lanes_put_span(struct grid *g, int row, struct lanes_span span, bool right,
		    struct grid_style style, const char *text)
{
	if (span.width)
		lanes_cell(g, row, span.at, span.width, right, style, text);
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
