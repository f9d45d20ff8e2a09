/*
 * exposition.h - the text that Prometheus scrapes: families of samples, in its
 * own format or as OpenMetrics.
 */
#ifndef GK_FORMAT_EXPOSITION_H
#define GK_FORMAT_EXPOSITION_H

#include "base/str.h"

#include <gpukit/gpukit.h>

enum gk_family_type { GK_FAMILY_GAUGE, GK_FAMILY_COUNTER, GK_FAMILY_INFO };

/* A counter's name ends in _total and an info's in _info, in any format. */
struct gk_family {
	const char *prefix, *name; /* one after the other are the full name */
	enum gk_family_type type;
	const char *unit; /* what the name ends in (before _total), or NULL */
	const char *help;
};

struct gk_exposition {
	struct gk_buf *out;
	bool openmetrics;
	char last[GK_NAME_MAX]; /* name of whose head has been written */
};

/*
 * Adds a sample, with the head of its family when it is the first of it: the
 * samples of a family come together. labels and more are name="value" pairs
 * with commas between them, and may be "".
 */
void gk_exposition_sample(struct gk_exposition *e, const struct gk_family *f,
			  const char *labels, const char *more,
			  const char *value);

/* The last line of the format. */
void gk_exposition_end(struct gk_exposition *e);

/* Adds name="value", after a comma where out is not empty. */
void gk_label(struct gk_buf *out, const char *name, const char *value);

/*
 * A value in the base unit of Prometheus: percent as a share of 1, all else
 * as gk_number(). Room for GK_UNITS_MAX bytes; returns dst.
 */
char *gk_base_number(char *dst, int64_t value, enum gk_unit unit);

/* "bytes", "ratio", "watts"; NULL for what has none. */
const char *gk_base_unit(enum gk_unit unit);

#endif
