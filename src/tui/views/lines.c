/* SPDX-License-Identifier: Apache-2.0 */
/* lines.c - draws the lines of a text, scrolls, and turns pages. */
#include "tui/views/view.h"

#include <string.h>

void view_follow(struct tui *t, int line, int first, int rows)
{
	if (line < 0 || rows <= 0)
		return;
	if (line - t->scroll < first)
		t->scroll = line - first;
	if (line - t->scroll >= first + rows)
		t->scroll = line - first - rows + 1;
}

void view_limit_scroll(struct tui *t, int most)
{
	if (t->scroll > most)
		t->scroll = most;
	if (t->scroll < 0)
		t->scroll = 0;
}

void view_limit_sideways(struct tui *t, int most)
{
	if (t->scroll_left > most)
		t->scroll_left = most;
	if (t->scroll_left < 0)
		t->scroll_left = 0;
}

bool view_selection_moved(struct tui *t)
{
	struct tui_main *m = &t->main;
	long at = tui_selected(t);
	const struct gk_process *p =
	    at < 0 ? NULL : &t->snap->processes[t->list[at]];
	pid_t pid = p ? p->pid : 0;
	unsigned device = p ? p->device : 0;
	bool moved =
	    p && (pid != m->followed_pid || device != m->followed_device);

	m->followed_pid = pid;
	m->followed_device = device;
	return moved;
}

void view_turn_page(struct tui *t, int by, int pages)
{
	t->main.page += by;
	if (pages < 2)
		tui_say(t, "All GPUs are shown.");
	if (t->main.page >= pages)
		t->main.page = pages - 1;
	if (t->main.page < 0)
		t->main.page = 0;
}

int view_lines(struct grid *g, int line, const struct gk_buf *text)
{
	const char *at = text->data, *end = at + text->len;
	int count = 0;

	while (at && at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end;

		grid_line(g, line + count++, 0, at, (size_t)(stop - at),
			  GRID_PLAIN);
		at = newline ? newline + 1 : end;
	}
	return count;
}
