/*
 * device_part.h - the parts of the screen of a GPU, which view_device.c puts
 * together. Lines may lie outside what is seen; each part returns its height.
 */
#ifndef GK_TUI_DEVICE_PART_H
#define GK_TUI_DEVICE_PART_H

#include "tui/grid.h"
#include "tui/model.h"

/* How many rows its graphs want at least on a screen of rows. */
int device_graphs_least(int rows);

/* Draws as many graphs as are wide enough, in two bands where there is room. */
int device_graphs(const struct tui *t, struct grid *g, int line, int rows,
		  const struct gk_device *d);

/* The next graphs, round about. */
void device_graphs_next(struct tui *t, const struct gk_device *d);

/* Its NVLinks, folded into columns. */
int device_links(const struct tui *t, struct grid *g, int line,
		 const struct gk_device *d);

/* Takes in what a new snapshot says of its links. */
void device_links_frame(struct tui *t, const struct gk_device *d);

/* The ways to the other GPUs, and which CPUs are near. */
int device_peers(const struct tui *t, struct grid *g, int line,
		 const struct gk_device *d);

/* Its MIG devices: a bar of what they have of it, and a line for each. */
int device_migs(const struct tui *t, struct grid *g, int line,
		const struct gk_device *d);

/*
 * Draws a title at the left of a line, where the titles of facts are; returns
 * the column behind it.
 */
int device_title(struct grid *g, int line, const char *title);

#endif
