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

#endif
