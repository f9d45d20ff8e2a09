/* SPDX-License-Identifier: Apache-2.0 */
/* hosts_table.c - writes the screen of hosts as text, once. */
#include "base/clock.h"
#include "tui/settings/bindings.h"
#include "tui/screen/grid_text.h"
#include "tui/views/view.h"

#include <limits.h>
#include <stdlib.h>

#define PATIENCE_NS (20 * GK_NS_PER_S)
#define OTHER_ROWS  3 /* rows for head, titles and footer */

static size_t count_heard(const struct tui *t, size_t *ret_waited_for)
{
	size_t heard = 0;

	*ret_waited_for = 0;
	for (size_t i = 0; i < t->hosts.count; i++) {
		const struct tui_host *host = &t->hosts.list[i];

		heard += host->snap != NULL;
		*ret_waited_for += !host->snap && !host->state.away_ns;
	}
	return heard;
}

/*
 * Waits, for at most PATIENCE_NS, until each host has sent a frame or is away.
 * Returns false if wait() returned false.
 */
static bool wait_for_hosts(struct tui *t, bool (*wait)(int fd),
			   size_t *ret_heard)
{
	uint64_t end = gk_mono_ns() + PATIENCE_NS;
	size_t waited_for;

	do {
		if (!wait(gk_hosts_fd(t->options.hosts)))
			return false;
		tui_hosts_turn(t);
		*ret_heard = count_heard(t, &waited_for);
	} while (waited_for && gk_mono_ns() < end);
	return true;
}

static bool draw_hosts_table(struct tui *t, int columns, bool color,
			     struct gk_buf *out)
{
	struct grid g = {0};
	int rows = (int)t->hosts.count + OTHER_ROWS;

	rows += view_hosts_alert_lines(t, INT_MAX);
	t->rows = rows;
	t->columns = columns;
	t->hosts.selected = t->hosts.count; /* marks no row as selected */
	if (!grid_resize(&g, rows, columns))
		return false;
	view_hosts(t, &g);
	if (t->options.term.ascii)
		grid_to_ascii(&g);
	grid_text(out, &g, rows - 1, color);
	grid_free(&g);
	return !out->failed;
}

int tui_hosts_table(const struct tui_options *options, int columns, bool color,
		    bool (*wait)(int fd), struct gk_buf *out, size_t *ret_heard)
{
	struct tui *t = calloc(1, sizeof *t);
	int r = GK_ERR_NOMEM;

	if (!t)
		return r;
	t->options = *options;
	t->views = tui_views;
	t->keymap = tui_bindings_map(options);
	if (t->keymap)
		r = tui_hosts_begin(t);
	if (!r && !wait_for_hosts(t, wait, ret_heard))
		r = GK_ERR_TIMEOUT;
	else if (!r && !draw_hosts_table(t, columns, color, out))
		r = GK_ERR_NOMEM;
	tui_hosts_end(t);
	tui_keymap_free(t->keymap);
	free(t->list);
	free(t);
	return r;
}
