/*
 * chart.h - what a picture shows: panels and their lines, filled from the rows
 * of recordings. Values of one moment that belong to one line are added up.
 */
#ifndef GK_PLOT_CHART_H
#define GK_PLOT_CHART_H

#include "plot/series.h"
#include "plot/sheet.h"

/* Most lines that a chart keeps; what comes then is counted. */
#define GK_PLOT_LINES_MAX 2000

/* For whom a panel has a line. */
enum gk_plot_group { GK_PLOT_TOTAL, GK_PLOT_PER_GPU, GK_PLOT_PER_PID };

struct gk_plot_line {
	uint64_t hash;
	enum gk_plot_quantity quantity;
	const char *file; /* borrowed */
	char *label;      /* as it stands there: any byte but NUL */
	struct gk_plot_series series;
	double now;  /* of the moment that is being added up */
	bool filled; /* whether it has one */
};

/* Begins with gk_plot_chart_init(), ends with gk_plot_chart_free(). */
struct gk_plot_chart {
	enum gk_plot_group group[GK_PLOT_QUANTITIES];
	bool wanted[GK_PLOT_QUANTITIES];
	struct gk_plot_line *lines;
	size_t line_count;
	uint64_t rows, lines_left_out;
	int64_t first_ms, last_ms; /* of all files; no rows: 0, -1 */
	unsigned shift;            /* bins of all lines: 2^shift ms */
	uint64_t steps[64];        /* by their length's power of two, ms */
	/* The next fields belong to the file being read. */
	const char *file;
	int64_t now_ms;
	bool started;
	unsigned *filled; /* lines that have a value of now_ms */
	size_t filled_count;
	unsigned *table; /* open hash of lines, 0 = free, else index + 1 */
};

/*
 * Empties the chart: the caller sets group and wanted afterwards. 0 or
 * GK_ERR_NOMEM, then there is nothing to free.
 */
int gk_plot_chart_init(struct gk_plot_chart *chart);
void gk_plot_chart_free(struct gk_plot_chart *chart);

/* Begins a file. Its name is borrowed as long as the chart is. */
void gk_plot_chart_begin(struct gk_plot_chart *chart, const char *name);

/* 0 or GK_ERR_NOMEM. */
int gk_plot_chart_add(struct gk_plot_chart *chart,
		      const struct gk_plot_row *row);

/* Ends the file. 0 or GK_ERR_NOMEM. */
int gk_plot_chart_end(struct gk_plot_chart *chart);

/*
 * Where a line stops being one, ms: no value for longer than this means that
 * there was none, judged by how often values came.
 */
int64_t gk_plot_chart_gap(const struct gk_plot_chart *chart);

#endif
