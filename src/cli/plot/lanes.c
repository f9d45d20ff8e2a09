/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes.c - draws a picture in the terminal, with the traces of `gpukit top`.
 */
#include "cli/plot/lanes.h"

#include "base/assert.h"
#include "base/err.h"
#include "cli/cmd.h"
#include "cli/output.h"
#include "tui/screen/grid_text.h"
#include "plot/page.h"
#include "tui/lanes/ink.h"
#include "tui/lanes/trace.h"
#include "tui/model/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	END_WIDTH = 11,  /* width of the texts to the right of a trace */
	CELL_LEAST = 32, /* minimum width of a trace and its texts */
	CELLS_APART = 2,
	LABEL_MOST = 16,
	ROWS_ALONE =
	    5, /* rows of a trace if there is only one GPU; otherwise ROWS */
	ROWS = 3,
	HEAD_ROWS = 3,
};

/* A drawing in progress. */
struct drawing {
	const struct gk_plot_picture *picture;
	struct tui tui; /* only its theme is used, for colours */
	struct grid grid;
	int columns, gutter, cells, cell_width, trace_rows, row;
	int64_t gap_ms;
	struct gk_plot_unit units[GK_PLOT_PANELS];
	double tops[GK_PLOT_PANELS];
};

static size_t lane_count(const struct gk_plot_picture *picture)
{
	size_t count = 0;

	for (size_t i = 0; i < picture->band_count; i++)
		count += picture->bands[i].count;
	return count;
}

/* ---- measures ---- */

static void measure_panel(struct drawing *d, unsigned panel)
{
	const struct gk_plot_picture *picture = d->picture;
	enum gk_plot_quantity q = picture->panels[panel];
	double top = 0;

	for (size_t b = 0; b < picture->band_count; b++)
		for (size_t i = 0; i < picture->bands[b].count; i++) {
			const struct gk_plot_subject *s =
			    picture->bands[b].subjects[i];

			if (s->tracks[q])
				top = fmax(top, fmax(s->tracks[q]->max,
						     gk_plot_capacity(s, q)));
		}
	d->units[panel] = gk_plot_panel_unit(picture->chart, q, top);
	d->tops[panel] = top > 0 ? top : 1;
}

static int longest_label(const struct gk_plot_picture *picture)
{
	int longest = 0;

	for (size_t b = 0; b < picture->band_count; b++)
		for (size_t i = 0; i < picture->bands[b].count; i++) {
			int width =
			    lanes_width(picture->bands[b].subjects[i]->label);

			longest = width > longest ? width : longest;
		}
	return longest > LABEL_MOST ? LABEL_MOST : longest;
}

/* How many rows of cells a lane needs. */
static int lane_lines(const struct drawing *d)
{
	int panels = (int)d->picture->panel_count;

	return (panels + d->cells - 1) / d->cells;
}

/* Whether the panels' titles appear once, above all lanes. */
static bool titles_once(const struct drawing *d)
{
	return lane_lines(d) == 1;
}

static int rows_needed(const struct drawing *d)
{
	int lanes = (int)lane_count(d->picture), lines = lane_lines(d);
	int apart = lines > 1 || d->trace_rows > 1;

	return HEAD_ROWS + titles_once(d) +
	       lanes * (lines * (d->trace_rows + !titles_once(d)) + apart) + 1;
}

static bool begin_drawing(struct drawing *d, int columns)
{
	int panels = (int)d->picture->panel_count, room;
	bool alone = lane_count(d->picture) == 1;

	/* gk_plot_picture_new() has found at least one */
	GK_ASSERT(panels > 0);
	d->columns = columns < CELL_LEAST ? CELL_LEAST : columns;
	d->gutter = alone ? 0 : longest_label(d->picture) + 2;
	room = d->columns - d->gutter;
	d->cells = alone ? 1 : room / CELL_LEAST;
	d->cells = d->cells < 1 ? 1 : d->cells > panels ? panels : d->cells;
	/* Spreads the cells evenly over the rows. */
	d->cells = (panels + lane_lines(d) - 1) / lane_lines(d);
	d->cell_width = (room + CELLS_APART) / d->cells - CELLS_APART;
	if (d->cell_width - END_WIDTH > LANES_COLUMNS_MAX)
		d->cell_width = LANES_COLUMNS_MAX + END_WIDTH;
	d->trace_rows = alone ? ROWS_ALONE : ROWS;
	d->gap_ms = gk_plot_chart_gap(d->picture->chart);
	for (unsigned p = 0; p < d->picture->panel_count; p++)
		measure_panel(d, p);
	return grid_resize(&d->grid, rows_needed(d), d->columns);
}

