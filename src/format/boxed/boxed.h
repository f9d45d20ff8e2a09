/*
 * boxed.h - one report in boxes: GPUs, host and processes, with bars, as
 * nvitop prints it.
 */
#ifndef GK_FORMAT_BOXED_H
#define GK_FORMAT_BOXED_H

#include "base/str.h"

#include <gpukit/gpukit.h>

#define GK_BOXED_WIDTH_MIN 79

/* Tenths of a percent: from the first on moderate, from the second heavy. */
struct gk_limits {
	int moderate, heavy;
};

#define GK_LIMITS_GPU    ((struct gk_limits){100, 750})
#define GK_LIMITS_MEMORY ((struct gk_limits){100, 800})

struct gk_boxed_options {
	bool color;
	bool colorful; /* bars in a gradient of 256 colours */
	bool compact;  /* one line a GPU */
	bool dense;    /* neither a title nor rules between GPUs */
	bool processes;
	struct gk_limits gpu, memory; /* zero: the above */
	int width;        /* of the terminal; less than 79 counts as 79 */
	uid_t uid;        /* who looks: processes of others are dim */
	const char *user; /* the name of uid; NULL if unknown */
};

/* Adds the report, UTF-8, each line ended by a newline. */
void gk_format_boxed(struct gk_buf *out, const struct gk_snapshot *snap,
		     const struct gk_boxed_options *options);

/* Adds the metrics of devices that the report shows. */
void gk_boxed_metrics(struct gk_metric_set *set);

#endif
