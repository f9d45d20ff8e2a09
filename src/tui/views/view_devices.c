/* SPDX-License-Identifier: Apache-2.0 */
/* view_devices.c - draws the table of GPUs on the main screen. */
#include "format/boxed/part.h"
#include "format/names.h"
#include "tui/views/main_screen.h"
#include "tui/views/view.h"

#include <stdio.h>
#include <string.h>

#define NOTE_COLUMN 3

/*
 * In each style, the number of lines above the devices and the number per GPU.
 */
static const struct {
	int head, narrow_head, gpu;
	bool compact, dense;
} styles[] = {
    [DEVICES_FULL] = {6, 5, 2, false, false},
    [DEVICES_COMPACT] = {5, 5, 1, true, false},
    [DEVICES_DENSE] = {3, 3, 1, true, true},
};

#define NO_DEVICES_HEIGHT 5

static struct gk_box box_of(struct gk_boxed_options *options,
			    const struct tui *t, const struct main_plan *plan)
{
	*options = t->options.boxed;
	options->compact = styles[plan->devices].compact;
	options->dense = styles[plan->devices].dense;
	return (struct gk_box){
	    .snap = t->snap,
	    .o = options,
	    .width = plan->width,
	    .live = {.on = true,
		     .open = view_host_height(t, plan) > 2,
		     .first = plan->first,
		     .count = plan->count},
	};
}

static int head_of(const struct main_plan *plan)
{
	return plan->width < GK_BOXED_WIDTH_MIN
		   ? styles[plan->devices].narrow_head
		   : styles[plan->devices].head;
}

static int device_height(const struct tui *t, const struct main_plan *plan,
			 size_t i)
{
	return t->snap->devices[i].mig_index < 0 ? styles[plan->devices].gpu
						 : 1;
}

int view_devices_height(const struct tui *t, const struct main_plan *plan)
{
	struct gk_boxed_options options;
	struct gk_box box = box_of(&options, t, plan);
	int lines = head_of(plan) + 1;

	if (t->options.devices_hidden)
		return 0;
	if (!t->snap->device_count)
		return NO_DEVICES_HEIGHT;
	for (size_t i = plan->first; i < gk_box_devices_end(&box); i++)
		lines +=
		    gk_box_rule_before(&box, i) + device_height(t, plan, i);
	return lines;
}

/* ---- the GPU of the selected process ---- */

/* Adds attributes to a line, except to its borders. */
static void mark_cells(struct grid *g, int row, unsigned add, unsigned remove)
{
	if (row < 0 || row >= g->rows)
		return;
	for (int c = 0; c < g->columns; c++)
		if (grid_at(g, row, c)->c != L'│')
			grid_mark(g, row, c, 1, add, remove);
}

/* Draws the GPU of the selected process bold, and the others dim. */
static void mark_devices(const struct tui *t, struct grid *g, int line,
			 const struct main_plan *plan)
{
	struct gk_boxed_options options;
	struct gk_box box = box_of(&options, t, plan);
	long at = tui_selected(t);
	unsigned chosen;

	if (at < 0)
		return;
	chosen = t->snap->devices[t->snap->processes[t->list[at]].device].index;
	line += head_of(plan);
	for (size_t i = plan->first; i < gk_box_devices_end(&box); i++) {
		bool bold = t->snap->devices[i].index == chosen;

		line += gk_box_rule_before(&box, i);
		for (int k = device_height(t, plan, i); k > 0; k--)
			mark_cells(g, line++, bold ? GRID_BOLD : GRID_DIM, 0);
	}
}

/* ---- pages ---- */

static void name_first_key(const struct tui *t, enum tui_action action,
			   char *dst, size_t cap)
{
	tui_keymap_names(t->keymap, action, dst, cap);
	dst[strcspn(dst, " ")] = '\0';
}

/*
 * If not all GPUs are shown, writes into the lower border which GPUs are shown.
 */
static void draw_note(const struct tui *t, struct grid *g, int line,
		      const struct main_plan *plan)
{
	char first[GK_NAME_MAX], last[GK_NAME_MAX], keys[2][TUI_KEY_NAME_MAX];
	const struct gk_device *d = t->snap->devices;
	unsigned gpus = 0;
	char text[320];

	if (plan->pages < 2)
		return;
	for (size_t i = 0; i < t->snap->device_count; i++)
		gpus += d[i].mig_index < 0;
	gk_device_label(first, &d[plan->first]);
	gk_device_label(last, &d[plan->first + plan->count - 1]);
	name_first_key(t, ACTION_DEVICES_PREVIOUS, keys[0], sizeof *keys);
	name_first_key(t, ACTION_DEVICES_NEXT, keys[1], sizeof *keys);
	snprintf(text, sizeof text, " GPU %s%s%s of %u (%s %s) ", first,
		 plan->count > 1 ? "-" : "", plan->count > 1 ? last : "", gpus,
		 keys[0], keys[1]);
	grid_line(g, line, NOTE_COLUMN, text, strlen(text),
		  (struct grid_style){GRID_COLOR_NONE, GRID_BOLD});
}

int view_devices(struct tui *t, struct grid *g, int line,
		 const struct main_plan *plan)
{
	struct gk_boxed_options options;
	struct gk_box box = box_of(&options, t, plan);
	struct gk_buf text = {0};
	int lines;

	if (t->options.devices_hidden)
		return 0;
	box.out = &text;
	gk_box_devices(&box);
	lines = view_lines(g, line, &text);
	mark_devices(t, g, line, plan);
	draw_note(t, g, line + lines - 1, plan);
	gk_buf_free(&text);
	return lines;
}
