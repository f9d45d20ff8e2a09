/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exposition.h - the text that Prometheus scrapes: families of samples, in its
 * own format or in OpenMetrics.
 */
#ifndef GK_FORMAT_EXPOSITION_H
#define GK_FORMAT_EXPOSITION_H

#include "base/str.h"

#include <gpukit/gpukit.h>

enum gk_family_type { GK_FAMILY_GAUGE, GK_FAMILY_COUNTER, GK_FAMILY_INFO };

/*
 * In both formats, names of counters end in _total and names of infos in _info.
 */
struct gk_family {
	const char *prefix, *name; /* full name: `prefix`, then `name` */
	enum gk_family_type type;
	/* the unit at the end of the name (before _total), or NULL */
	const char *unit;
	const char *help;
};

struct gk_exposition {
	struct gk_buf *out;
	bool openmetrics;
	char last[GK_NAME_MAX]; /* name of the family whose head was written
				 * last */
};

/*
 * Adds a sample. The first sample of a family is preceded by the family's head,
 * so all samples of a family must be added one after another. labels and more
 * are name="value" pairs separated by commas; either may be "".
 */
void gk_exposition_sample(struct gk_exposition *e, const struct gk_family *f,
			  const char *labels, const char *more,
			  const char *value);

/* Adds the last line of the format. */
void gk_exposition_end(struct gk_exposition *e);

/* Adds name="value", with a comma before it unless out is empty. */
void gk_label(struct gk_buf *out, const char *name, const char *value);

/*
 * Formats a value in Prometheus' base unit: percentages as ratios, all others
 * like gk_number(). dst must have GK_UNITS_MAX bytes; it is also the result.
 */
char *gk_base_number(char *dst, int64_t value, enum gk_unit unit);

/*
 * Returns the name of a base unit, such as "bytes", "ratio", "watts", or NULL.
 */
const char *gk_base_unit(enum gk_unit unit);

#endif
