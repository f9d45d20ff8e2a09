/* SPDX-License-Identifier: Apache-2.0 */
/* device.c - prints the lines of one device in the table of GPUs. */
#include "base/clock.h"
#include "format/bar.h"
#include "format/boxed/table.h"
#include "format/condition.h"
#include "format/names.h"
#include "format/width.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Returns the word for a value, or "N/A". */
static const char *state_word(struct gk_value value, const char *const *words,
			      int count)
{
	if (value.why != GK_PRESENT || value.v < 0 || value.v >= count ||
	    !words[value.v])
		return "N/A";
	return words[value.v];
}

static const char *const off_on[] = {"Off", "On"};
static const char *const disabled_enabled[] = {"Disabled", "Enabled"};
static const char *const compute_modes[] = {"Default", "E. Thread",
					    "Prohibited", "E. Process"};

static const char *short_name(const struct gk_device *d)
{
	static const char maker[] = "NVIDIA ";

	return strncmp(d->name, maker, sizeof maker - 1)
		   ? d->name
		   : d->name + sizeof maker - 1;
}

void gk_box_name(struct gk_box *box, const struct gk_device *d, size_t columns)
{
	char trouble[GK_NAME_MAX], text[GK_NAME_MAX + 16];

	gk_device_trouble(trouble, box->snap, d);
	snprintf(text, sizeof text, "ERROR: %s", trouble);
	if (d->health == GK_HEALTH_OK && !d->read_ns[GK_TIER_FAST])
		gk_cell(box->out, GK_READING, columns, GK_LEFT, "");
	else if (d->health == GK_HEALTH_OK ||
		 (d->health == GK_HEALTH_STALE && *d->name)) {
		snprintf(text, sizeof text, "%s%s", short_name(d),
			 gk_is_unified(d) ? " unified" : "");
		gk_cell_tail(box->out, text, columns, "..");
	} else
		gk_cell(box->out, text, columns, GK_LEFT, "..");
}

static void cell_start(const struct gk_box_table *t, enum gk_color color)
{
	gk_buf_puts(t->box->out, "│");
	gk_color_start(t->box->out, t->box->o->color, color);
}

/* Ends the current cell and starts the next one. */
static void cell_next(const struct gk_box_table *t, enum gk_color color)
{
	gk_color_end(t->box->out, t->box->o->color, color);
	cell_start(t, color);
}

static void cell_end(const struct gk_box_table *t, enum gk_color color)
{
	gk_color_end(t->box->out, t->box->o->color, color);
	gk_buf_puts(t->box->out, "│");
}

static void first_line(const struct gk_box_table *t, const struct gk_device *d,
		       const struct gk_texts *x, enum gk_color color)
{
	struct gk_buf *out = t->box->out;
	const struct gk_value *m = d->m;

	cell_start(t, color);
	gk_buf_printf(out, " %3u  ", d->index);
	gk_box_name(t->box, d, 19);
	gk_buf_printf(out, " %4s ", state_word(m[GK_M_PERSISTENCE], off_on, 2));
	cell_next(t, color);
	gk_buf_putc(out, ' ');
	gk_cell(out, *d->bus_id ? d->bus_id : "N/A", 16, GK_LEFT, "");
	gk_buf_printf(out, " %3s ",
		      state_word(m[GK_M_DISPLAY_ACTIVE], off_on, 2));
	cell_next(t, color);
	if (t->mig)
		gk_buf_printf(
		    out, " %8s  ",
		    state_word(m[GK_M_MIG_MODE], disabled_enabled, 2));
	else
		gk_buf_putc(out, ' ');
	gk_cell(out, x->ecc, t->mig ? 10 : 20, GK_RIGHT, "..");
	gk_buf_putc(out, ' ');
	cell_end(t, color);
}

char *gk_box_trouble(char *dst, const struct gk_box *box,
		     const struct gk_device *d)
{
	uint64_t age = gk_device_age(box->snap, d, GK_TIER_FAST);
	const char *name = gk_health_name(d->health);

	const struct gk_condition *condition = gk_condition_of(d);

	gk_str_copy(dst, GK_UNITS_MAX, condition ? condition->brief : "");
	if (d->health == GK_HEALTH_OK)
		return dst;
	if (age == UINT64_MAX)
		snprintf(dst, GK_UNITS_MAX, "%s", name);
	else if (age < 10000 * GK_NS_PER_S)
		snprintf(dst, GK_UNITS_MAX, "%s %.0fs", name,
			 (double)age / 1e9);
	else
		snprintf(dst, GK_UNITS_MAX, "%s %.0fh", name,
			 (double)age / 3600e9);
	return dst;
}

/*
 * Adds what is wrong with the GPU, and for how long if it does not answer. If
 * nothing is wrong, adds the compute mode.
 */
