/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.h - a page that is being drawn: the script so far, and positions in
 * pixels at the natural size.
 */
#ifndef GK_PLOT_PAGE_H
#define GK_PLOT_PAGE_H

#include "plot/script.h"

/* Colours, in gnuplot's notation. */
struct gk_plot_colors {
	const char *ground, *text, *grey, *faint, *capacity, *warn, *fail;
	struct {
		const char *line, *fill;
	} panel[4], other;
	/* Colours of lines in a cell with several lines. */
	const char *line[3];
	const char *owner[6]; /* layers of processes in a stack */
	const char *owner_rest;
};

struct gk_plot_page {
	const struct gk_plot_picture *picture;
	const struct gk_plot_look *look;
	const struct gk_plot_colors *colors;
	struct gk_buf *out;
	size_t first_band, band_count;
	double width, height; /* in pixels, like all positions below */
	/* The wanted size of the picture divided by its natural size. */
	double scale;
	double font; /* factor for all font sizes */
	double left, right, top, bottom, gutter;
	int64_t gap_ms;
	bool any_capacity;
	struct {
		struct gk_plot_unit unit;
		double peak;     /* the highest value of any GPU */
		double capacity; /* NaN if it differs between GPUs */
	} panels[GK_PLOT_PANELS];
	unsigned data; /* number of data blocks so far */
};

/* The area of the page for one panel of one band. */
struct gk_plot_cell {
	const struct gk_plot_band *band;
	unsigned panel; /* index */
	double left, right, top, bottom;
	double low, high; /* the values at the bottom and top edges */
	bool last;        /* draw the time labels below this cell */
};

/*
 * Finds the lines of a cell: the subjects that have values in its panel.
 * Returns their number.
 */
#define GK_PLOT_CELL_LINES 24
size_t gk_plot_cell_lines(const struct gk_plot_page *page,
			  const struct gk_plot_cell *cell,
			  const struct gk_plot_subject **ret_lines);

/* Begins a page: sets its sizes, colours and positions. */
void gk_plot_page_set(struct gk_plot_page *page,
		      const struct gk_plot_picture *picture,
		      const struct gk_plot_look *look, bool all, size_t number,
		      struct gk_buf *out);
struct gk_plot_cell gk_plot_page_cell(const struct gk_plot_page *page,
				      size_t band, unsigned panel);

/* Return a panel's line colour and its fill colour. */
const char *gk_plot_panel_color(const struct gk_plot_page *page,
				unsigned panel);
const char *gk_plot_panel_fill(const struct gk_plot_page *page, unsigned panel);

/* ---- writing ---- */

/*
 * Adds a text in single quotes. Within them, gnuplot interprets no character
 * but the quote.
 */
void gk_plot_quote(struct gk_buf *out, const char *text, size_t characters);

enum gk_plot_weight { GK_PLOT_PLAIN, GK_PLOT_BOLD };

/* Adds a text at a position; align is "left", "right" or "center". */
void gk_plot_text(const struct gk_plot_page *page, double x, double y,
		  const char *align, double points, enum gk_plot_weight weight,
		  const char *color, const char *text);

/*
 * Return a time, and the picture's length, in seconds after the picture's
 * start.
 */
double gk_plot_x(const struct gk_plot_page *page, int64_t ms);
double gk_plot_span(const struct gk_plot_page *page);

/* Add the curves of a cell and the texts at its right edge. */
void gk_plot_curves(struct gk_plot_page *page, const struct gk_plot_cell *cell);
void gk_plot_ends(const struct gk_plot_page *page,
		  const struct gk_plot_cell *cell);

/* ---- memory by owner ---- */

#define GK_PLOT_OWNERS 6 /* number of processes that have their own colour */

struct gk_plot_owners {
	const struct gk_plot_subject *of[GK_PLOT_OWNERS];
	size_t count, all;
};

/* Returns the processes of a GPU, sorted by memory, largest first. */
void gk_plot_owners(const struct gk_plot_chart *chart,
		    const struct gk_plot_subject *gpu,
		    enum gk_plot_quantity quantity,
		    struct gk_plot_owners *ret_owners);

/* Whether a cell shows its values as a stack, one layer per process. */
bool gk_plot_is_stacked(const struct gk_plot_page *page,
			const struct gk_plot_cell *cell);

/*
 * gk_plot_stack_data() writes the data of a stack; gk_plot_stack_terms() writes
 * the terms of the plot command that draw this data.
 */
unsigned gk_plot_stack_data(struct gk_plot_page *page,
			    const struct gk_plot_cell *cell);
void gk_plot_stack_terms(const struct gk_plot_page *page,
			 const struct gk_plot_cell *cell, unsigned first);
void gk_plot_stack_ends(const struct gk_plot_page *page,
			const struct gk_plot_cell *cell);

#endif