/* ---- one trace ---- */

static enum lanes_trace_kind kind_of(enum gk_plot_quantity panel)
{
	return panel == GK_PLOT_BUSY    ? TRACE_WORK
	       : panel == GK_PLOT_POWER ? TRACE_POWER
					: TRACE_OTHER;
}

static double step_of(const struct drawing *d, size_t count)
{
	const struct gk_plot_chart *chart = d->picture->chart;
	double span = (double)(chart->last_ms - chart->first_ms);

	return (span > 0 ? span : 1) / (double)count;
}

/*
 * Marks in a trace the times when clocks were held back for a reason that the
 * panel shows.
 */
static void mark_held(const struct drawing *d, const struct gk_plot_subject *s,
		      enum gk_plot_quantity panel, float *held, size_t count)
{
	double step = step_of(d, count);
	int64_t first = d->picture->chart->first_ms;

	for (size_t i = 0; i < s->run_count; i++) {
		const struct gk_plot_run *run = &s->runs[i];
		size_t to =
		    (size_t)fmax(0, (double)(run->to_ms - first) / step);
		size_t at =
		    (size_t)fmax(0, (double)(run->from_ms - first) / step);

		if (run->event > GK_PLOT_BY_HEAT ||
		    gk_plot_event_panel(d->picture, run->event) != panel)
			continue;
		for (; at <= to && at < count; at++)
			held[at] = 1;
	}
}

static void draw_trace(struct drawing *d, const struct gk_plot_subject *s,
		       unsigned panel, int row, int column)
{
	enum gk_plot_quantity q = d->picture->panels[panel];
	float values[2 * LANES_COLUMNS_MAX], held[2 * LANES_COLUMNS_MAX] = {0};
	double sampled[2 * LANES_COLUMNS_MAX];
	int width = d->cell_width - END_WIDTH;
	size_t count = 2 * (size_t)width;
	struct lanes_trace trace = {.row = row,
				    .column = column,
				    .rows = d->trace_rows,
				    .columns = width,
				    .top = d->tops[panel],
				    .kind = kind_of(q),
				    .values = values,
				    .held = held};

	gk_plot_series_sample(&s->tracks[q]->series,
			      d->picture->chart->first_ms, step_of(d, count),
			      d->gap_ms, count, sampled);
	for (size_t i = 0; i < count; i++)
		values[i] = (float)sampled[i];
	mark_held(d, s, q, held, count);
	lanes_trace(&d->tui, &d->grid, &trace);
}

/*
 * Colours a trace by owner. Each cell has the colour of the owner whose share
 * is at its middle, with the largest owners at the bottom.
 */
static void color_owners(struct drawing *d, unsigned panel,
			 const struct gk_plot_owners *owners, int row,
			 int column)
{
	enum gk_plot_quantity q = d->picture->panels[panel];
	double values[GK_PLOT_OWNERS][LANES_COLUMNS_MAX];
	size_t width = (size_t)(d->cell_width - END_WIDTH);
	double cell = d->tops[panel] / d->trace_rows;

	for (size_t o = 0; o < owners->count; o++)
		gk_plot_series_sample(&owners->of[o]->tracks[q]->series,
				      d->picture->chart->first_ms,
				      step_of(d, width), d->gap_ms, width,
				      values[o]);
	for (size_t c = 0; c < width; c++)
		for (int r = 0; r < d->trace_rows; r++) {
			struct grid_cell *at =
			    grid_at(&d->grid, row + d->trace_rows - 1 - r,
				    column + (int)c);
			double below = 0, middle = cell * (r + 0.5);
			size_t o = 0;

			while (o < owners->count) {
				below += isnan(values[o][c]) ? 0 : values[o][c];
				if (below >= middle)
					break;
				o++;
			}
			if (at->c != L' ')
				at->style = lanes_ink(
				    &d->tui, o < owners->count
						 ? (enum ink)(INK_OWNER + o)
						 : INK_OWNER_OTHER);
		}
}

/*
 * Prints the names of the largest owners, each with its maximum and in its
 * colour.
 */
