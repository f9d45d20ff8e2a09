/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exposition.c - prints families of samples in Prometheus' text format.
 */
#include "format/prometheus/exposition.h"

#include "format/units.h"
#include "format/width.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name, *suffix;
} types[] = {
    [GK_FAMILY_GAUGE] = {"gauge", ""},
    [GK_FAMILY_COUNTER] = {"counter", "_total"},
    [GK_FAMILY_INFO] = {"info", "_info"},
};

/* In OpenMetrics, the name of a family is written without the suffix of its
 * samples. */
static void family_name(struct gk_exposition *e, const struct gk_family *f)
{
	size_t len = strlen(f->name), cut = strlen(types[f->type].suffix);

	gk_buf_puts(e->out, f->prefix);
	gk_buf_add(e->out, f->name, e->openmetrics ? len - cut : len);
}

static void put_family_head(struct gk_exposition *e, const struct gk_family *f)
{
	bool info = f->type == GK_FAMILY_INFO && !e->openmetrics;

	gk_buf_puts(e->out, "# HELP ");
	family_name(e, f);
	gk_buf_printf(e->out, " %s\n# TYPE ", f->help);
	family_name(e, f);
	gk_buf_printf(e->out, " %s\n", info ? "gauge" : types[f->type].name);
	if (f->unit && e->openmetrics) {
		gk_buf_puts(e->out, "# UNIT ");
		family_name(e, f);
		gk_buf_printf(e->out, " %s\n", f->unit);
	}
	gk_str_copy(e->last, sizeof e->last, f->name);
}

void gk_exposition_sample(struct gk_exposition *e, const struct gk_family *f,
			  const char *labels, const char *more,
			  const char *value)
{
	if (strcmp(e->last, f->name))
		put_family_head(e, f);
	gk_buf_puts(e->out, f->prefix);
	gk_buf_puts(e->out, f->name);
	if (*labels || *more) {
		gk_buf_putc(e->out, '{');
		gk_buf_puts(e->out, labels);
		if (*labels && *more)
			gk_buf_putc(e->out, ',');
		gk_buf_puts(e->out, more);
		gk_buf_putc(e->out, '}');
	}
	gk_buf_putc(e->out, ' ');
	gk_buf_puts(e->out, value);
	gk_buf_putc(e->out, '\n');
}

void gk_exposition_end(struct gk_exposition *e)
{
	if (e->openmetrics)
		gk_buf_puts(e->out, "# EOF\n");
}

void gk_label(struct gk_buf *out, const char *name, const char *value)
{
	if (out->len)
		gk_buf_putc(out, ',');
	gk_buf_puts(out, name);
	gk_buf_puts(out, "=\"");
	while (*value) {
		size_t run = strcspn(value, "\"\\");

		gk_add_clean(out, value, run);
		value += run;
		if (*value) {
			gk_buf_putc(out, '\\');
			gk_buf_putc(out, *value++);
		}
	}
	gk_buf_putc(out, '"');
}

static char *format_share(char *dst, int64_t value, int64_t whole, int digits)
{
	const char *sign = value < 0 ? "-" : "";

	if (value < 0)
		value = -value;
	snprintf(dst, GK_UNITS_MAX, "%s%lld.%0*lld", sign,
		 (long long)(value / whole), digits,
		 (long long)(value % whole));
	return dst;
}

char *gk_base_number(char *dst, int64_t value, enum gk_unit unit)
{
	if (unit == GK_UNIT_PERCENT)
		return format_share(dst, value, 100, 2);
	if (unit == GK_UNIT_CENTIPERCENT)
		return format_share(dst, value, 10000, 4);
	return gk_number(dst, value, unit);
}

const char *gk_base_unit(enum gk_unit unit)
{
	static const char *const names[] = {
	    [GK_UNIT_PERCENT] = "ratio",     [GK_UNIT_CENTIPERCENT] = "ratio",
	    [GK_UNIT_BYTES] = "bytes",       [GK_UNIT_MILLIWATT] = "watts",
	    [GK_UNIT_MILLIJOULE] = "joules", [GK_UNIT_CELSIUS] = "celsius",
	    [GK_UNIT_HERTZ] = "hertz",       [GK_UNIT_NANOSECOND] = "seconds",
	};

	return (size_t)unit < sizeof names / sizeof *names ? names[unit] : NULL;
}
