/* bar.c - bars of block characters; see bar.h. */
#include "format/bar.h"

#include "format/width.h"

#include <stdio.h>
#include <string.h>

#define PERCENT_WIDTH 5	   /* " 100%" */
#define TENTHS_MAX    1e15 /* more is nonsense, and would overflow */

struct gk_value gk_tenths(struct gk_value part, struct gk_value whole)
{
	double tenths;

	if (part.why != GK_PRESENT)
		return part;
	if (whole.why != GK_PRESENT)
		return whole;
	if (whole.v <= 0)
		return (struct gk_value){ .why = GK_ABSENT_NOT_SUPPORTED };
	tenths = (double)part.v * 1000.0 / (double)whole.v + 0.5;
	if (tenths > TENTHS_MAX)
		tenths = TENTHS_MAX;
	return (struct gk_value){ .v = tenths > 0 ? (int64_t)tenths : 0 };
}

/* Bar of eighths in a room of cells; returns the cells it took. */
static int add_blocks(struct gk_buf *out, struct gk_value tenths, int cells)
{
	static const char *const parts[] = { "", "▏", "▎", "▍",
					     "▌", "▋", "▊", "▉" };
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
		gk_buf_puts(out, "█");
	gk_buf_puts(out, parts[eighths % 8]);
	return full + (eighths % 8 != 0);
}

/* "18.3%", "18%" when that is too wide, "MAX" from 100 on. */
static void percent_text(char *dst, size_t cap, const struct gk_bar *bar,
			 int room)
{
	int64_t tenths = bar->tenths.v > 0 ? bar->tenths.v : 0;

	if (bar->tenths.why != GK_PRESENT)
		snprintf(dst, cap, "N/A");
	else if (tenths >= 1000)
		snprintf(dst, cap, "MAX");
	else if (bar->whole || snprintf(dst, cap, "%.1f%%",
					(double)tenths / 10.0) > room)
		snprintf(dst, cap, "%d%%", (int)((tenths + 5) / 10));
}

void gk_format_bar(struct gk_buf *out, const struct gk_bar *bar, int width)
{
	int room = width - (int)strlen(bar->title);
	int text_width = (int)strlen(bar->text);
	bool text_first = bar->text_first &&
			  room - text_width - 1 >= room / 2;
	int cells = room - (text_first ? text_width + 1 : PERCENT_WIDTH);
	char percent[16];
	const char *beside = text_first ? bar->text : percent;
	const char *right = text_first		? percent
			    : bar->text_first ? ""
					      : bar->text;

	cells = cells > 0 ? cells : 0;
	gk_buf_puts(out, bar->title);
	room -= add_blocks(out, bar->tenths, cells);
	percent_text(percent, sizeof percent, bar,
		     text_first ? room - text_width - 2 : room - 1);
	gk_buf_printf(out, " %s", beside);
	room -= (int)strlen(beside) + 1;
	if ((int)strlen(right) + 1 <= room)
		gk_buf_printf(out, "%*s", room, right);
	else
		gk_buf_pad(out, ' ', room > 0 ? (size_t)room : 0);
}
