/* SPDX-License-Identifier: Apache-2.0 */
/*
 * curves.c - draws the lines of a cell, the marks of events, and the texts
 * beside them.
 */
#include "plot/page.h"

#include "base/array.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* in pixels; shorter runs and gaps are merged into one mark */
#define RUN_LEAST 4.0

/* ---- data ---- */

static void add_point(const struct gk_plot_page *page, int64_t ms, double value)
{
	gk_buf_printf(page->out, "%.3f %.6g\n", gk_plot_x(page, ms), value);
}

/* Writes the minimum and the maximum of a bin, the earlier one first. */
static void add_bin(const struct gk_plot_page *page,
		    const struct gk_plot_bin *bin, double factor)
{
	bool up = bin->min_ms <= bin->max_ms;

	add_point(page, up ? bin->min_ms : bin->max_ms,
		  (up ? bin->min : bin->max) / factor);
	if (bin->min_ms != bin->max_ms)
		add_point(page, up ? bin->max_ms : bin->min_ms,
			  (up ? bin->max : bin->min) / factor);
}

static int64_t bin_start(const struct gk_plot_bin *bin)
{
	return bin->min_ms < bin->max_ms ? bin->min_ms : bin->max_ms;
}

static int64_t bin_end(const struct gk_plot_bin *bin)
{
	return bin->min_ms < bin->max_ms ? bin->max_ms : bin->min_ms;
}

/*
 * Returns the shift for bins that are half a pixel wide, because two points per
 * pixel suffice.
 */
static unsigned shift_for(const struct gk_plot_page *page,
			  const struct gk_plot_cell *cell)
{
	double pixels = 2 * (cell->right - cell->left) * page->scale;
	unsigned shift = 0;

	while (gk_plot_span(page) * 1000 / (double)(INT64_C(1) << shift) >
	       pixels)
		shift++;
	return shift;
}

/*
 * Draws a value that has no neighbours as a line of two pixels, so that it is
 * visible.
 */
static void add_alone(const struct gk_plot_page *page,
		      const struct gk_plot_cell *cell,
		      const struct gk_plot_bin *bin, double factor)
{
	double pixel = gk_plot_span(page) * 1000 / (cell->right - cell->left);

	if (bin->min_ms == bin->max_ms)
		add_point(page, bin->max_ms - (int64_t)(2 * pixel) - 1,
			  bin->max / factor);
}

static unsigned add_line_data(struct gk_plot_page *page,
			      const struct gk_plot_cell *cell,
			      const struct gk_plot_series *series)
{
	double factor = page->panels[cell->panel].unit.factor;
	unsigned shift = shift_for(page, cell);
	/*
	 * The extremes of a bin may be anywhere in it, so wide bins need a
	 * larger gap before the line is interrupted.
	 */
	int64_t gap = page->gap_ms + ((int64_t)2 << shift);
	struct gk_plot_bin bin, next;
	int64_t before = INT64_MIN / 2;
	size_t at = 0;
	bool more = gk_plot_series_next(series, shift, &at, &bin);

	gk_buf_printf(page->out, "$d%u << END\n", page->data);
	while (more) {
		bool starts = bin_start(&bin) - gap > before;

		more = gk_plot_series_next(series, shift, &at, &next);
		if (starts && before > 0)
			gk_buf_putc(page->out, '\n');
		if (starts && (!more || bin_start(&next) - gap > bin_end(&bin)))
			add_alone(page, cell, &bin, factor);
		add_bin(page, &bin, factor);
		before = bin_end(&bin);
		bin = next;
	}
	gk_buf_puts(page->out, "END\n");
	return page->data++;
}

/* ---- marks ---- */

/*
 * The maximum number of Xids in a label, the size of a label's buffer in bytes,
 * and the width of a digit in pixels.
 */
#define LABEL_NUMBERS 3
#define LABEL_MAX     48
#define CHAR_PIXELS   6

/*
 * gnuplot's point types: a filled triangle pointing down, one pointing up, a
 * cross, and a filled diamond.
 */
