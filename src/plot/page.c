/* SPDX-License-Identifier: Apache-2.0 */
/* page.c - owns the layout and the colours of pages. */
#include "plot/page.h"
#include "base/assert.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct gk_plot_colors light = {
    .ground = "#ffffff",
    .text = "#000000",
    .grey = "#6e6e6e",
    .faint = "#dddddd",
    .capacity = "#9a9a9a",
    .warn = "#d98200",
    .fail = "#B00020",
    .panel = {{"#00877A", "#CFE9E5"},
	      {"#3B6FB6", "#D5E2F3"},
	      {"#A8741A", "#F0E2C6"},
	      {"#8A4F7D", "#EBDCE7"}},
    .other = {"#4A5A6A", "#DDE3E9"},
    .line = {"#0072B2", "#D55E00", "#009E73"},
    .owner = {"#005faf", "#870087", "#5f8700", "#875f00", "#008787", "#af5f87"},
    .owner_rest = "#9e9e9e",
};

static const struct gk_plot_colors dark = {
    .ground = "#14171c",
    .text = "#e8e8e8",
    .grey = "#9aa0a8",
    .faint = "#343a42",
    .capacity = "#6c737c",
    .warn = "#ffaf00",
    .fail = "#ff6b6b",
    .panel = {{"#2FBFAE", "#173B3A"},
	      {"#7AA7E8", "#22324A"},
	      {"#D9A441", "#42341C"},
	      {"#C98BBB", "#3D2B3C"}},
    .other = {"#A9B7C6", "#2C343D"},
    .line = {"#56B4E9", "#FF8C42", "#3CCB9C"},
    .owner = {"#87afff", "#d787d7", "#afd787", "#af875f", "#87d7d7", "#d7afd7"},
    .owner_rest = "#6c6c6c",
};

/* If a picture is scaled by less than this, its texts become unreadable. */
#define READABLE 0.85

/* Sizes in pixels, of pages with strips and of pages with a grid. */
enum {
	STRIPS_WIDTH = 1200,
	STRIPS_HEIGHT = 800,
	STRIPS_LEFT = 76,
	STRIPS_GUTTER = 150,
	STRIPS_GUTTER_OWNERS = 250,
	STRIPS_GAP = 34, /* including the heading of the next strip */
	GRID_WIDTH = 1600,
	GRID_LEFT = 120,
	GRID_GUTTER = 84,
	GRID_ROW = 106, /* includes the gap */
	GRID_GAP = 24,
	EDGE = 24,
	TOP = 100,
	BOTTOM = 50,
};

size_t gk_plot_pages(const struct gk_plot_picture *picture, bool all)
{
	if (!all || !picture->band_count)
		return 1;
	return (picture->band_count + GK_PLOT_PAGE - 1) / GK_PLOT_PAGE;
}

static void choose_bands(struct gk_plot_page *page, bool all, size_t number)
{
	size_t left;

	page->band_count = page->picture->band_count;
	if (!all)
		return;
	page->first_band = number * GK_PLOT_PAGE;
	left = page->band_count - page->first_band;
	page->band_count = left < GK_PLOT_PAGE ? left : GK_PLOT_PAGE;
}

/*
 * Returns the scale that gives the page the wanted size. It is at least
 * READABLE, unless the texts would then leave too little space for the lines.
 */
static double scale_for(const struct gk_plot_page *page, double width,
			double height)
{
	bool strips = page->picture->strips;
	unsigned panels = page->picture->panel_count;
	double least_width = strips ? 560 : 160 + 180 * panels;
	double least_height =
	    TOP + BOTTOM + (strips ? 64 * panels + 30 : 60 * page->band_count);
	double w = page->look->width, h = page->look->height;
	double wanted = fmin(w / width, h / height);
	double roomy = fmin(w / least_width, h / least_height);

	return fmax(wanted, fmin(READABLE, roomy));
}

/*
 * The page is laid out at its natural size. For another size, everything is
 * scaled, and the page fills the remaining space.
 */
