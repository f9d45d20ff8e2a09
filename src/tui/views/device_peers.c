/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_peers.c - draws the topology of a GPU: the CPUs near it, and the paths
 * to the other GPUs.
 */
#include "format/width.h"
#include "tui/screen/box.h"
#include "tui/views/device_part.h"
#include "tui/model/facts.h"

#include <stdio.h>
#include <string.h>

#define CELL_MAX 48
#define GAP      2 /* blanks between two cells */

static void draw_absent(struct grid *g, int line, const char *title)
{
	box_text(g, line, view_device_title(g, line, title), g->columns,
		 tui_absence(GK_ABSENT_NOT_READ),
		 (struct grid_style){GRID_COLOR_NONE, GRID_DIM});
}

/* Draws "0-55, host memory of NUMA node 0". */
static void draw_place(struct grid *g, int line, const struct gk_place *place)
{
	char text[sizeof place->cpus + sizeof place->numa_nodes + 64], own[32];
	bool known = *place->cpus || *place->numa_nodes;

	snprintf(own, sizeof own, ", its own is node %d", place->numa_node);
	snprintf(text, sizeof text, "%s%s%s%s",
		 *place->cpus ? place->cpus : "unknown",
		 *place->numa_nodes ? ", host memory of NUMA node " : "",
		 place->numa_nodes, place->numa_node < 0 ? "" : own);
	box_text(g, line, view_device_title(g, line, "CPUs near"), g->columns,
		 text,
		 known ? (struct grid_style)GRID_PLAIN
		       : (struct grid_style){GRID_COLOR_NONE, GRID_DIM});
}

/* Writes a path, such as "GPU 3 NV18" or "GPU 3 host bridge". */
static void peer_cell_text(char *dst, size_t i, const struct gk_peer *peer)
{
	if (peer->nvlinks)
		snprintf(dst, CELL_MAX, "GPU %zu NV%u", i, peer->nvlinks);
	else
		snprintf(dst, CELL_MAX, "GPU %zu %s", i,
			 gk_path_name(peer->path));
}

static int widest_cell(const struct gk_topology *all, const struct gk_peer *row,
		       size_t own)
{
	int most = 1;

	for (size_t i = 0; i < all->count; i++) {
		char text[CELL_MAX];

		peer_cell_text(text, i, &row[i]);
		if (i != own && (int)strlen(text) > most)
			most = (int)strlen(text);
	}
	return most + GAP;
}

static int draw_peer_row(struct grid *g, int line,
			 const struct gk_topology *all, size_t own)
{
	const struct gk_peer *row = &all->peers[own * all->count];
	int begin = view_device_title(g, line, "Other GPUs");
	int width = widest_cell(all, row, own), n = 0;
	int at_once = (g->columns - begin) / width;

	at_once = at_once < 1 ? 1 : at_once;
	for (size_t i = 0; i < all->count; i++) {
		char text[CELL_MAX];

		if (i == own)
			continue;
		peer_cell_text(text, i, &row[i]);
		box_text(g, line + n / at_once, begin + n % at_once * width,
			 width, text, GRID_PLAIN);
		n++;
	}
	if (!n)
		box_text(g, line, begin, g->columns, "none", GRID_PLAIN);
	return n ? (n + at_once - 1) / at_once : 1;
}

int view_device_peers(const struct tui *t, struct grid *g, int line,
		      const struct gk_device *d)
{
	const struct gk_topology *all = t->snap->topology;

	if (!all || d->index >= all->count) {
		draw_absent(g, line, "CPUs near");
		draw_absent(g, line + 1, "Other GPUs");
		return 2;
	}
	draw_place(g, line, &all->places[d->index]);
	return 1 + draw_peer_row(g, line + 1, all, d->index);
}
