/*
 * chart.h - what recordings say: GPUs, processes and the host with their lines
 * and sums, filled from rows. Values of one moment that belong to one GPU are
 * added up.
 */
#ifndef GK_PLOT_CHART_H
#define GK_PLOT_CHART_H

#include "plot/subject.h"

#include "base/str.h"

/* Most GPUs and processes that a chart keeps; what comes then is counted. */
#define GK_PLOT_SUBJECTS_MAX 2000

#define GK_PLOT_FILES_MAX 16

/* A time as somebody typed it. */
enum gk_plot_when_kind {
	GK_PLOT_ANY_TIME,
	GK_PLOT_DATE,        /* ms since 1970, local */
	GK_PLOT_TIME_OF_DAY, /* ms since midnight */
	GK_PLOT_AFTER_START, /* ms */
	GK_PLOT_BEFORE_END,  /* ms */
};

struct gk_plot_when {
	enum gk_plot_when_kind kind;
	int64_t ms;
};

/* Which rows count. Zeroed: all. Borrowed. */
struct gk_plot_filter {
	struct gk_plot_when from, to;
	const char *const *gpus; /* as in gpu_index */
	size_t gpu_count;
	const char *const *pids;
	size_t pid_count;
};

/* The time of a file, and what it says of itself. */
struct gk_plot_file {
	const char *name; /* borrowed */
	char host[96];    /* "": not known */
	int64_t first_ms; /* of all its rows */
	bool gpus;        /* its rows say of which GPU they are */
	bool processes;   /* it tells which processes there are */
};

/* Begins with gk_plot_chart_init(), ends with gk_plot_chart_free(). */
struct gk_plot_chart {
	struct gk_plot_asked asked;
	struct gk_plot_filter filter;
	bool process_lines; /* keep lines of processes, not their sums alone */
	bool aligned;       /* times count from the start of each file */
	bool timing;        /* only the times of files are wanted */
	int64_t end_ms;     /* for GK_PLOT_BEFORE_END */
	struct gk_plot_file files[GK_PLOT_FILES_MAX];
	unsigned file_count;
	struct gk_plot_subject *subjects;
	size_t subject_count;
	uint64_t rows, left_out;   /* rows that count; subjects without room */
	uint64_t all_rows;         /* with those that do not count */
	int64_t first_ms, last_ms; /* of all files; no rows: 0, -1 */
	unsigned shift;            /* bins of all lines: 2^shift ms */
	/* Steps of time by their length's power of two, ms. */
	uint64_t steps[64];
	/* The next fields belong to the file being read. */
	struct gk_plot_file *file;
	uint64_t file_steps[64];
	int64_t now_ms, before_ms, usual_ms, from_ms, to_ms;
	bool started, second;
	unsigned *touched; /* subjects that have something of now_ms */
	size_t touched_count;
	unsigned *table; /* open hash of subjects, 0 = free, else index + 1 */
};

/*
 * Empties the chart: the caller sets what is wanted afterwards. 0 or
 * GK_ERR_NOMEM, then there is nothing to free.
 */
int gk_plot_chart_init(struct gk_plot_chart *chart);
void gk_plot_chart_free(struct gk_plot_chart *chart);

/*
 * Begins a file. Its name is borrowed as long as the chart is. At most
 * GK_PLOT_FILES_MAX.
 */
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

/*
 * A time as people type it: "2026-11-21T09:30", "2026-11-21", "09:30:15",
 * "10m" (after the start), "-10m" (before the end). 0 or GK_ERR_INVALID.
 */
int gk_plot_parse_when(const char *text, struct gk_plot_when *ret_when);

#endif