static const struct {
	int point;
	double size;
	bool broken, bar;
} signs[GK_PLOT_EVENTS] = {
    [GK_PLOT_BY_POWER] = {11, 1.0, false, true},
    [GK_PLOT_BY_HEAT] = {9, 1.0, false, true},
    [GK_PLOT_LOST] = {2, 0.9, true, false},
    [GK_PLOT_XID_CAME] = {2, 0.9, true, false},
    [GK_PLOT_ECC_CAME] = {13, 0.9, true, false},
};

/*
 * Returns the height at which the marks of a cell are drawn: on the line of the
 * capacity or, without such a line, near the top.
 */
static double mark_height(const struct gk_plot_page *page,
			  const struct gk_plot_cell *cell)
{
	double capacity = gk_plot_capacity(cell->band->subjects[0],
					   page->picture->panels[cell->panel]);

	return (isnan(capacity) ? cell->high / 1.04 : capacity) /
	       page->panels[cell->panel].unit.factor;
}

/*
 * Returns the next run of an event, merged with all runs that are close behind
 * it.
 */
static bool next_run(const struct gk_plot_subject *subject,
		     enum gk_plot_event event, int64_t near_ms, size_t *at,
		     struct gk_plot_run *ret_run)
{
	bool any = false;

	for (; *at < subject->run_count; ++*at) {
		const struct gk_plot_run *run = &subject->runs[*at];

		if (run->event != event)
			continue;
		if (!any)
			*ret_run = *run;
		else if (run->from_ms - ret_run->to_ms > near_ms ||
			 run->number != ret_run->number)
			return true;
		ret_run->to_ms = run->to_ms;
		any = true;
	}
	return any;
}

static bool has_event(const struct gk_plot_page *page,
		      const struct gk_plot_cell *cell, enum gk_plot_event event)
{
	const struct gk_plot_picture *picture = page->picture;

	if (gk_plot_event_panel(picture, event) != picture->panels[cell->panel])
		return false;
	for (size_t i = 0; i < cell->band->count; i++)
		for (size_t k = 0; k < cell->band->subjects[i]->run_count; k++)
			if (cell->band->subjects[i]->runs[k].event == event)
				return true;
	return false;
}

/*
 * A mark: the positions of its beginning, its symbol and its end; and the
 * number of an Xid.
 */
struct mark {
	double from, at, to;
	int number;
};

struct marks {
	struct mark *of;
	size_t count, cap;
};

static bool push_mark(struct marks *marks, struct mark mark)
{
	if (marks->count == marks->cap) {
		size_t cap = marks->cap ? 2 * marks->cap : 32;
		struct mark *more = realloc(marks->of, cap * sizeof *more);

		if (!more)
			return false;
		marks->of = more;
		marks->cap = cap;
	}
	marks->of[marks->count++] = mark;
	return true;
}

static int compare_marks(const void *a, const void *b)
{
	double x = ((const struct mark *)a)->at,
	       y = ((const struct mark *)b)->at;

	return (x > y) - (x < y);
}

/*
 * Collects the marks of all lines in a cell and sorts them from left to right.
 */
static void collect_marks(const struct gk_plot_page *page,
			  const struct gk_plot_cell *cell,
			  enum gk_plot_event event, double pixel_ms,
			  struct marks *marks)
{
	struct gk_plot_run run;

	for (size_t i = 0; i < cell->band->count; i++) {
		const struct gk_plot_subject *s = cell->band->subjects[i];

		for (size_t at = 0;
		     next_run(s, event, (int64_t)(RUN_LEAST * pixel_ms), &at,
			      &run);) {
			double from = gk_plot_x(page, run.from_ms);
			double to = gk_plot_x(page, run.to_ms);

			if (!push_mark(marks,
				       (struct mark){fmax(from, 0),
						     signs[event].bar
							 ? (from + to) / 2
							 : from,
						     to, run.number}))
				return;
		}
	}
	if (marks->count)
		qsort(marks->of, marks->count, sizeof *marks->of,
		      compare_marks);
}