static void draw_owners(struct drawing *d, unsigned panel,
			const struct gk_plot_owners *owners, int row,
			int column)
{
	const struct gk_plot_unit *unit = &d->units[panel];
	enum gk_plot_quantity q = d->picture->panels[panel];

	for (size_t o = 0; o < owners->count && (int)o < d->trace_rows; o++) {
		char text[64];

		snprintf(text, sizeof text, "%.*f %.*s", unit->decimals,
			 owners->of[o]->tracks[q]->max / unit->factor,
			 (int)strcspn(owners->of[o]->label, " "),
			 owners->of[o]->label);
		lanes_cell(&d->grid, row + (int)o, column, END_WIDTH - 1, false,
			   lanes_ink(&d->tui, (enum ink)(INK_OWNER + o)), text);
	}
}

static void draw_end(struct drawing *d, const struct gk_plot_subject *s,
		     unsigned panel, int row, int column)
{
	const struct gk_plot_track *track =
	    s->tracks[d->picture->panels[panel]];
	const struct gk_plot_unit *unit = &d->units[panel];
	struct grid_style dim = lanes_ink(&d->tui, INK_DIM);

	if (s->lost)
		lanes_put(&d->grid, row, column, lanes_ink(&d->tui, INK_FAIL),
			  "lost");
	else
		lanes_put(&d->grid, row, column,
			  lanes_bold(&d->tui, INK_STRONG), "%.*f",
			  unit->decimals, track->last / unit->factor);
	lanes_put(&d->grid, row + 1, column, dim, "mean %.*f", unit->decimals,
		  gk_plot_track_mean(track) / unit->factor);
	lanes_put(&d->grid, row + 2, column, dim, "max %.*f", unit->decimals,
		  track->max / unit->factor);
}

static void draw_heading(struct drawing *d, const struct gk_plot_subject *s,
			 unsigned panel, int row, int column)
{
	enum gk_plot_quantity q = d->picture->panels[panel];
	double capacity = gk_plot_capacity(s, q);
	char text[32];

	lanes_put(&d->grid, row, column, lanes_ink(&d->tui, INK_DIM), "%s %s",
		  gk_plot_panel_name(d->picture->chart, q),
		  d->units[panel].text);
	if (isnan(capacity))
		return;
	snprintf(text, sizeof text, "%.0f", capacity / d->units[panel].factor);
	lanes_cell(&d->grid, row, column + d->cell_width - END_WIDTH - 8, 8,
		   true, lanes_ink(&d->tui, INK_DIM), text);
}

/* ---- lanes ---- */

static int column_of(const struct drawing *d, unsigned panel)
{
	return d->gutter +
	       (int)panel % d->cells * (d->cell_width + CELLS_APART);
}

static void draw_cell(struct drawing *d, const struct gk_plot_subject *s,
		      unsigned panel, int row, int column)
{
	int end = column + d->cell_width - END_WIDTH + 1;
	struct gk_plot_owners owners = {.count = 0};

	draw_trace(d, s, panel, row, column);
	if (d->picture->by_owner)
		gk_plot_owners(d->picture->chart, s, d->picture->panels[panel],
			       &owners);
	if (owners.count) {
		color_owners(d, panel, &owners, row, column);
		draw_owners(d, panel, &owners, row, end);
	} else {
		draw_end(d, s, panel, row, end);
	}
}

static void draw_lane(struct drawing *d, const struct gk_plot_subject *s)
{
	int height = d->trace_rows + !titles_once(d), lines = 1;
	bool any = false;

	lanes_cell(&d->grid, d->row + !titles_once(d), 0,
		   d->gutter - 2 < 0 ? 0 : d->gutter - 2, false,
		   lanes_bold(&d->tui, INK_STRONG), s->label);
	for (unsigned p = 0; p < d->picture->panel_count; p++) {
		int row = d->row + (int)p / d->cells * height;
		int column = column_of(d, p);

		if (!s->tracks[d->picture->panels[p]])
			continue;
		any = true;
		lines = (int)p / d->cells + 1;
		if (!titles_once(d))
			draw_heading(d, s, p, row++, column);
		draw_cell(d, s, p, row, column);
	}
	if (!any)
		lanes_put(&d->grid, d->row + !titles_once(d), column_of(d, 0),
			  lanes_ink(&d->tui, INK_FAIL), "lost all the time");
	d->row += lines * height + 1;
}

