/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devices.c - prints the table of GPUs: two lines per GPU, in three columns of
 * 31, 22 and 22, with bars on the right if they fit.
 */
#include "format/boxed/table.h"
#include "format/names.h"
#include "format/width.h"

#include <stdio.h>
#include <string.h>

#define BARS_FROM     100 /* minimum width of a table with bars */
#define TWO_BARS_FROM 123
#define TABLE_WIDTH   79

static const int columns[] = {31, 22, 22};

/*
 * A line across all columns of the table. It ends with `right` if there are no
 * bars; otherwise `bars_left` joins it to the line above the bars.
 */
struct rule {
	const char *line, *left, *cross, *right, *bars_left, *bars_cross,
	    *bars_right;
};

static const struct rule under_title = {"─", "├", "┬", "┤", NULL, NULL, NULL};
static const struct rule under_head = {"═", "╞", "╪", "╡", "╪", "╤", "╕"};
static const struct rule between = {"─", "├", "┼", "┤", "┼", "┼", "┤"};
static const struct rule top = {"═", "╒", "╤", "╕", NULL, NULL, NULL};
static const struct rule open_bottom = {"═", "╞", "╧", "╡", "╪", "╧", "╡"};
static const struct rule bottom = {"═", "╘", "╧", "╛", "╧", "╧", "╛"};

/*
 * Returns the character at which the border to the right of the left bars meets
 * a rule. Rows of MIG devices have only one bar, so they have no such border.
 */
static const char *cross_of(const struct rule *rule, bool mig_above,
			    bool mig_below)
{
	if (mig_above && mig_below)
		return rule->line;
	if (mig_above)
		return rule == &between ? "┬" : rule->line;
	return mig_below ? "┴" : rule->bars_cross;
}

static void add_crossed(const struct gk_box_table *t, const struct rule *rule,
			const char *cross)
{
	struct gk_buf *out = t->box->out;
	bool bars = t->bar_count && rule->bars_left;

	gk_buf_puts(out, rule->left);
	for (int i = 0; i < 3; i++) {
		gk_box_repeat(out, rule->line, columns[i]);
		if (i < 2)
			gk_buf_puts(out, rule->cross);
	}
	gk_buf_puts(out, bars ? rule->bars_left : rule->right);
	for (int i = 0; bars && i < t->bar_count; i++) {
		gk_box_repeat(out, rule->line, t->bars[i]);
		gk_buf_puts(out,
			    i + 1 < t->bar_count ? cross : rule->bars_right);
	}
	gk_buf_putc(out, '\n');
}

static void add_rule(const struct gk_box_table *t, const struct rule *rule)
{
	add_crossed(t, rule, rule->bars_cross);
}

/*
 * Adds the rule after a device, which depends on the next device shown, if any.
 */
static void add_rule_at(const struct gk_box_table *t, const struct rule *rule,
			size_t position)
{
	const struct gk_device *devices = t->box->snap->devices;
	bool below = position < gk_box_devices_end(t->box);

	add_crossed(t, rule,
		    cross_of(rule, devices[position - 1].mig_index >= 0,
			     below && devices[position].mig_index >= 0));
}

static void title_parts(const struct gk_snapshot *snap,
			char parts[3][GK_NAME_MAX + 32])
{
	/* a longer version is truncated */
	char driver[21] = "N/A", cuda[GK_UNITS_MAX];

	if (*snap->driver_version)
		gk_str_clean(driver, sizeof driver, snap->driver_version,
			     strlen(snap->driver_version));
	snprintf(parts[0], sizeof parts[0], "GPUKIT %s", GPUKIT_VERSION);
	snprintf(parts[1], sizeof parts[1], "Driver Version: %s", driver);
	snprintf(parts[2], sizeof parts[2], "CUDA Driver Version: %s",
		 gk_cuda_version(cuda, snap->cuda_version));
}

/* Adds the three texts of the title with equal space between them. */
static void add_title(struct gk_box *box)
{
	char parts[3][GK_NAME_MAX + 32];
	int room = TABLE_WIDTH - 4;

	title_parts(box->snap, parts);
	for (int i = 0; i < 3; i++)
		room -= (int)gk_columns(parts[i], strlen(parts[i]));
	room = room > 2 ? room : 2;
	gk_buf_printf(box->out, "│ %s%*s%s%*s%s │\n", parts[0], room - room / 2,
		      "", parts[1], room / 2, "", parts[2]);
}

