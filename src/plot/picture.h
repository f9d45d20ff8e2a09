/*
 * picture.h - what a picture of a chart shows: which panels, which GPUs, in
 * which order. How that is drawn is up to script.h, or to a terminal.
 */
#ifndef GK_PLOT_PICTURE_H
#define GK_PLOT_PICTURE_H

#include "plot/chart.h"

/* GPUs of a page of a grid. */
#define GK_PLOT_PAGE 16

/* What somebody asked for. Zeroed: the usual. */
struct gk_plot_wish {
	/* These panels; none: those that the files have. */
	enum gk_plot_quantity panels[GK_PLOT_PANELS];
	unsigned panel_count;
	bool more;     /* the usual ones as well */
	bool by_owner; /* memory and time cut by process */
	bool all;      /* GPUs, on as many pages as they need */
};

/* GPUs that share a row: those of one name, or all of a picture of strips. */
struct gk_plot_band {
	const char *label;                       /* borrowed from a subject */
	const struct gk_plot_subject **subjects; /* into the picture's list */
	size_t count;
};

/* Borrows from its chart. Ends with gk_plot_picture_free(). */
struct gk_plot_picture {
	const struct gk_plot_chart *chart;
	enum gk_plot_quantity panels[GK_PLOT_PANELS];
	unsigned panel_count;
	enum gk_plot_quantity absent[GK_PLOT_PANELS]; /* asked for in vain */
	unsigned absent_count;
	const struct gk_plot_subject **subjects;
	struct gk_plot_band *bands;
	size_t band_count;
	size_t gpus; /* that there are; bands has fewer when some are left */
	bool strips; /* one band, a panel below the other */
	bool by_owner;
};

/* 0, GK_ERR_NOT_FOUND (there is nothing to show) or GK_ERR_NOMEM. */
int gk_plot_picture_new(const struct gk_plot_chart *chart,
			const struct gk_plot_wish *wish,
			struct gk_plot_picture *ret_picture);
void gk_plot_picture_free(struct gk_plot_picture *picture);

/* ---- panels ---- */

/* "busy"; of a column that was asked for, its name. */
const char *gk_plot_panel_name(const struct gk_plot_chart *chart,
			       enum gk_plot_quantity panel);

/* How numbers of a panel are written. */
struct gk_plot_unit {
	char text[16];
	double factor; /* divides */
	int decimals;
};

/* peak: the greatest value that is shown. */
struct gk_plot_unit gk_plot_panel_unit(const struct gk_plot_chart *chart,
				       enum gk_plot_quantity panel,
				       double peak);

/* Where a panel's values of a GPU end; NaN: nobody knows. */
double gk_plot_capacity(const struct gk_plot_subject *subject,
			enum gk_plot_quantity panel);

/* The panel, of those shown, that an event is drawn in. */
enum gk_plot_quantity gk_plot_event_panel(const struct gk_plot_picture *picture,
					  enum gk_plot_event event);

/* ---- texts ---- */

/* "atlas · 8 × H100 80GB HBM3 · 21:12 to 21:42". */
void gk_plot_title(const struct gk_plot_chart *chart, struct gk_buf *out);

/* "2026-11-28"; with --compare nothing. */
void gk_plot_days(const struct gk_plot_chart *chart, struct gk_buf *out);

/* A model without what all of NVIDIA's have in front. */
const char *gk_plot_short_model(const char *model);

/*
 * A moment of a chart, with seconds or without: "21:12:05"; of an aligned
 * chart the time since the start: "1:02:05".
 */
void gk_plot_clock(const struct gk_plot_chart *chart, int64_t ms, bool seconds,
		   char dst[32]);

#endif
