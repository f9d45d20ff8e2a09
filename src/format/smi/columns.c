/* SPDX-License-Identifier: Apache-2.0 */
/* columns.c - prints the GPUs side by side. */
#include "format/smi/columns.h"
#include "base/array.h"
#include "format/width.h"

#include <string.h>

/* The widths of the labels, and of the column of a GPU. */
enum { LABEL = 14, GPU = 28 };

static const struct line {
	const char *label, *unit;
	struct gk_smi_source source;
} lines[] = {
#define COLUMN(label, unit, ...) {label, unit, {__VA_ARGS__}},
#include "format/smi/columns.def"
#undef COLUMN
};

static void add_value(struct gk_buf *out, const struct line *line,
		      const struct gk_smi_at *at)
{
	struct gk_buf text = {0};
	enum gk_absence why =
	    line->source.show(&text, at, line->source.what, line->source.arg);

	gk_buf_puts(&text, why ? gk_smi_absent_bare(why) : line->unit);
	gk_cell(out, text.data ? text.data : "", GPU - 1, GK_LEFT, "...");
	out->failed |= text.failed;
	gk_buf_free(&text);
}

/* Removes the blanks at the end of a line. */
static void end_line(struct gk_buf *out)
{
	while (out->len && out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
	gk_buf_putc(out, '\n');
}

static void add_block(struct gk_buf *out, const struct gk_snapshot *snap,
		      const struct gk_device *const *gpus, size_t count)
{
	for (size_t i = 0; i < COUNT(lines); i++) {
		gk_buf_printf(out, "%-*s", LABEL, lines[i].label);
		for (size_t k = 0; k < count; k++) {
			struct gk_smi_at at = {.snap = snap, .device = gpus[k]};

			if (k)
				gk_buf_putc(out, ' ');
			add_value(out, &lines[i], &at);
		}
		end_line(out);
	}
	gk_buf_putc(out, '\n');
}

void gk_smi_columns(struct gk_buf *out, const struct gk_snapshot *snap,
		    unsigned width)
{
	size_t fit = width > LABEL + GPU ? (width - LABEL + 1) / GPU : 1;
	const struct gk_device *gpus[64];
	size_t count = 0;

	if (fit > COUNT(gpus))
		fit = COUNT(gpus);
	for (size_t i = 0; i < snap->device_count; i++) {
		if (snap->devices[i].mig_index >= 0)
			continue;
		gpus[count++] = &snap->devices[i];
		if (count < fit)
			continue;
		add_block(out, snap, gpus, count);
		count = 0;
	}
	if (count)
		add_block(out, snap, gpus, count);
}

void gk_smi_columns_wanted(struct gk_metric_set *set)
{
	for (size_t i = 0; i < COUNT(lines); i++)
		gk_smi_want(&lines[i].source, set);
}
