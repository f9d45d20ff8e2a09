/* SPDX-License-Identifier: Apache-2.0 */
/* stat.h - `gpukit stat`: its options, and the run. */
#ifndef GK_CLI_STAT_H
#define GK_CLI_STAT_H

#include "cli/output.h"
#include "cli/page.h"
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
	int width;            /* argument of --boxed; 0: the terminal's width */
	const char *ids;      /* --id, NULL: all GPUs */
	uint64_t interval_ns; /* 0: one report only */
	int64_t count;        /* frames; 0: no limit */
	uint64_t cpu_window_ns; /* 0: one snapshot */
	struct gk_options machine;
	struct gk_timings_opt timings;
};

/* Prints the reports. Returns a gk_exit, after a message unless it is 0. */
int gk_stat_run(const struct gk_stat *stat);

/* The options, for the manual. */
extern const struct argp gk_stat_argp;

#endif
