/* SPDX-License-Identifier: Apache-2.0 */
/* script.c - writes a page of a picture as a gnuplot script. */
#include "plot/hover.h"
#include "plot/page.h"

#include "base/array.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define MINUTE 60
#define HOUR   3600
#define DAY    86400

/* ---- the terminal ---- */

/* Opens a window of the first type that this gnuplot supports. */
static void add_window(const struct gk_plot_page *page, double w, double h)
{
	static const char *const names[] = {"qt", "wxt", "x11"};

	for (size_t i = 0; i < COUNT(names); i++)
		gk_buf_printf(page->out,
			      "%sif (strstrt(' '.GPVAL_TERMINALS, ' %s ')) {\n"
			      "set terminal %s noenhanced size %.0f,%.0f font "
			      "'Sans,%.4g' linewidth %.3f\n}",
			      i ? " else {\n" : "", names[i], names[i], w, h,
			      9 * page->font, page->scale);
	gk_buf_puts(page->out,
		    " else {\nexit error 'it cannot open windows: install the "
		    "package gnuplot-qt'\n}\n}\n}\n");
}

static void add_terminal(const struct gk_plot_page *page)
{
	double w = round(page->width * page->scale);
	double h = round(page->height * page->scale), s = page->scale;
	const char *ground = page->colors->ground;
	struct gk_buf *out = page->out;

	switch (page->look->form) {
	case GK_PLOT_PNG:
		gk_buf_printf(out,
			      "set terminal pngcairo noenhanced size %.0f,%.0f "
			      "font 'Sans,9' fontscale %.4f linewidth %.3f "
			      "pointscale %.3f background rgb '%s'\n",
			      w, h, s, s, s, ground);
		break;
	case GK_PLOT_SVG:
		gk_buf_printf(out,
			      "set terminal svg mouse standalone noenhanced "
			      "size %.0f,%.0f font 'sans-serif,%.4g' "
			      "linewidth %.3f\n",
			      w, h, 9 * page->font, s);
		break;
	case GK_PLOT_PDF:
		/*
		 * gnuplot's sizes are in inches, of 96 pixels each; its font
		 * sizes are in points, of 4/3 pixels each.
		 */
		gk_buf_printf(out,
			      "set terminal pdfcairo noenhanced size %.3f,%.3f "
			      "font 'Sans,9' fontscale %.4f linewidth %.3f "
			      "pointscale %.3f background rgb '%s'\n",
			      w / 96, h / 96, s * 3 / 4, s, s, ground);
		break;
	case GK_PLOT_WINDOW:
		add_window(page, w, h);
		break;
	}
}

/* ---- times below the cells ---- */

static const int steps[] = {
    1,       2,          5,          10,          15,          30,
    MINUTE,  2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE,
    HOUR,    2 * HOUR,   3 * HOUR,   6 * HOUR,    12 * HOUR,   DAY,
    2 * DAY, 7 * DAY,    14 * DAY,   28 * DAY,    91 * DAY,    364 * DAY};

/*
 * Returns the step between time labels in seconds, large enough that the labels
 * do not touch.
 */
static int step_for(double span, double width, bool aligned)
{
	for (size_t i = 0; i < COUNT(steps); i++) {
		bool seconds = aligned || steps[i] < MINUTE;

		if (width * steps[i] / span >= (seconds ? 84 : 64))
			return steps[i];
	}
	return steps[COUNT(steps) - 1];
}

static void tic_text(const struct gk_plot_chart *chart, int64_t ms, int step,
		     char dst[32])
{
	time_t seconds = (time_t)(ms / 1000);
	struct tm tm = {0};

	gmtime_r(&seconds, &tm);
	if (!chart->aligned && ms % (DAY * 1000LL) == 0)
		strftime(dst, 32, step >= 91 * DAY ? "%b %Y" : "%d %b", &tm);
	else
		gk_plot_clock(chart, ms, step < MINUTE || chart->aligned, dst);
}

