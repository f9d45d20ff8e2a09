/* SPDX-License-Identifier: Apache-2.0 */
/* bar.c - draws bars of block characters. */
#include "format/bar.h"

#include "base/assert.h"
#include "format/gradient.h"
#include "format/width.h"

#include <stdio.h>
#include <string.h>

#define PERCENT_WIDTH 4    /* " 99%", " MAX" */
#define TENTHS_MAX    1e15 /* larger values are invalid and might overflow */

struct gk_value gk_tenths(struct gk_value part, struct gk_value whole)
{
	double tenths;

	if (part.why != GK_PRESENT)
		return part;
	if (whole.why != GK_PRESENT)
		return whole;
	if (whole.v <= 0)
		return (struct gk_value){.why = GK_ABSENT_NOT_SUPPORTED};
	tenths = (double)part.v * 1000.0 / (double)whole.v + 0.5;
	if (tenths > TENTHS_MAX)
		tenths = TENTHS_MAX;
	return (struct gk_value){.v = tenths > 0 ? (int64_t)tenths : 0};
}

static void add_bar_block(struct gk_buf *out, const struct gk_bar *bar,
			  double at, const char *block)
{
	if (bar->colorful)
		gk_buf_printf(out, "\033[38;5;%dm", gk_gradient(at));
	gk_buf_puts(out, block);
}

/*
 * Adds the bar itself, with a resolution of 1/8 cell; returns the number of
 * cells it used.
 */
static int add_blocks(struct gk_buf *out, const struct gk_bar *bar, int cells)
{
	struct gk_value tenths = bar->tenths;
	static const char *const parts[] = {"",  "▏", "▎", "▍",
					    "▌", "▋", "▊", "▉"};
	int64_t v = tenths.v < 0 ? 0 : tenths.v > 1000 ? 1000 : tenths.v;
	int64_t eighths = (v * cells * 8 + 500) / 1000;
	int full;

	if (tenths.why != GK_PRESENT) {
		for (int i = 0; i < cells; i++)
			gk_buf_puts(out, "░");
		return cells;
	}
	eighths = eighths ? eighths : 1;
	full = (int)(eighths / 8);
	for (int i = 0; i < full; i++)
		add_bar_block(out, bar, (double)i / cells, "█");
	if (eighths % 8)
		add_bar_block(out, bar, (double)full / cells,
			      parts[eighths % 8]);
	return full + (eighths % 8 != 0);
}

/*
 * Formats the percentage: "18.3%", "18%" if that is too wide, "MAX" from 100 %.
 */
static void percent_text(char *dst, size_t cap, const struct gk_bar *bar,
			 int room)
{
	int64_t tenths = bar->tenths.v > 0 ? bar->tenths.v : 0;
	int whole = tenths < 990 ? (int)(tenths + 5) / 10 : 99;

	if (bar->tenths.why != GK_PRESENT)
		snprintf(dst, cap, "N/A");
	else if (tenths >= 1000)
		snprintf(dst, cap, "MAX");
	else if (bar->whole ||
		 snprintf(dst, cap, "%.1f%%", (double)tenths / 10.0) > room)
		snprintf(dst, cap, "%d%%", whole);
}

void gk_format_bar(struct gk_buf *out, const struct gk_bar *bar, int width)
{
	int room = width - (int)strlen(bar->title);
	int text_width = (int)strlen(bar->text);
	int cells = room > PERCENT_WIDTH ? room - PERCENT_WIDTH : 0;
	const char *beside, *right;
	char percent[16];
	bool text_first;

	GK_ASSERT(width >= 0);
	gk_buf_puts(out, bar->title);
	room -= add_blocks(out, bar, cells) + 1;
	text_first = bar->text_first && text_width <= room;
	percent_text(percent, sizeof percent, bar,
		     text_first ? room - text_width - 1 : room);
	beside = text_first ? bar->text : percent;
	right = text_first ? percent : bar->text_first ? "" : bar->text;
	gk_buf_printf(out, " %s", beside);
	room -= (int)strlen(beside);
	if ((int)strlen(right) < room)
		gk_buf_printf(out, "%*s", room, right);
	else
		gk_buf_pad(out, ' ', room > 0 ? (size_t)room : 0);
}
