/* SPDX-License-Identifier: Apache-2.0 */
/*
 * narrow.c - prints the table of GPUs for narrow terminals: one line with as
 * many fields as fit and, unless the report is compact, one with the name and a
 * bar.
 */
#include "format/boxed/table.h"
#include "format/names.h"
#include "format/width.h"

#include <stdio.h>

enum field_id {
	FIELD_GPU,
	FIELD_FAN,
	FIELD_TEMP,
	FIELD_PERF,
	FIELD_POWER,
	FIELD_MEMORY,
	FIELD_UTIL,
	FIELD_BAR,
	FIELD_COUNT
};

#define NAME_WIDTH 19

/* The fields in display order. If not all of them fit, those with the least
 * worth are left out. */
static const struct {
	const char *title;
	int width, worth;
} fields[FIELD_COUNT] = {
    [FIELD_GPU] = {"GPU", 3, 9},     [FIELD_FAN] = {"Fan", 4, 2},
    [FIELD_TEMP] = {"Temp", 4, 6},   [FIELD_PERF] = {"Perf", 4, 1},
    [FIELD_POWER] = {"Power", 5, 5}, [FIELD_MEMORY] = {"Memory-Usage", 17, 8},
    [FIELD_UTIL] = {"Util", 4, 7},   [FIELD_BAR] = {"", 15, 3},
};

/*
 * Computes the widths of the fields, which together fill `inner` columns. A
 * field of width 0 is left out.
 */
static void measure_fields(int inner, int widths[FIELD_COUNT])
{
	int room = inner + 1; /* the first field has no blank before it */

	for (int i = 0; i < FIELD_COUNT; i++)
		widths[i] = 0;
	for (int worth = 9; worth > 0; worth--)
		for (int i = 0; i < FIELD_COUNT; i++)
			if (fields[i].worth == worth &&
			    room > fields[i].width) {
				widths[i] = fields[i].width;
				room -= widths[i] + 1;
			}
	widths[widths[FIELD_BAR] ? FIELD_BAR : FIELD_MEMORY] += room;
}

/*
 * Formats memory as "12GiB/80GiB". If the GPU is in trouble, its state and the
 * duration of that state replace the total.
 */
static void memory_text(struct gk_buf *dst, const struct gk_box *box,
			const struct gk_device *d)
{
	char used[GK_UNITS_MAX], total[GK_UNITS_MAX], trouble[GK_UNITS_MAX];
	const char *text = gk_size_or_na(used, d->m[GK_M_MEM_USED]);

	if (d->health == GK_HEALTH_OK && !d->read_ns[GK_TIER_FAST])
		gk_buf_puts(dst, GK_READING);
	else if (d->health == GK_HEALTH_OK && *gk_box_trouble(trouble, box, d))
		gk_buf_printf(dst, "%s %s", trouble, text);
	else if (d->health == GK_HEALTH_OK)
		gk_buf_printf(dst, "%s/%s", text,
			      gk_size_or_na(total, d->m[GK_M_MEM_TOTAL]));
	else if (d->health == GK_HEALTH_STALE)
		gk_buf_printf(dst, "%s %s", gk_box_trouble(trouble, box, d),
			      text);
	else
		gk_buf_printf(dst, "GPU %s", gk_box_trouble(trouble, box, d));
}

static const char *field_text(enum field_id id, char *dst,
			      const struct gk_device *d,
			      const struct gk_texts *x, const char *memory)
{
	struct gk_value power = d->m[GK_M_POWER];

	switch (id) {
	case FIELD_GPU:
		return gk_device_label(dst, d);
	case FIELD_FAN:
		return x->fan;
	case FIELD_TEMP:
		return x->temp;
	case FIELD_PERF:
		return x->pstate;
	case FIELD_POWER:
		return gk_watts_or_na(dst, power);
	case FIELD_MEMORY:
		return memory;
	case FIELD_UTIL:
		return x->util;
	case FIELD_BAR:
	case FIELD_COUNT:
	default:
		return "";
	}
}

static void add_narrow_head(struct gk_box *box, const int widths[FIELD_COUNT])
{
	gk_buf_puts(box->out, "│");
	for (int i = 0; i < FIELD_COUNT; i++) {
		if (!widths[i])
			continue;
		gk_buf_puts(box->out, i ? " " : "");
		gk_cell(box->out, fields[i].title, (size_t)widths[i], GK_RIGHT,
			"");
	}
	gk_buf_puts(box->out, " │\n");
}

static void add_fields(struct gk_box *box, const struct gk_device *d,
		       const int widths[FIELD_COUNT])
{
	enum gk_color color = gk_device_color(box->o, d);
	struct gk_buf memory = {0};
	char text[GK_NAME_MAX];
	struct gk_texts x;

	gk_texts_fill(&x, d);
	memory_text(&memory, box, d);
	gk_buf_puts(box->out, "│");
	gk_color_start(box->out, box->o->color, color);
	for (int i = 0; i < FIELD_BAR; i++) {
		if (!widths[i])
			continue;
		gk_buf_puts(box->out, i ? " " : "");
		gk_cell(box->out,
			field_text((enum field_id)i, text, d, &x, memory.data),
			(size_t)widths[i], GK_RIGHT, "");
	}
	gk_color_end(box->out, box->o->color, color);
	if (widths[FIELD_BAR]) {
		gk_buf_putc(box->out, ' ');
		gk_box_bar(box, d, BAR_MEM, widths[FIELD_BAR]);
	}
	gk_buf_puts(box->out, " │\n");
	gk_buf_free(&memory);
}

static void add_device_name(struct gk_box *box, const struct gk_device *d)
{
	enum gk_color color = gk_device_color(box->o, d);
	int bar = box->width - NAME_WIDTH - 8;

	gk_buf_puts(box->out, "│    ");
	gk_color_start(box->out, box->o->color, color);
	gk_box_name(box, d, NAME_WIDTH);
	gk_color_end(box->out, box->o->color, color);
	gk_buf_putc(box->out, ' ');
	gk_box_bar(box, d, BAR_UTL, bar);
	gk_buf_puts(box->out, " │\n");
}

void gk_box_narrow_devices(struct gk_box *box)
{
	bool dense = box->o->dense, open = box->live.open;
	int widths[FIELD_COUNT];

	measure_fields(box->width - 3, widths);
	gk_box_line(box, dense ? "╒" : "├", dense ? "═" : "─",
		    dense ? "╕" : "┤");
	add_narrow_head(box, widths);
	gk_box_line(box, "╞", "═", "╡");
	for (size_t i = box->live.first; i < gk_box_devices_end(box); i++) {
		const struct gk_device *d = &box->snap->devices[i];

		if (gk_box_rule_before(box, i))
			gk_box_line(box, "├", "─", "┤");
		add_fields(box, d, widths);
		if (!box->o->compact && d->mig_index < 0)
			add_device_name(box, d);
	}
	gk_box_line(box, open ? "╞" : "╘", "═", open ? "╡" : "╛");
}
