/* view_devices.c - the time and the table of GPUs of the main screen. */
#include "format/boxed_part.h"
#include "format/units.h"
#include "tui/view.h"

#include <string.h>

#define HINT "(Press h for help or q to quit)"

static void count_devices(const struct tui *t, int *gpus, int *migs)
{
	*gpus = *migs = 0;
	for (size_t i = 0; i < t->snap->device_count; i++)
		*(t->snap->devices[i].mig_index < 0 ? gpus : migs) += 1;
}

/* Time, title, heads and borders, and a rule between two of the lines. */
int view_devices_height(const struct tui *t, bool compact)
{
	int gpus, migs;

	count_devices(t, &gpus, &migs);
	if (!gpus)
		return 6;
	return (compact ? 4 : 5) + (compact ? 2 : 3) * gpus + 2 * migs + 2;
}

static void draw_time(const struct tui *t, struct grid *g, int line)
{
	char text[GK_UNITS_MAX];
	int column = GK_BOXED_WIDTH_MIN - (int)strlen(HINT);

	gk_local_time(text, t->snap->wall_ns);
	grid_line(g, line, 0, text, strlen(text), GRID_PLAIN);
	grid_line(g, line, column, HINT, strlen(HINT), GRID_PLAIN);
	grid_mark(g, line, column + 7, 1, GRID_BOLD | GRID_ITALIC, 0);
	grid_tint(g, line, column + 7, 1, 5);
	grid_mark(g, line, column + 21, 1, GRID_BOLD | GRID_ITALIC, 0);
	grid_tint(g, line, column + 21, 1, 5);
}

int view_devices(struct tui *t, struct grid *g, int line, bool compact)
{
	struct gk_boxed_options options = t->options.boxed;
	struct gk_buf text = {0};
	struct gk_box box = {.out = &text, .snap = t->snap, .o = &options};
	int lines;

	options.compact = compact;
	box.width =
	    t->columns > GK_BOXED_WIDTH_MIN ? t->columns : GK_BOXED_WIDTH_MIN;
	draw_time(t, g, line);
	gk_box_devices(&box);
	lines = 1 + view_lines(g, line + 1, &text);
	gk_buf_free(&text);
	return lines;
}