static void set_size(struct gk_plot_page *page)
{
	const struct gk_plot_look *look = page->look;
	double width = page->picture->strips ? STRIPS_WIDTH : GRID_WIDTH;
	double height =
	    page->picture->strips
		? STRIPS_HEIGHT
		: TOP + BOTTOM + GRID_ROW * (double)page->band_count;

	page->scale = look->width ? scale_for(page, width, height) : 1;
	/*
	 * SVG files and windows do not scale fonts by themselves, so the sizes
	 * are scaled here. In SVG they are in pixels.
	 */
	page->font = look->form == GK_PLOT_SVG      ? page->scale * 4 / 3
		     : look->form == GK_PLOT_WINDOW ? page->scale
						    : 1;
	page->width = look->width ? look->width / page->scale : width;
	page->height = look->width ? look->height / page->scale : height;
	page->top = TOP + 14 * (page->picture->absent_count > 0);
	page->bottom = page->height - BOTTOM;
	page->right = page->width - EDGE;
	page->left = page->picture->strips ? STRIPS_LEFT : GRID_LEFT;
	page->gutter = !page->picture->strips    ? GRID_GUTTER
		       : page->picture->by_owner ? STRIPS_GUTTER_OWNERS
						 : STRIPS_GUTTER;
}

static void see_capacity(struct gk_plot_page *page, unsigned panel,
			 const struct gk_plot_subject *subject, bool *first)
{
	enum gk_plot_quantity q = page->picture->panels[panel];
	double capacity = gk_plot_capacity(subject, q);
	double *to = &page->panels[panel].capacity;

	page->any_capacity |= !isnan(capacity);
	page->panels[panel].peak =
	    fmax(page->panels[panel].peak, subject->tracks[q]->max);
	if (isnan(capacity))
		return;
	if (*first)
		*to = capacity;
	else if (!(fabs(*to - capacity) < 0.5))
		*to = (double)NAN;
	*first = false;
}

/* All GPUs in a column have the same scale, so that they can be compared. */
static void set_scales(struct gk_plot_page *page)
{
	const struct gk_plot_picture *picture = page->picture;

	for (unsigned p = 0; p < picture->panel_count; p++) {
		bool first = true;
		double peak;

		page->panels[p].capacity = (double)NAN;
		for (size_t b = 0; b < picture->band_count; b++)
			for (size_t i = 0; i < picture->bands[b].count; i++)
				if (picture->bands[b]
					.subjects[i]
					->tracks[picture->panels[p]])
					see_capacity(
					    page, p,
					    picture->bands[b].subjects[i],
					    &first);
		peak = fmax(page->panels[p].peak, page->panels[p].capacity);
		page->panels[p].unit = gk_plot_panel_unit(
		    picture->chart, picture->panels[p], peak);
	}
}

void gk_plot_page_set(struct gk_plot_page *page,
		      const struct gk_plot_picture *picture,
		      const struct gk_plot_look *look, bool all, size_t number,
		      struct gk_buf *out)
{
	*page = (struct gk_plot_page){
	    .picture = picture,
	    .look = look,
	    .colors = look->dark ? &dark : &light,
	    .out = out,
	    .gap_ms = gk_plot_chart_gap(picture->chart),
	};
	choose_bands(page, all, number);
	set_size(page);
	set_scales(page);
}

/* The first strip is twice as high as the others. */
static void place_strip(const struct gk_plot_page *page,
			struct gk_plot_cell *cell)
{
	unsigned count = page->picture->panel_count;
	double room = page->bottom - page->top - (count - 1) * STRIPS_GAP;
	double part = room / (count > 1 ? count + 1 : 1);
	double above = cell->panel
			   ? part * (cell->panel + 1) + STRIPS_GAP * cell->panel
			   : 0;

	cell->left = page->left;
	cell->right = page->right - page->gutter;
	cell->top = page->top + above;
	cell->bottom = cell->top + part * (cell->panel || count == 1 ? 1 : 2);
	cell->last = cell->panel + 1 == count;
}

/*
 * The time labels of a column are drawn below the last GPU that has values in
 * it.
 */
static void place_in_grid(const struct gk_plot_page *page, size_t band,
			  struct gk_plot_cell *cell)
{
	const struct gk_plot_subject *lines[GK_PLOT_CELL_LINES];
	double row =
	    (page->bottom - page->top + GRID_GAP) / (double)page->band_count;
	double column = (page->right - page->left) / page->picture->panel_count;

	cell->left = page->left + column * cell->panel;
	cell->right = cell->left + column - page->gutter;
	cell->top = page->top + row * (double)band;
	cell->bottom = cell->top + row - GRID_GAP;
	cell->last = true;
	for (size_t b = band + 1; b < page->band_count && cell->last; b++) {
		struct gk_plot_cell below = {
		    .band = &page->picture->bands[page->first_band + b],
		    .panel = cell->panel};

		cell->last = !gk_plot_cell_lines(page, &below, lines);
	}
}