static void add_time_tics(const struct gk_plot_page *page,
			  const struct gk_plot_cell *cell)
{
	const struct gk_plot_chart *chart = page->picture->chart;
	int step = step_for(gk_plot_span(page), cell->right - cell->left,
			    chart->aligned);
	int64_t wide = step * 1000LL;
	int64_t at = (chart->first_ms + wide - 1) / wide * wide;
	int64_t end = chart->first_ms + (int64_t)(gk_plot_span(page) * 1000);
	char text[32] = "";
	bool any = false;

	gk_buf_puts(page->out,
		    "set xtics out nomirror scale 0.3 offset 0,0.4 (");
	for (; at <= end; at += wide) {
		if (cell->last)
			tic_text(chart, at, step, text);
		gk_buf_printf(page->out, "%s'%s' %.3f", any ? "," : "", text,
			      gk_plot_x(page, at));
		any = true;
	}
	gk_buf_printf(page->out, ") font ',%g' textcolor rgb '%s'\n",
		      8 * page->font, page->colors->grey);
	if (!any)
		gk_buf_puts(page->out, "unset xtics\n");
}

/* ---- a cell ---- */

/*
 * Returns the step between numbers on the axis: 1, 2 or 5 times a power of ten,
 * so that there is at most one number per 22 pixels.
 */
static double nice_step(double range, double pixels)
{
	double least = range * 22 / pixels;
	double power = pow(10, floor(log10(least)));

	return power * (least <= power       ? 1
			: least <= 2 * power ? 2
			: least <= 5 * power ? 5
					     : 10);
}

/* Numbers on the left fit only beside strips. */
static void add_value_tics(const struct gk_plot_page *page,
			   const struct gk_plot_cell *cell)
{
	const char *faint = page->colors->faint;

	if (!page->picture->strips) {
		gk_buf_puts(page->out, "unset ytics\nunset grid\n");
		return;
	}
	gk_buf_printf(page->out,
		      "set ytics out nomirror scale 0 font ',%g' textcolor rgb "
		      "'%s'\nset grid ytics back linewidth 0.6 linecolor rgb "
		      "'%s' dashtype 1\n",
		      8 * page->font, page->colors->grey, faint);
	gk_buf_printf(page->out, "set ytics %.6g\n",
		      nice_step((cell->high - cell->low) /
				    page->panels[cell->panel].unit.factor,
				cell->bottom - cell->top));
}

static void add_cell(struct gk_plot_page *page, const struct gk_plot_cell *cell)
{
	gk_buf_printf(page->out,
		      "set lmargin at screen %.5f\nset rmargin at screen "
		      "%.5f\nset tmargin at screen %.5f\nset bmargin at screen "
		      "%.5f\nset border 1 linewidth 0.8 linecolor rgb '%s'\n",
		      cell->left / page->width, cell->right / page->width,
		      1 - cell->top / page->height,
		      1 - cell->bottom / page->height, page->colors->faint);
	add_time_tics(page, cell);
	add_value_tics(page, cell);
	gk_plot_curves(page, cell);
	gk_buf_puts(page->out, "unset label\nunset object\n");
	if (page->look->form == GK_PLOT_SVG)
		gk_plot_hover(page, cell);
}

/* Whether a band has values in this cell. */
static bool has_lines(const struct gk_plot_page *page,
		      const struct gk_plot_cell *cell)
{
	const struct gk_plot_subject *lines[GK_PLOT_CELL_LINES];

	return gk_plot_cell_lines(page, cell, lines) > 0;
}

/* ---- surrounding texts ---- */

static void add_subtitle_of_marks(const struct gk_plot_page *page,
				  struct gk_buf *text)
{
	static const char *const words[GK_PLOT_EVENTS] = {
	    "▼ held back by power", "▲ by heat", "✕ lost", "✕ Xid", "◆ ECC"};
	bool any[GK_PLOT_EVENTS] = {false};