static void mode_cell(const struct gk_box_table *t, const struct gk_device *d)
{
	char trouble[GK_UNITS_MAX];
	const char *text =
	    state_word(d->m[GK_M_COMPUTE_MODE], compute_modes, 4);

	if (*gk_box_trouble(trouble, t->box, d))
		text = trouble;
	else if (!d->read_ns[GK_TIER_FAST])
		text = GK_READING;
	gk_cell(t->box->out, text, 11, GK_RIGHT, "");
}

/* Adds the second and third columns: memory and utilisation. */
static void usage_cells(const struct gk_box_table *t, const struct gk_device *d,
			const struct gk_texts *x, enum gk_color color)
{
	struct gk_buf *out = t->box->out;

	cell_next(t, color);
	gk_buf_putc(out, ' ');
	gk_cell(out, x->memory, 20, GK_RIGHT, "");
	gk_buf_putc(out, ' ');
	cell_next(t, color);
	gk_buf_putc(out, ' ');
	gk_cell(out, x->util, 7, GK_RIGHT, "");
	gk_buf_puts(out, "  ");
	mode_cell(t, d);
	gk_buf_putc(out, ' ');
	cell_end(t, color);
}

static void second_line(const struct gk_box_table *t, const struct gk_device *d,
			const struct gk_texts *x, enum gk_color color)
{
	struct gk_buf *out = t->box->out;

	cell_start(t, color);
	gk_buf_putc(out, ' ');
	gk_cell(out, x->fan, 3, GK_RIGHT, "");
	gk_buf_puts(out, "  ");
	gk_cell(out, x->temp, 4, GK_RIGHT, "");
	gk_buf_puts(out, "  ");
	gk_cell(out, x->pstate, 4, GK_CENTER, "");
	gk_buf_putc(out, ' ');
	gk_cell(out, x->power, 13, GK_RIGHT, "");
	gk_buf_putc(out, ' ');
	usage_cells(t, d, x, color);
}

/*
 * Returns the last word of a name such as "NVIDIA A100-SXM4-80GB MIG 1g.10gb".
 */
static const char *mig_profile(const struct gk_device *d)
{
	const char *blank = strrchr(d->name, ' ');

	return blank ? blank + 1 : d->name;
}

static void mig_line(const struct gk_box_table *t, const struct gk_device *d,
		     const struct gk_texts *x, enum gk_color color)
{
	struct gk_value share =
	    gk_tenths(d->m[GK_M_BAR1_USED], d->m[GK_M_BAR1_TOTAL]);
	char label[GK_NAME_MAX], used[GK_UNITS_MAX], percent[16] = "N/A";
	struct gk_buf *out = t->box->out;

	if (share.why == GK_PRESENT)
		snprintf(percent, sizeof percent,
			 share.v < 1000 ? "%d%%" : "MAX",
			 (int)((share.v + 5) / 10));
	cell_start(t, color);
	gk_cell(out, gk_device_label(label, d), 4, GK_RIGHT, "");
	gk_cell(out, mig_profile(d), 13, GK_RIGHT, "..");
	gk_buf_printf(out, " @ GI/CI:%2d/%-2d", d->gpu_instance,
		      d->compute_instance);
	cell_next(t, color);
	gk_buf_putc(out, ' ');
	gk_cell(out, x->memory, 20, GK_RIGHT, "");
	gk_buf_putc(out, ' ');
	cell_next(t, color);
	gk_buf_printf(out, " BAR1: %8s / %3s ",
		      gk_size_or_na(used, d->m[GK_M_BAR1_USED]), percent);
	cell_end(t, color);
}

/* Adds a GPU as one line, without the fields that only the full table shows. */
static void compact_line(const struct gk_box_table *t,
			 const struct gk_device *d, const struct gk_texts *x,
			 enum gk_color color)
{
	struct gk_buf *out = t->box->out;

	cell_start(t, color);
	gk_buf_printf(out, " %3u ", d->index);
	gk_cell(out, x->fan, 3, GK_RIGHT, "");
	gk_buf_putc(out, ' ');
	gk_cell(out, x->temp, 4, GK_RIGHT, "");
	gk_buf_putc(out, ' ');
	gk_cell(out, x->pstate, 3, GK_RIGHT, "");
	gk_buf_putc(out, ' ');
	gk_cell(out, x->power, 12, GK_RIGHT, "");
	gk_buf_putc(out, ' ');
	usage_cells(t, d, x, color);
}

void gk_box_device(const struct gk_box_table *t, const struct gk_device *d)
{
	enum gk_color color = gk_device_color(t->box->o, d);
	struct gk_texts x;

	gk_texts_fill(&x, d);
	if (d->mig_index >= 0) {
		mig_line(t, d, &x, color);
		gk_box_bars(t, d, BAR_MEM, BAR_NONE);
		return;
	}
	if (t->box->o->compact) {
		compact_line(t, d, &x, color);
		gk_box_bars(t, d, BAR_MEM, BAR_UTL);
		return;
	}
	first_line(t, d, &x, color);
	gk_box_bars(t, d, BAR_MEM, BAR_MBW);
	second_line(t, d, &x, color);
	gk_box_bars(t, d, BAR_UTL, BAR_PWR);
}