static void set_range(const struct gk_plot_page *page,
		      struct gk_plot_cell *cell)
{
	const struct gk_plot_subject *lines[GK_PLOT_CELL_LINES];
	enum gk_plot_quantity q = page->picture->panels[cell->panel];
	size_t count = gk_plot_cell_lines(page, cell, lines);
	double peak = 0, capacity = 0;

	for (size_t i = 0; i < count; i++) {
		const struct gk_plot_series *series =
		    &lines[i]->tracks[q]->series;

		capacity = fmax(capacity, gk_plot_capacity(lines[i], q));
		peak = fmax(peak, lines[i]->tracks[q]->max);
		for (size_t k = 0; k < series->count; k++)
			cell->low = fmin(cell->low, series->bins[k].min);
	}
	if (!(capacity > 0))
		peak = page->panels[cell->panel].peak;
	cell->high = 1.04 * fmax(peak, capacity);
	if (!(cell->high > cell->low))
		cell->high = cell->low + 1;
}

struct gk_plot_cell gk_plot_page_cell(const struct gk_plot_page *page,
				      size_t band, unsigned panel)
{
	struct gk_plot_cell cell = {
	    .band = &page->picture->bands[page->first_band + band],
	    .panel = panel};

	GK_ASSERT(band < page->band_count &&
		  panel < page->picture->panel_count);
	if (page->picture->strips)
		place_strip(page, &cell);
	else
		place_in_grid(page, band, &cell);
	set_range(page, &cell);
	return cell;
}

size_t gk_plot_cell_lines(const struct gk_plot_page *page,
			  const struct gk_plot_cell *cell,
			  const struct gk_plot_subject **ret_lines)
{
	size_t count = 0;

	for (size_t i = 0; i < cell->band->count && count < GK_PLOT_CELL_LINES;
	     i++)
		if (cell->band->subjects[i]
			->tracks[page->picture->panels[cell->panel]])
			ret_lines[count++] = cell->band->subjects[i];
	return count;
}

const char *gk_plot_panel_color(const struct gk_plot_page *page, unsigned panel)
{
	enum gk_plot_quantity q = page->picture->panels[panel];

	return q < 4 ? page->colors->panel[q].line : page->colors->other.line;
}

const char *gk_plot_panel_fill(const struct gk_plot_page *page, unsigned panel)
{
	enum gk_plot_quantity q = page->picture->panels[panel];

	return q < 4 ? page->colors->panel[q].fill : page->colors->other.fill;
}

/* ---- writing ---- */

void gk_plot_quote(struct gk_buf *out, const char *text, size_t characters)
{
	char clean[1024];
	size_t len = gk_str_clean(clean, sizeof clean, text, strlen(text));
	bool cut = false;

	gk_buf_putc(out, '\'');
	for (const char *p = clean; p < clean + len && !cut;) {
		size_t n = gk_utf8_len(p, (size_t)(clean + len - p));

		cut = !characters--;
		if (cut)
			gk_buf_puts(out, "...");
		else if (*p == '\'')
			gk_buf_puts(out, "''");
		else
			gk_buf_add(out, p, n);
		p += n ? n : 1;
	}
	gk_buf_putc(out, '\'');
}

void gk_plot_text(const struct gk_plot_page *page, double x, double y,
		  const char *align, double points, enum gk_plot_weight weight,
		  const char *color, const char *text)
{
	const char *family =
	    page->look->form == GK_PLOT_SVG ? "sans-serif" : "Sans";

	gk_buf_puts(page->out, "set label ");
	gk_plot_quote(page->out, text, SIZE_MAX);
	gk_buf_printf(page->out,
		      " at screen %.5f,%.5f %s font '%s%s,%g' textcolor rgb "
		      "'%s'\n",
		      x / page->width, 1 - y / page->height, align, family,
		      weight == GK_PLOT_BOLD ? " Bold" : "",
		      points * page->font, color);
}

double gk_plot_x(const struct gk_plot_page *page, int64_t ms)
{
	return (double)(ms - page->picture->chart->first_ms) / 1000;
}

double gk_plot_span(const struct gk_plot_page *page)
{
	double span = gk_plot_x(page, page->picture->chart->last_ms);

	return span > 0 ? span : 1;
}