	for (size_t b = 0; b < page->band_count; b++) {
		const struct gk_plot_band *band =
		    &page->picture->bands[page->first_band + b];

		for (size_t i = 0; i < band->count; i++)
			for (size_t k = 0; k < band->subjects[i]->run_count;
			     k++)
				any[band->subjects[i]->runs[k].event] = true;
	}
	for (int e = 0; e < GK_PLOT_EVENTS; e++)
		if (any[e] && !(e == GK_PLOT_BY_HEAT && any[0]))
			gk_buf_printf(text, "; %s",
				      e == GK_PLOT_BY_HEAT
					  ? "▲ held back by heat"
					  : words[e]);
		else if (any[e])
			gk_buf_printf(text, ", %s", words[e]);
}

static void add_subtitle(const struct gk_plot_page *page)
{
	const struct gk_plot_picture *picture = page->picture;
	struct gk_buf text = {0};

	gk_buf_puts(&text, page->look->command);
	if (!picture->chart->aligned)
		gk_buf_puts(&text, "   ");
	gk_plot_days(picture->chart, &text);
	if (picture->gpus > page->band_count && !picture->strips)
		gk_buf_printf(&text, "   GPUs: %zu of %zu", page->band_count,
			      picture->gpus);
	gk_buf_printf(&text, "   at the right %s%s",
		      picture->by_owner ? "the peak of each process"
					: "the last value, mean and peak",
		      page->any_capacity ? "; dashed: capacity" : "");
	add_subtitle_of_marks(page, &text);
	if (text.data)
		gk_plot_text(page, 20, 54, "left", 9, GK_PLOT_PLAIN,
			     page->colors->grey, text.data);
	gk_buf_free(&text);
}

/* Whether a GPU was lost all the time and therefore has no values. */
static bool was_never_there(const struct gk_plot_picture *picture,
			    const struct gk_plot_subject *subject)
{
	for (unsigned p = 0; p < picture->panel_count; p++)
		if (subject->tracks[picture->panels[p]])
			return false;
	return subject->lost;
}

/*
 * Names the requested panels that no file has. In strips, also names the GPUs
 * without any value; in a grid these have their own rows.
 */
static void add_absent(const struct gk_plot_page *page)
{
	const struct gk_plot_picture *picture = page->picture;
	struct gk_buf text = {0};

	for (unsigned i = 0; i < picture->absent_count; i++)
		gk_buf_printf(
		    &text, "%s%s", i ? ", " : "not recorded: ",
		    gk_plot_panel_name(picture->chart, picture->absent[i]));
	for (size_t b = 0; b < page->band_count && picture->strips; b++) {
		const struct gk_plot_band *band =
		    &picture->bands[page->first_band + b];

		for (size_t i = 0; i < band->count; i++)
			if (was_never_there(picture, band->subjects[i]))
				gk_buf_printf(&text, "%s%s: lost all the time",
					      text.len ? "; " : "",
					      band->subjects[i]->label);
	}
	if (text.data)
		gk_plot_text(page, 20, 70, "left", 9, GK_PLOT_PLAIN,
			     page->colors->grey, text.data);
	gk_buf_free(&text);
}

/* If several files share a panel, shows which line belongs to which file. */
static void add_files(const struct gk_plot_page *page)
{
	const struct gk_plot_chart *chart = page->picture->chart;
	char text[128];

	if (chart->file_count < 2)
		return;
	for (unsigned i = 0; i < chart->file_count && i < 3; i++) {
		snprintf(text, sizeof text, "%c  %.100s", 'A' + (int)i,
			 chart->files[i].name);
		gk_plot_text(page, page->right, 20 + 16 * (double)i, "right", 9,
			     GK_PLOT_BOLD, page->colors->line[i], text);
	}
}

