/*
 * view_main.c - the main screen: GPUs over the host over the processes, as
 * tall as the terminal allows, the whole of it scrolled where it is taller.
 */
#include "tui/view.h"

#include <string.h>

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

/* Which parts are compact. GPUs shrink first, then the host, then the rest. */
struct layout {
	bool devices, host, processes;
};

static int height(const struct tui *t, struct layout l)
{
	return view_devices_height(t, l.devices) + view_host_height(t, l.host) +
	       view_processes_height(t, l.processes);
}

static struct layout choose_layout(const struct tui *t)
{
	static const struct layout steps[] = {
	    {false, false, false},
	    {true, false, false},
	    {true, true, false},
	    {true, true, true},
	};
	size_t last = sizeof steps / sizeof *steps - 1, i = 0;

	if (t->options.mode == MODE_FULL)
		return steps[0];
	if (t->options.mode == MODE_COMPACT)
		return steps[last];
	while (i < last && height(t, steps[i]) > t->rows)
		i++;
	return steps[i];
}

int view_main(struct tui *t, struct grid *g)
{
	struct layout l = choose_layout(t);
	int line = -t->scroll;

	line += view_devices(t, g, line, l.devices);
	line += view_host(t, g, line, l.host);
	line += view_processes(t, g, line, l.processes);
	return line + t->scroll;
}
