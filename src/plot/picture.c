/* SPDX-License-Identifier: Apache-2.0 */
/* picture.c - chooses the panels and GPUs of a picture. */
#include "plot/picture.h"

#include "base/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The maximum number of GPUs that share a strip. */
#define STRIP_MOST 3

void gk_plot_picture_free(struct gk_plot_picture *picture)
{
	free(picture->subjects);
	free(picture->bands);
	*picture = (struct gk_plot_picture){0};
}

/* ---- panels ---- */

static bool chart_has(const struct gk_plot_chart *chart,
		      enum gk_plot_quantity panel)
{
	for (size_t i = 0; i < chart->subject_count; i++)
		if (chart->subjects[i].kind != GK_PLOT_PROCESS &&
		    chart->subjects[i].tracks[panel])
			return true;
	return false;
}

static void add_panel(struct gk_plot_picture *picture,
		      enum gk_plot_quantity panel, bool asked)
{
	for (unsigned i = 0; i < picture->panel_count; i++)
		if (picture->panels[i] == panel)
			return;
	if (chart_has(picture->chart, panel))
		picture->panels[picture->panel_count++] = panel;
	else if (asked)
		picture->absent[picture->absent_count++] = panel;
}

/*
 * Whether there is a file that names no GPUs and therefore is about the host.
 */
static bool is_of_host(const struct gk_plot_chart *chart)
{
	for (unsigned i = 0; i < chart->file_count; i++)
		if (!chart->files[i].gpus)
			return true;
	return false;
}

static void choose_panels(struct gk_plot_picture *picture,
			  const struct gk_plot_wish *wish)
{
	static const enum gk_plot_quantity usual[] = {
	    GK_PLOT_BUSY,        GK_PLOT_MEMORY,      GK_PLOT_POWER,
	    GK_PLOT_TEMPERATURE, GK_PLOT_HOST_MEMORY, GK_PLOT_CPU};
	unsigned count = is_of_host(picture->chart) ? 6 : 4;

	for (unsigned i = 0; i < count && (wish->more || !wish->panel_count);
	     i++)
		add_panel(picture, usual[i], false);
	for (unsigned i = 0; i < wish->panel_count; i++)
		add_panel(picture, wish->panels[i], true);
}

/* ---- GPUs ---- */

static bool is_shown(const struct gk_plot_picture *picture,
		     const struct gk_plot_subject *subject)
{
	if (subject->kind == GK_PLOT_PROCESS ||
	    (subject->kind == GK_PLOT_GPU && picture->chart->filter.pid_count &&
	     !subject->chosen && picture->chart->files[subject->file].gpus))
		return false;
	for (unsigned i = 0; i < picture->panel_count; i++)
		if (subject->tracks[picture->panels[i]])
			return true;
	/* Show a GPU that was always lost, too, although it has no values. */
	return subject->lost;
}

/* Sorts GPUs by number, then by file; the host comes last. */
static int compare_subjects(const void *a, const void *b)
{
	const struct gk_plot_subject *left =
	    *(const struct gk_plot_subject *const *)a;
	const struct gk_plot_subject *right =
	    *(const struct gk_plot_subject *const *)b;
	int order = (int)left->kind - (int)right->kind;

	if (!order)
		order = strverscmp(left->label, right->label);
	return order ? order : (int)left->file - (int)right->file;
}

static size_t list_subjects(struct gk_plot_picture *picture)
{
	const struct gk_plot_chart *chart = picture->chart;
	size_t count = 0;

	for (size_t i = 0; i < chart->subject_count; i++)
		if (is_shown(picture, &chart->subjects[i]))
			picture->subjects[count++] = &chart->subjects[i];
	qsort(picture->subjects, count, sizeof *picture->subjects,
	      compare_subjects);
	return count;
}