static bool has_number(const struct mark *marks, size_t count, int number)
{
	for (size_t i = 0; i < count; i++)
		if (marks[i].number == number)
			return true;
	return false;
}

/*
 * Writes the label of a mark: its Xid's number, and those of later marks that
 * the label would overlap. Each number appears once, as in "48 63". If there
 * are more than LABEL_NUMBERS, the label ends with the number of omitted ones,
 * as in "+2". Returns the number of marks that the label covers.
 */
static size_t label_of_marks(const struct marks *marks, size_t first,
			     double seconds_a_char, char dst[LABEL_MAX])
{
	const struct mark *m = &marks->of[first];
	size_t count = marks->count - first, n = 0, len = 0, more = 0;
	int shown = 0;

	for (; n < count; n++) {
		double end = m->at + seconds_a_char * (double)(len + 3);

		if (n && m[n].at > end)
			break;
		if (has_number(m, n, m[n].number))
			continue;
		if (shown == LABEL_NUMBERS)
			more++;
		else
			len +=
			    (size_t)snprintf(dst + len, LABEL_MAX - len, "%s%d",
					     shown++ ? " " : "", m[n].number);
	}
	if (more)
		snprintf(dst + len, LABEL_MAX - len, " +%zu", more);
	return n;
}

/*
 * Writes for each run of an event its beginning, middle and end, its height,
 * and the numbers of its Xids.
 */
static void add_mark_data(struct gk_plot_page *page,
			  const struct gk_plot_cell *cell,
			  enum gk_plot_event event)
{
	double pixel = gk_plot_span(page) * 1000 / (cell->right - cell->left);
	double y = mark_height(page, cell);
	struct marks marks = {0};
	size_t labelled = 0;

	collect_marks(page, cell, event, pixel, &marks);
	gk_buf_printf(page->out, "$m%u_%d << END\n", page->data, (int)event);
	for (size_t i = 0; i < marks.count; i++) {
		const struct mark *m = &marks.of[i];
		char label[LABEL_MAX] = "";

		if (event == GK_PLOT_XID_CAME && i == labelled)
			labelled += label_of_marks(
			    &marks, i, pixel / 1000 * CHAR_PIXELS * page->font,
			    label);
		gk_buf_printf(page->out, "%.3f %.3f %.3f %.6g \"%s\"\n",
			      m->from, m->at, m->to, y, label);
	}
	gk_buf_puts(page->out, "END\n");
	free(marks.of);
}

static void add_mark_terms(const struct gk_plot_page *page, unsigned data,
			   enum gk_plot_event event)
{
	const char *color =
	    signs[event].broken ? page->colors->fail : page->colors->warn;

	if (signs[event].bar)
		gk_buf_printf(page->out,
			      ", $m%u_%d using 1:4:($3-$1):(0) with vectors "
			      "nohead linewidth 2 linecolor rgb '%s'",
			      data, (int)event, color);
	gk_buf_printf(page->out,
		      ", $m%u_%d using 2:4 with points pointtype %d pointsize "
		      "%g linewidth 1.6 linecolor rgb '%s'",
		      data, (int)event, signs[event].point, signs[event].size,
		      color);
	if (event == GK_PLOT_XID_CAME)
		gk_buf_printf(page->out,
			      ", $m%u_%d using 2:4:5 with labels left offset "
			      "0.7,0 font ',%g' textcolor rgb '%s'",
			      data, (int)event, 7 * page->font, color);
}

/* ---- curves ---- */

static void add_capacity(const struct gk_plot_page *page,
			 const struct gk_plot_cell *cell,
			 const struct gk_plot_subject *subject)
{
	double capacity =
	    gk_plot_capacity(subject, page->picture->panels[cell->panel]);

	if (!isnan(capacity))
		gk_buf_printf(page->out,
			      ", %.6g with lines linewidth 1 dashtype (14,14) "
			      "linecolor rgb '%s'",
			      capacity / page->panels[cell->panel].unit.factor,
			      page->colors->capacity);
}

