/* SPDX-License-Identifier: Apache-2.0 */
/*
 * picture.h - decides what a picture of a chart shows: which panels and GPUs,
 * and in which order. script.h draws the picture, or a terminal does.
 */
#ifndef GK_PLOT_PICTURE_H
#define GK_PLOT_PICTURE_H

#include "plot/chart.h"

/* The number of GPUs on one page with a grid. */
#define GK_PLOT_PAGE 16

/* The user's choice of what to show; the defaults if zeroed. */
struct gk_plot_wish {
	/* The panels to show. If none are given, those for which the files have
	 * values. */
	enum gk_plot_quantity panels[GK_PLOT_PANELS];
	unsigned panel_count;
	bool more;     /* show the default panels in addition to those in
			* `panels` */
	bool by_owner; /* split memory and time by process */
	bool all;      /* show all GPUs, on several pages if needed */
};

/* GPUs that share a row: those of the same name or, in strips, all GPUs. */
struct gk_plot_band {
	const char *label; /* borrowed from a subject */
	/* a part of picture->subjects */
	const struct gk_plot_subject **subjects;
	size_t count;
};

/*
 * A picture of a chart. The chart must outlive the picture. Free it with
 * gk_plot_picture_free().
 */
struct gk_plot_picture {
	const struct gk_plot_chart *chart;
	enum gk_plot_quantity panels[GK_PLOT_PANELS];
	unsigned panel_count;
	/* panels that the user requested but for which no file has values */
	enum gk_plot_quantity absent[GK_PLOT_PANELS];
	unsigned absent_count;
	const struct gk_plot_subject **subjects;
	struct gk_plot_band *bands;
	size_t band_count;
	size_t gpus; /* GPUs in the picture; bands may have fewer */
	bool strips; /* a single band, with panels one below the other */
	bool by_owner;
};

/*
 * Makes a picture. Returns 0, GK_ERR_NOT_FOUND if there is nothing to show, or
 * GK_ERR_NOMEM.
 */
int gk_plot_picture_new(const struct gk_plot_chart *chart,
			const struct gk_plot_wish *wish,
			struct gk_plot_picture *ret_picture);
void gk_plot_picture_free(struct gk_plot_picture *picture);

/* ---- panels ---- */

/*
 * Returns a panel's name, such as "busy", or the name of a column that the user
 * asked for.
 */
const char *gk_plot_panel_name(const struct gk_plot_chart *chart,
			       enum gk_plot_quantity panel);

/* How to write the numbers of a panel. */
struct gk_plot_unit {
	char text[16];
	double factor; /* values are divided by this */
	int decimals;
};

/* Returns the unit of a panel; peak is the greatest value that is shown. */
struct gk_plot_unit gk_plot_panel_unit(const struct gk_plot_chart *chart,
				       enum gk_plot_quantity panel,
				       double peak);

/* Returns a GPU's maximum in a panel, or NaN if it is unknown. */
double gk_plot_capacity(const struct gk_plot_subject *subject,
			enum gk_plot_quantity panel);

/* Returns the shown panel that has the marks of an event. */
enum gk_plot_quantity gk_plot_event_panel(const struct gk_plot_picture *picture,
					  enum gk_plot_event event);

/* ---- texts ---- */

/* Writes a title, such as "atlas · 8 × H100 80GB HBM3 · 21:12 to 21:42". */
void gk_plot_title(const struct gk_plot_chart *chart, struct gk_buf *out);

/* Writes the day, such as "2026-11-28"; nothing with --compare. */
void gk_plot_days(const struct gk_plot_chart *chart, struct gk_buf *out);

/* Returns a model's name without the prefix "NVIDIA ", which all of them
 * have. */
const char *gk_plot_short_model(const char *model);

/*
 * Writes a time of a chart, such as "21:12:05", with or without seconds. In an
 * aligned chart, writes the time since the start instead: "1:02:05".
 */
void gk_plot_clock(const struct gk_plot_chart *chart, int64_t ms, bool seconds,
		   char dst[32]);

#endif
