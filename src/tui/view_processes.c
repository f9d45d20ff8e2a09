/* view_processes.c - the table of processes of the main screen. */
#include "format/boxed_part.h"
#include "tui/view.h"

int view_processes_height(const struct tui *t, bool compact)
{
	int rows = (int)t->list_count;

	(void)compact;
	return 6 + (rows ? rows : 1);
}

int view_processes(struct tui *t, struct grid *g, int line, bool compact)
{
	struct gk_buf text = {0};
	struct gk_box box = {
	    .out = &text, .snap = t->snap, .o = &t->options.boxed};
	int lines;

	(void)compact;
	box.width =
	    t->columns > GK_BOXED_WIDTH_MIN ? t->columns : GK_BOXED_WIDTH_MIN;
	gk_box_processes(&box);
	lines = view_lines(g, line + 1, &text);
	gk_buf_free(&text);
	return lines + 1;
}
