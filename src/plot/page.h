/*
 * page.h - a page under way: where things are, in pixels of a picture that is
 * as large as it wants to be, and the script so far.
 */
#ifndef GK_PLOT_PAGE_H
#define GK_PLOT_PAGE_H

#include "plot/script.h"

/* Colours as gnuplot takes them. */
struct gk_plot_colors {
	const char *ground, *text, *grey, *faint, *capacity, *warn, *fail;
	struct {
		const char *line, *fill;
	} panel[4], other;
	const char *line[3];  /* several in one place */
	const char *owner[6]; /* of memory */
	const char *owner_rest;
};

struct gk_plot_page {
	const struct gk_plot_picture *picture;
	const struct gk_plot_look *look;
	const struct gk_plot_colors *colors;
	struct gk_buf *out;
	size_t first_band, band_count;
	double width, height; /* pixels, as all that follows */
	double scale;         /* of what is drawn to these */
	double font;          /* what sizes of fonts are multiplied by */
	double left, right, top, bottom, gutter;
	int64_t gap_ms;
	bool any_capacity;
	struct {
		struct gk_plot_unit unit;
		double peak;     /* of all GPUs */
		double capacity; /* of all alike; else NaN */
	} panels[GK_PLOT_PANELS];
	unsigned data; /* blocks so far */
};

/* A place for one panel of one band. */
struct gk_plot_cell {
	const struct gk_plot_band *band;
	unsigned panel; /* index */
	double left, right, top, bottom;
	double low, high; /* values at the bottom and at the top */
	bool last;        /* has the times below it */
};

/* The lines that a cell has: subjects with values of its panel. */
#define GK_PLOT_CELL_LINES 24
size_t gk_plot_cell_lines(const struct gk_plot_page *page,
			  const struct gk_plot_cell *cell,
			  const struct gk_plot_subject **ret_lines);

/* Begins a page: sizes, colours, places. */
void gk_plot_page_set(struct gk_plot_page *page,
		      const struct gk_plot_picture *picture,
		      const struct gk_plot_look *look, bool all, size_t number,
		      struct gk_buf *out);
struct gk_plot_cell gk_plot_page_cell(const struct gk_plot_page *page,
				      size_t band, unsigned panel);

/* The line and fill colour of a panel; the colour of a line among others. */
const char *gk_plot_panel_color(const struct gk_plot_page *page,
				unsigned panel);
const char *gk_plot_panel_fill(const struct gk_plot_page *page, unsigned panel);

/* ---- writing ---- */

/* Between single quotes only a quote means something to gnuplot. */
void gk_plot_quote(struct gk_buf *out, const char *text, size_t characters);

enum gk_plot_weight { GK_PLOT_PLAIN, GK_PLOT_BOLD };

/* A text at a place; align is left, right or center. */
void gk_plot_text(const struct gk_plot_page *page, double x, double y,
		  const char *align, double points, enum gk_plot_weight weight,
		  const char *color, const char *text);

/* Seconds from the start of the picture. */
double gk_plot_x(const struct gk_plot_page *page, int64_t ms);
double gk_plot_span(const struct gk_plot_page *page);

/* The curves of a cell, and the texts at its right end. */
void gk_plot_curves(struct gk_plot_page *page, const struct gk_plot_cell *cell);
void gk_plot_ends(const struct gk_plot_page *page,
		  const struct gk_plot_cell *cell);

/* ---- memory by owner ---- */

#define GK_PLOT_OWNERS 6 /* with a colour of their own */

struct gk_plot_owners {
	const struct gk_plot_subject *of[GK_PLOT_OWNERS];
	size_t count, all;
};

/* Processes of a GPU, those with the most memory first. */
void gk_plot_owners(const struct gk_plot_chart *chart,
		    const struct gk_plot_subject *gpu,
		    enum gk_plot_quantity quantity,
		    struct gk_plot_owners *ret_owners);

/* Whether a cell shows its values cut by owner. */
bool gk_plot_is_stacked(const struct gk_plot_page *page,
			const struct gk_plot_cell *cell);

/* Writes what a stack is drawn from; the terms of plot that draw it. */
unsigned gk_plot_stack_data(struct gk_plot_page *page,
			    const struct gk_plot_cell *cell);
void gk_plot_stack_terms(const struct gk_plot_page *page,
			 const struct gk_plot_cell *cell, unsigned first);
void gk_plot_stack_ends(const struct gk_plot_page *page,
			const struct gk_plot_cell *cell);

#endif
