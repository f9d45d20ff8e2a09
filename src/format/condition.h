/* SPDX-License-Identifier: Apache-2.0 */
/*
 * condition.h - persistent problems of a GPU that answers: a pending reset, a
 * broken part, a link slower than it could be. A single snapshot is enough to
 * find them, so that a viewer that has just started shows them, too.
 */
#ifndef GK_FORMAT_CONDITION_H
#define GK_FORMAT_CONDITION_H

#include <gpukit/gpukit.h>

struct gk_condition {
	/* true: the GPU must be reset or replaced; false: it works less well */
	bool fails;
	const char *brief; /* at most 10 columns: "reset due" */
	const char *words; /* "must be reset" */
	const char *why;   /* what the driver reports, and what to do */
	/*
	 * Two metrics that are appended to the words as "4 of 16". If `most` is
	 * 0, nothing is appended.
	 */
	enum gk_metric now, most;
};

/*
 * Returns a GPU's worst condition, or NULL if it has none or does not answer.
 */
const struct gk_condition *gk_condition_of(const struct gk_device *device);

/*
 * Formats a condition in at most 24 columns: "must be reset", "PCIe lanes 4 of
 * 16".
 */
#define GK_CONDITION_MAX 64
char *gk_condition_text(char dst[GK_CONDITION_MAX],
			const struct gk_condition *condition,
			const struct gk_device *device);

/* Adds to a set the metrics by which conditions are recognised. */
void gk_condition_metrics(struct gk_metric_set *set);

#endif