static void group_bands(struct gk_plot_picture *picture, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct gk_plot_subject **at = &picture->subjects[i];
		struct gk_plot_band *band =
		    &picture->bands[picture->band_count];

		if (i && at[0]->kind == at[-1]->kind &&
		    !strcmp(at[0]->label, at[-1]->label)) {
			band[-1].count++;
			continue;
		}
		*band = (struct gk_plot_band){at[0]->label, at, 1};
		picture->band_count++;
		picture->gpus += at[0]->kind == GK_PLOT_GPU;
	}
}

/*
 * Chooses between strips and a grid. A few lines are best compared in one
 * place; many lines each need their own.
 */
static void make_strips(struct gk_plot_picture *picture, size_t count)
{
	bool host = count && picture->subjects[count - 1]->kind == GK_PLOT_HOST;
	bool alike = picture->band_count == count;

	if (picture->gpus > 1 &&
	    (picture->gpus > STRIP_MOST || !alike || picture->by_owner))
		return;
	if (picture->gpus <= 1 && count - host > STRIP_MOST)
		return;
	picture->strips = true;
	picture->bands[0].count = count;
	picture->band_count = 1;
}

/* ---- choosing the most interesting GPUs ---- */

static double sum_busyness(const struct gk_plot_band *band)
{
	static const enum gk_plot_quantity by[] = {GK_PLOT_BUSY,
						   GK_PLOT_MEMORY};

	for (size_t i = 0; i < 2; i++)
		if (band->subjects[0]->tracks[by[i]])
			return gk_plot_track_mean(
			    band->subjects[0]->tracks[by[i]]);
	return -1;
}

static bool had_trouble(const struct gk_plot_band *band)
{
	for (size_t i = 0; i < band->count; i++)
		for (size_t k = 0; k < band->subjects[i]->run_count; k++)
			if (band->subjects[i]->runs[k].event <= GK_PLOT_LOST)
				return true;
	return false;
}

/*
 * Returns how many bands come before this one in the order of load: busier
 * ones, and earlier ones that are equally busy.
 */
static size_t rank_of(const struct gk_plot_picture *picture, size_t index)
{
	double own = sum_busyness(&picture->bands[index]);
	size_t rank = 0;

	for (size_t i = 0; i < picture->band_count; i++) {
		double other = sum_busyness(&picture->bands[i]);

		rank += other > own || (!(other < own) && i < index);
	}
	return rank;
}

static int leave_some_out(struct gk_plot_picture *picture)
{
	bool *kept = calloc(picture->band_count, sizeof *kept);
	size_t count = 0;

	if (!kept)
		return GK_ERR_NOMEM;
	for (size_t i = 0; i < picture->band_count; i++)
		kept[i] = rank_of(picture, i) < GK_PLOT_PAGE ||
			  had_trouble(&picture->bands[i]);
	for (size_t i = 0; i < picture->band_count; i++)
		if (kept[i])
			picture->bands[count++] = picture->bands[i];
	picture->band_count = count;
	free(kept);
	return 0;
}

int gk_plot_picture_new(const struct gk_plot_chart *chart,
			const struct gk_plot_wish *wish,
			struct gk_plot_picture *ret_picture)
{
	struct gk_plot_picture picture = {.chart = chart,
					  .by_owner = wish->by_owner};
	size_t count, room = chart->subject_count + 1;
	int r = 0;

	picture.subjects = calloc(room, sizeof *picture.subjects);
	picture.bands = calloc(room, sizeof *picture.bands);
	if (!picture.subjects || !picture.bands) {
		gk_plot_picture_free(&picture);
		return GK_ERR_NOMEM;
	}
	choose_panels(&picture, wish);
	count = list_subjects(&picture);
	group_bands(&picture, count);
	if (count)
		make_strips(&picture, count);
	if (!wish->all && picture.band_count > GK_PLOT_PAGE)
		r = leave_some_out(&picture);
	if (!r && (!count || !picture.panel_count))
		r = GK_ERR_NOT_FOUND;
	if (r)
		gk_plot_picture_free(&picture);
	else
		*ret_picture = picture;
	return r;
}
