/* SPDX-License-Identifier: Apache-2.0 */
/*
 * boxed.h - a report in boxes, like nvitop's: GPUs, host and processes, with
 * bars.
 */
#ifndef GK_FORMAT_BOXED_H
#define GK_FORMAT_BOXED_H

#include "base/str.h"

#include <gpukit/gpukit.h>

#define GK_BOXED_WIDTH_MIN 79

/*
 * In tenths of a percent: utilisation from which a GPU counts as moderately
 * busy and as heavily busy.
 */
struct gk_limits {
	int moderate, heavy;
};

#define GK_LIMITS_GPU    ((struct gk_limits){100, 750})
#define GK_LIMITS_MEMORY ((struct gk_limits){100, 800})

struct gk_boxed_options {
	bool color;
	bool colorful; /* use a gradient of 256 colours for bars */
	bool compact;  /* one line per GPU */
	bool dense;    /* no title and no rules between GPUs */
	bool processes;
	struct gk_limits gpu, memory; /* zero: use the defaults above */
	int width;                    /* the terminal's width; at least 79 */
	uid_t uid;        /* the current user; others' processes are dimmed */
	const char *user; /* name of that user; NULL if unknown */
};

/* Adds the report in UTF-8; each line ends with a newline. */
void gk_format_boxed(struct gk_buf *out, const struct gk_snapshot *snap,
		     const struct gk_boxed_options *options);

/* Adds to a set the device metrics that the report shows. */
void gk_boxed_metrics(struct gk_metric_set *set);

#endif