/* Like add_title(), but with fewer words; they are cut if they do not fit. */
static void add_narrow_title(struct gk_box *box)
{
	char parts[3][GK_NAME_MAX + 32], text[4 * GK_NAME_MAX];

	title_parts(box->snap, parts);
	snprintf(text, sizeof text, "%s  Driver%s  CUDA%s", parts[0],
		 strrchr(parts[1], ':') + 1, strrchr(parts[2], ':') + 1);
	gk_buf_puts(box->out, "│ ");
	gk_cell(box->out, text, (size_t)box->width - 4, GK_LEFT, "..");
	gk_buf_puts(box->out, " │\n");
}

static void add_top(struct gk_box *box)
{
	struct gk_box narrow = *box;

	if (narrow.width > TABLE_WIDTH)
		narrow.width = TABLE_WIDTH;
	gk_box_line(&narrow, "╒", "═", "╕");
	if (box->width < TABLE_WIDTH)
		add_narrow_title(box);
	else
		add_title(box);
}

static void add_head(const struct gk_box_table *t)
{
	struct gk_buf *out = t->box->out;

	add_rule(t, t->box->o->dense ? &top : &under_title);
	if (t->box->o->compact) {
		gk_buf_puts(out, "│ GPU Fan Temp Perf Pwr:Usg/Cap │"
				 "         Memory-Usage │"
				 " GPU-Util  Compute M. │\n");
		add_rule(t, &under_head);
		return;
	}
	gk_buf_puts(out, "│ GPU  Name        Persistence-M"
			 "│ Bus-Id        Disp.A ");
	gk_buf_puts(out, t->mig ? "│ MIG M.   Uncorr. ECC │\n"
				: "│ Volatile Uncorr. ECC │\n");
	gk_buf_puts(out, "│ Fan  Temp  Perf  Pwr:Usage/Cap"
			 "│         Memory-Usage "
			 "│ GPU-Util  Compute M. │\n");
	add_rule(t, &under_head);
}

static void measure_devices(struct gk_box_table *t)
{
	int room = t->box->width - TABLE_WIDTH;

	if (t->box->width >= TWO_BARS_FROM) {
		t->bar_count = 2;
		t->bars[0] = (room - 3) / 2;
		t->bars[1] = room - 2 - t->bars[0];
	} else if (t->box->width >= BARS_FROM) {
		t->bar_count = 1;
		t->bars[0] = room - 1;
	}
	for (size_t i = 0; i < t->box->snap->device_count; i++)
		t->mig |=
		    t->box->snap->devices[i].m[GK_M_MIG_MODE].why == GK_PRESENT;
}

static void no_devices(struct gk_box *box)
{
	struct gk_box narrow = *box;
	bool open = box->live.open;

	if (narrow.width > TABLE_WIDTH)
		narrow.width = TABLE_WIDTH;
	gk_box_line(&narrow, "╞", "═", "╡");
	gk_buf_puts(box->out, "│  ");
	gk_cell(box->out, GK_NO_DEVICES, (size_t)narrow.width - 4, GK_LEFT, "");
	gk_buf_puts(box->out, "│\n");
	gk_box_line(&narrow, open ? "╞" : "╘", "═", open ? "╡" : "╛");
}

void gk_box_devices(struct gk_box *box)
{
	struct gk_box_table t = {.box = box};

	if (!box->o->dense || !box->snap->device_count)
		add_top(box);
	if (!box->snap->device_count) {
		no_devices(box);
		return;
	}
	if (box->width < TABLE_WIDTH) {
		gk_box_narrow_devices(box);
		return;
	}
	measure_devices(&t);
	add_head(&t);
	for (size_t i = box->live.first; i < gk_box_devices_end(box); i++) {
		if (gk_box_rule_before(box, i))
			add_rule_at(&t, &between, i);
		gk_box_device(&t, &box->snap->devices[i]);
	}
	add_rule_at(&t, box->live.open ? &open_bottom : &bottom,
		    gk_box_devices_end(box));
}
