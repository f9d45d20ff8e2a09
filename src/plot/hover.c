/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hover.c - shows the values at the pointer. gnuplot adds a script to SVG
 * files, which shows the text of the mark under the pointer.
 *
 * The marks are squares as high as their cell. Each mark covers the previous
 * one except for its left edge, so that every column of pixels has its own
 * text.
 */
#include "plot/hover.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define COLUMN      8.0 /* pixels per text */
#define COLUMNS_MAX 200

/*
 * Half the side length, with its edge, of gnuplot's square mark at point size
 * 1, in pixels.
 */
#define HALF_SIDE 5.36

/* Adds a name; replaces characters that could end a string in the script. */
static void add_clean_name(struct gk_buf *out, const char *name)
{
	for (; *name; name++) {
		bool plain = strchr("0123456789:. ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "abcdefghijklmnopqrstuvwxyz",
				    *name);

		gk_buf_putc(out, plain ? *name : '?');
	}
}

struct hover {
	const struct gk_plot_subject *lines[GK_PLOT_CELL_LINES];
	double values[GK_PLOT_CELL_LINES][COLUMNS_MAX];
	size_t count, columns;
	double step_ms;
};

static void sample_lines(const struct gk_plot_page *page,
			 const struct gk_plot_cell *cell, struct hover *hover)
{
	enum gk_plot_quantity q = page->picture->panels[cell->panel];

	hover->count = gk_plot_cell_lines(page, cell, hover->lines);
	hover->columns =
	    (size_t)fmin((cell->right - cell->left) / COLUMN, COLUMNS_MAX);
	hover->step_ms = gk_plot_span(page) * 1000 / (double)hover->columns;
	for (size_t i = 0; i < hover->count; i++)
		gk_plot_series_sample(&hover->lines[i]->tracks[q]->series,
				      page->picture->chart->first_ms,
				      hover->step_ms, page->gap_ms,
				      hover->columns, hover->values[i]);
}

static void add_hover_text(const struct gk_plot_page *page,
			   const struct gk_plot_cell *cell,
			   const struct hover *hover, size_t column)
{
	const struct gk_plot_unit *unit = &page->panels[cell->panel].unit;
	const struct gk_plot_chart *chart = page->picture->chart;
	char time[32];

	gk_plot_clock(chart,
		      chart->first_ms +
			  (int64_t)(hover->step_ms * ((double)column + 0.5)),
		      true, time);
	gk_buf_puts(page->out, time);
	for (size_t i = 0; i < hover->count; i++) {
		double value = hover->values[i][column];

		gk_buf_puts(page->out, i ? ",  " : "  ");
		add_clean_name(page->out, hover->lines[i]->label);
		if (hover->count > 1 && chart->file_count > 1)
			gk_buf_printf(page->out, " %c",
				      'A' + (int)hover->lines[i]->file);
		if (isnan(value))
			gk_buf_puts(page->out, " none");
		else
			gk_buf_printf(page->out, " %.*f %s", unit->decimals,
				      value / unit->factor, unit->text);
	}
}

void gk_plot_hover(struct gk_plot_page *page, const struct gk_plot_cell *cell)
{
	static struct hover hover;
	double width = cell->right - cell->left;
	double half = (cell->bottom - cell->top) / 2;

	sample_lines(page, cell, &hover);
	if (!hover.count || !hover.columns)
		return;
	gk_buf_printf(page->out, "$h%u << END\n", page->data);
	for (size_t c = 0; c < hover.columns; c++) {
		gk_buf_printf(page->out, "%.2f \"",
			      (double)c * width / (double)hover.columns + half);
		add_hover_text(page, cell, &hover, c);
		gk_buf_puts(page->out, "\"\n");
	}
	/*
	 * The plot extends beyond the right edge of the cell, so that no mark
	 * is cut off.
	 */
	gk_buf_printf(page->out,
		      "END\nset rmargin at screen %.5f\nunset border\n"
		      "unset xtics\nunset ytics\n"
		      "plot [0:%.2f][0:1] $h%u using 1:(0.5):2 with labels "
		      "hypertext point pointtype 5 pointsize %.3f linecolor "
		      "rgb '#ff000000'\n",
		      (cell->right + half) / page->width, width + half,
		      page->data, half / HALF_SIDE);
}
