/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chart.h - the content of recordings, collected from their rows: GPUs,
 * processes and the host, each with its lines and sums. Values for the same
 * time and GPU are added up.
 */
#ifndef GK_PLOT_CHART_H
#define GK_PLOT_CHART_H

#include "plot/subject.h"

#include "base/str.h"

/*
 * The maximum number of GPUs and processes in a chart. Further ones are
 * counted, but not added.
 */
#define GK_PLOT_SUBJECTS_MAX 2000

#define GK_PLOT_FILES_MAX 16

/* A time as the user typed it. */
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

/* The rows to use. If it is zeroed, all rows are used. Strings and arrays are
 * borrowed. */
struct gk_plot_filter {
	struct gk_plot_when from, to;
	const char *const *gpus; /* indices of GPUs, as the column gpu_index
				  * shows them */
	size_t gpu_count;
	const char *const *pids;
	size_t pid_count;
};

/* A recording, with the time of its first row and the kinds of its rows. */
struct gk_plot_file {
	const char *name; /* borrowed */
	char host[96];    /* "" if unknown */
	int64_t first_ms; /* time of the recording's first row */
	bool gpus;        /* the rows of the recording name a GPU */
	bool processes;   /* rows are about processes */
	struct gk_plot_nonsense nonsense;
};

/* Initialised by gk_plot_chart_init(), freed by gk_plot_chart_free(). */
struct gk_plot_chart {
	struct gk_plot_asked asked;
	struct gk_plot_filter filter;
	bool process_lines; /* keep a line per process, not only sums */
	bool aligned;       /* times count from the start of each file */
	bool timing;        /* read only the times in the files */
	int64_t end_ms;     /* for GK_PLOT_BEFORE_END */
	struct gk_plot_file files[GK_PLOT_FILES_MAX];
	unsigned file_count;
	size_t line_count; /* subjects with lines */
	struct gk_plot_subject *subjects;
	size_t subject_count;
	uint64_t rows, left_out; /* rows used; subjects that did not fit */
	uint64_t all_rows;       /* rows read, whether used or not */
	/* Times of the first and last row; 0 and -1 if there are no rows. */
	int64_t first_ms, last_ms;
	unsigned shift; /* bins of all lines are 2^shift ms wide */
	/* steps[i] is the number of time steps of about 2^i ms. */
	uint64_t steps[64];
	/* The next fields belong to the file being read. */
	struct gk_plot_file *file;
	uint64_t file_steps[64];
	int64_t now_ms, before_ms, usual_ms, from_ms, to_ms;
	bool started, second;
	unsigned *touched; /* indices of subjects that have values at now_ms */
	size_t touched_count;
	unsigned *table; /* hash table of subjects: index + 1, or 0: free */
};

/*
 * Empties the chart; the caller then sets its options. Returns 0, or
 * GK_ERR_NOMEM, in which case there is nothing to free.
 */
int gk_plot_chart_init(struct gk_plot_chart *chart);
void gk_plot_chart_free(struct gk_plot_chart *chart);

/* Begins a file; at most GK_PLOT_FILES_MAX. The name must outlive the chart. */
void gk_plot_chart_begin(struct gk_plot_chart *chart, const char *name);

/* Adds a row. Returns 0 or GK_ERR_NOMEM. */
int gk_plot_chart_add(struct gk_plot_chart *chart,
		      const struct gk_plot_row *row);

/* Ends the file. Returns 0 or GK_ERR_NOMEM. */
int gk_plot_chart_end(struct gk_plot_chart *chart);

/*
 * Returns the longest time in ms between two values that a line may connect. It
 * depends on the usual time between values.
 */
int64_t gk_plot_chart_gap(const struct gk_plot_chart *chart);

/*
 * Parses a time: "2026-11-21T09:30", "2026-11-21", "09:30:15", "10m" (after the
 * start), "-10m" (before the end). Returns 0 or GK_ERR_INVALID.
 */
int gk_plot_parse_when(const char *text, struct gk_plot_when *ret_when);

#endif