/*
 * A single line has the area below it filled with the panel's colour.
 */
static void add_line_terms(const struct gk_plot_page *page,
			   const struct gk_plot_cell *cell, size_t count,
			   unsigned first)
{
	static const char *const dashes[] = {"1", "(12,4)", "(3,3)"};

	if (count == 1)
		gk_buf_printf(page->out,
			      ", $d%u using 1:2 with filledcurves y1=0 "
			      "fillcolor rgb '%s'",
			      first, gk_plot_panel_fill(page, cell->panel));
	for (unsigned i = 0; i < count; i++)
		gk_buf_printf(
		    page->out,
		    ", $d%u using 1:2 with lines linewidth 1.3 dashtype %s "
		    "linecolor rgb '%s'",
		    first + i, count == 1 ? "1" : dashes[i % COUNT(dashes)],
		    count == 1 ? gk_plot_panel_color(page, cell->panel)
			       : page->colors->line[i % COUNT(dashes)]);
}

void gk_plot_curves(struct gk_plot_page *page, const struct gk_plot_cell *cell)
{
	const struct gk_plot_subject *lines[GK_PLOT_CELL_LINES];
	enum gk_plot_quantity q = page->picture->panels[cell->panel];
	size_t count = gk_plot_cell_lines(page, cell, lines);
	double factor = page->panels[cell->panel].unit.factor;
	bool stacked = gk_plot_is_stacked(page, cell);
	unsigned first = page->data;

	if (stacked)
		gk_plot_stack_data(page, cell);
	for (size_t i = 0; i < count && !stacked; i++)
		add_line_data(page, cell, &lines[i]->tracks[q]->series);
	for (int e = 0; e < GK_PLOT_EVENTS; e++)
		if (has_event(page, cell, (enum gk_plot_event)e))
			add_mark_data(page, cell, (enum gk_plot_event)e);
	gk_buf_printf(page->out, "plot [0:%.3f][%.6g:%.6g] NaN",
		      gk_plot_span(page), cell->low / factor,
		      cell->high / factor);
	if (stacked)
		gk_plot_stack_terms(page, cell, first);
	else
		add_line_terms(page, cell, count, first);
	if (count)
		add_capacity(page, cell, lines[0]);
	for (int e = 0; e < GK_PLOT_EVENTS; e++)
		if (has_event(page, cell, (enum gk_plot_event)e))
			add_mark_terms(page, page->data, (enum gk_plot_event)e);
	gk_buf_putc(page->out, '\n');
}

/* ---- texts at the right edge ---- */

#define LINE_HEIGHT 29.0 /* height in pixels of a label with two lines */

/*
 * Writes the value, mean and peak of the only line of a cell, or as many of
 * them as the height of the cell permits.
 */
static void add_single_end(const struct gk_plot_page *page,
			   const struct gk_plot_cell *cell,
			   const struct gk_plot_subject *subject)
{
	const struct gk_plot_unit *unit = &page->panels[cell->panel].unit;
	const struct gk_plot_track *track =
	    subject->tracks[page->picture->panels[cell->panel]];
	double height = cell->bottom - cell->top, x = cell->right + 7;
	double step = fmin(24, height / 3);
	char text[64];

	snprintf(text, sizeof text, "%.*f", unit->decimals,
		 track->last / unit->factor);
	gk_plot_text(page, x, cell->top + 0.55 * step, "left", 10, GK_PLOT_BOLD,
		     subject->lost ? page->colors->fail
				   : gk_plot_panel_color(page, cell->panel),
		     subject->lost ? "lost" : text);
	snprintf(text, sizeof text, "mean %.*f", unit->decimals,
		 gk_plot_track_mean(track) / unit->factor);
	gk_plot_text(page, x, cell->top + 1.6 * step, "left", 8, GK_PLOT_PLAIN,
		     page->colors->grey, text);
	snprintf(text, sizeof text, "max %.*f", unit->decimals,
		 track->max / unit->factor);
	gk_plot_text(page, x, cell->top + 2.5 * step, "left", 8, GK_PLOT_PLAIN,
		     page->colors->grey, text);
}