static void draw_times(struct drawing *d)
{
	const struct gk_plot_chart *chart = d->picture->chart;
	bool seconds = chart->last_ms - chart->first_ms < 600000;
	struct grid_style dim = lanes_ink(&d->tui, INK_DIM);
	int width = d->cell_width - END_WIDTH;
	char from[32], to[32];

	gk_plot_clock(chart, chart->first_ms, seconds, from);
	gk_plot_clock(chart, chart->last_ms, seconds, to);
	for (unsigned c = 0; (int)c < d->cells; c++) {
		lanes_fill(&d->grid, d->row - 1, column_of(d, c), width, L'─',
			   lanes_ink(&d->tui, INK_FAINT));
		lanes_put(&d->grid, d->row - 1, column_of(d, c), dim, "%s ",
			  from);
		lanes_cell(&d->grid, d->row - 1,
			   column_of(d, c) + width - (int)strlen(to) - 1,
			   (int)strlen(to) + 1, true, dim, to);
	}
}

/* Prints the events of a GPU, in red if the GPU is broken. */
static void draw_events(struct drawing *d, int row)
{
	static const char *const words[GK_PLOT_EVENTS] = {
	    "held back by power", "held back by heat", "lost", "Xid ", "ECC"};
	int column = 0;

	for (int e = 0; e < GK_PLOT_EVENTS; e++)
		for (size_t i = 0; i < d->picture->chart->subject_count; i++) {
			const struct gk_plot_subject *s =
			    &d->picture->chart->subjects[i];
			size_t k = 0;

			while (k < s->run_count && (int)s->runs[k].event != e)
				k++;
			if (k == s->run_count || column >= d->columns)
				continue;
			column = lanes_put(
			    &d->grid, row, column,
			    lanes_ink(&d->tui, e > GK_PLOT_BY_HEAT ? INK_FAIL
								   : INK_WARN),
			    "%s %s%.0d  ", s->label, words[e],
			    s->runs[k].number);
		}
}

static void draw_head(struct drawing *d)
{
	const struct gk_plot_picture *picture = d->picture;
	struct gk_buf title = {0};
	size_t shown = lane_count(picture);

	gk_plot_title(picture->chart, &title);
	gk_buf_puts(&title, "   ");
	gk_plot_days(picture->chart, &title);
	if (shown < picture->gpus)
		gk_buf_printf(&title, "   GPUs: %zu of %zu", shown,
			      picture->gpus);
	for (unsigned i = 0; i < picture->absent_count; i++)
		gk_buf_printf(
		    &title, "%s%s", i ? ", " : "   not recorded: ",
		    gk_plot_panel_name(picture->chart, picture->absent[i]));
	lanes_cell(&d->grid, 0, 0, d->columns, false,
		   lanes_bold(&d->tui, INK_STRONG),
		   title.data ? title.data : "");
	gk_buf_free(&title);
	draw_events(d, 1);
	d->row = HEAD_ROWS;
}

static void draw_all(struct drawing *d)
{
	const struct gk_plot_picture *picture = d->picture;

	draw_head(d);
	if (titles_once(d)) {
		for (unsigned p = 0; p < picture->panel_count; p++)
			draw_heading(d, picture->bands[0].subjects[0], p,
				     d->row, column_of(d, p));
		d->row++;
	}
	for (size_t b = 0; b < picture->band_count; b++)
		for (size_t i = 0; i < picture->bands[b].count; i++)
			draw_lane(d, picture->bands[b].subjects[i]);
	draw_times(d);
}

int plot_lanes(const struct gk_plot_picture *picture)
{
	static struct drawing drawing;
	bool color = gk_use_color(GK_COLOR_AUTO);
	int columns, rows, status = GK_EXIT_FAILURE;
	struct gk_buf out = {0};

	gk_terminal_size(&columns, &rows);
	drawing = (struct drawing){.picture = picture};
	drawing.tui.options.term.theme = color ? TUI_DARK : TUI_MONO;
	drawing.tui.options.term.ascii = gk_use_ascii();
	if (begin_drawing(&drawing, columns)) {
		draw_all(&drawing);
		if (gk_use_ascii())
			grid_to_ascii(&drawing.grid);
		grid_text(&out, &drawing.grid, drawing.row, color);
	} else {
		out.failed = true;
	}
	if (out.failed)
		fprintf(stderr, "gpukit plot: out of memory\n");
	else if (gk_write_out(&out, "plot") != GK_OUTPUT_FAILED)
		status = GK_EXIT_OK;
	grid_free(&drawing.grid);
	gk_buf_free(&out);
	return status;
}
