/*
 * stat.h - `gpukit stat`: what its options chose, and the run.
 */
#ifndef GK_CLI_STAT_H
#define GK_CLI_STAT_H

#include "cli/output.h"
#include "cli/timings_opt.h"
#include "format/gpustat.h"

#include <gpukit/gpukit.h>

enum gk_stat_format {
	GK_STAT_TEXT,
	GK_STAT_BOXED,
	GK_STAT_JSON,
	GK_STAT_JSON_LINES,
	GK_STAT_CSV_DEVICES,
	GK_STAT_CSV_PROCESSES,
};

struct gk_stat {
	enum gk_stat_format format;
	struct gk_gpustat_options text;
	enum gk_color_choice color;
	bool ascii;
	bool why;
	int width;              /* of --boxed; 0: the terminal's */
	const char *ids;        /* --id, NULL: all GPUs */
	uint64_t interval_ns;   /* 0: a single report */
	int64_t count;          /* frames, 0: no end */
	uint64_t cpu_window_ns; /* 0: one snapshot */
	struct gk_options machine;
	struct gk_timings_opt timings;
};

/* Reports as chosen; a gk_exit, after a message when it is not 0. */
int gk_stat_run(const struct gk_stat *stat);

#endif