/*
 * Returns the text that distinguishes a line from others in its cell: the name
 * of its GPU or of its file.
 */
static const char *line_name(const struct gk_plot_page *page,
			     const struct gk_plot_subject *subject,
			     char dst[32])
{
	if (page->picture->chart->file_count < 2 ||
	    (page->picture->strips && page->picture->gpus > 1))
		return subject->label;
	snprintf(dst, 32, "%c", 'A' + (int)subject->file);
	return dst;
}

struct end {
	const struct gk_plot_subject *subject;
	size_t line;
	double y;
};

static int compare_ends(const void *a, const void *b)
{
	const struct end *left = a, *right = b;

	return (left->y > right->y) - (left->y < right->y);
}

/*
 * Moves overlapping labels apart: first downwards, then upwards from the bottom
 * of the cell.
 */
static void push_apart(struct end *ends, size_t count, double top,
		       double bottom)
{
	double next = top;

	qsort(ends, count, sizeof *ends, compare_ends);
	for (size_t i = 0; i < count; i++) {
		ends[i].y = fmax(ends[i].y, next);
		next = ends[i].y + LINE_HEIGHT;
	}
	next = bottom - LINE_HEIGHT;
	for (size_t i = count; i--;) {
		ends[i].y = fmin(ends[i].y, next);
		next = ends[i].y - LINE_HEIGHT;
	}
}

static void add_end(const struct gk_plot_page *page,
		    const struct gk_plot_cell *cell, const struct end *end)
{
	const struct gk_plot_unit *unit = &page->panels[cell->panel].unit;
	const struct gk_plot_track *track =
	    end->subject->tracks[page->picture->panels[cell->panel]];
	const char *color = page->colors->line[end->line % 3];
	char text[128], name[32], value[32];

	snprintf(value, sizeof value, "%.*f", unit->decimals,
		 track->last / unit->factor);
	snprintf(text, sizeof text, "%s  %s",
		 line_name(page, end->subject, name),
		 end->subject->lost ? "lost" : value);
	gk_plot_text(page, cell->right + 7, end->y + 7, "left", 10,
		     GK_PLOT_BOLD,
		     end->subject->lost ? page->colors->fail : color, text);
	snprintf(text, sizeof text, "mean %.*f", unit->decimals,
		 gk_plot_track_mean(track) / unit->factor);
	/* There is no space for the maximum in a grid. */
	if (page->picture->strips) {
		size_t len = strlen(text);

		snprintf(text + len, sizeof text - len, "  max %.*f",
			 unit->decimals, track->max / unit->factor);
	}
	gk_plot_text(page, cell->right + 7, end->y + 20, "left", 8,
		     GK_PLOT_PLAIN, page->colors->grey, text);
}

void gk_plot_ends(const struct gk_plot_page *page,
		  const struct gk_plot_cell *cell)
{
	const struct gk_plot_subject *lines[GK_PLOT_CELL_LINES];
	size_t count = gk_plot_cell_lines(page, cell, lines);
	double height = cell->bottom - cell->top;
	struct end ends[GK_PLOT_CELL_LINES];

	if (gk_plot_is_stacked(page, cell)) {
		gk_plot_stack_ends(page, cell);
		return;
	}
	if (count == 1) {
		add_single_end(page, cell, lines[0]);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		double last =
		    lines[i]->tracks[page->picture->panels[cell->panel]]->last;

		ends[i] = (struct end){lines[i], i,
				       cell->bottom - 14 -
					   height * (last - cell->low) /
					       (cell->high - cell->low)};
	}
	push_apart(ends, count, cell->top - 8, cell->bottom + 8);
	for (size_t i = 0; i < count; i++)
		add_end(page, cell, &ends[i]);
}