static void add_title(const struct gk_plot_page *page)
{
	struct gk_buf title = {0};

	if (page->look->title)
		gk_buf_puts(&title, page->look->title);
	else
		gk_plot_title(page->picture->chart, &title);
	if (title.data)
		gk_plot_text(page, 20, 28, "left", 15, GK_PLOT_PLAIN,
			     page->colors->text, title.data);
	gk_buf_free(&title);
	add_subtitle(page);
	add_absent(page);
	add_files(page);
}

/* Writes the capacity of a panel above the right end of its dashed line. */
static void add_capacity_text(const struct gk_plot_page *page,
			      const struct gk_plot_cell *cell, bool of_all)
{
	const struct gk_plot_unit *unit = &page->panels[cell->panel].unit;
	double capacity = page->panels[cell->panel].capacity;
	char text[32];

	if (isnan(capacity) && !of_all)
		capacity = gk_plot_capacity(cell->band->subjects[0],
					    page->picture->panels[cell->panel]);
	else if (!of_all)
		return;
	if (isnan(capacity))
		return;
	snprintf(text, sizeof text, "%.0f", capacity / unit->factor);
	gk_plot_text(page, cell->right, cell->top - 8, "right", 8,
		     GK_PLOT_PLAIN, page->colors->grey, text);
}

static void add_heading(const struct gk_plot_page *page,
			const struct gk_plot_cell *cell)
{
	char text[160];

	snprintf(text, sizeof text, "%s %s",
		 gk_plot_panel_name(page->picture->chart,
				    page->picture->panels[cell->panel]),
		 page->panels[cell->panel].unit.text);
	gk_plot_text(page, cell->left,
		     cell->top - (page->picture->strips ? 11 : 16), "left", 10,
		     GK_PLOT_BOLD, gk_plot_panel_color(page, cell->panel),
		     text);
	add_capacity_text(page, cell, true);
}

/* Writes a GPU's name beside its row. */
static void add_row_label(const struct gk_plot_page *page,
			  const struct gk_plot_cell *cell)
{
	double y = (cell->top + cell->bottom) / 2;

	gk_plot_text(page, 20, y, "left", 10, GK_PLOT_BOLD, page->colors->text,
		     cell->band->label);
	if (was_never_there(page->picture, cell->band->subjects[0]))
		gk_plot_text(page, page->left, y, "left", 10, GK_PLOT_BOLD,
			     page->colors->fail, "lost all the time");
}

static void add_cell_labels(const struct gk_plot_page *page, size_t band,
			    unsigned panel)
{
	struct gk_plot_cell cell = gk_plot_page_cell(page, band, panel);

	if (!panel && !page->picture->strips)
		add_row_label(page, &cell);
	if (!band)
		add_heading(page, &cell);
	if (!has_lines(page, &cell))
		return;
	add_capacity_text(page, &cell, false);
	gk_plot_ends(page, &cell);
}

static void add_labels(const struct gk_plot_page *page)
{
	for (size_t b = 0; b < page->band_count; b++)
		for (unsigned p = 0; p < page->picture->panel_count; p++)
			add_cell_labels(page, b, p);
}

void gk_plot_script(const struct gk_plot_picture *picture,
		    const struct gk_plot_look *look, bool all, size_t number,
		    struct gk_buf *out)
{
	struct gk_plot_page page;

	gk_plot_page_set(&page, picture, look, all, number, out);
	add_terminal(&page);
	gk_buf_printf(out,
		      "set encoding utf8\nset multiplot\nunset key\n"
		      "set object rectangle from screen 0,0 to screen 1,1 "
		      "behind fillcolor rgb '%s' fillstyle solid noborder\n",
		      page.colors->ground);
	add_title(&page);
	add_labels(&page);
	for (size_t b = 0; b < page.band_count; b++)
		for (unsigned p = 0; p < picture->panel_count; p++) {
			struct gk_plot_cell cell =
			    gk_plot_page_cell(&page, b, p);

			if (has_lines(&page, &cell))
				add_cell(&page, &cell);
		}
	gk_buf_puts(out, "unset multiplot\n");
}
