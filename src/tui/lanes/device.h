/*
 * device.h - the screen of one GPU in lanes.
 */
#ifndef GK_TUI_LANES_DEVICE_H
#define GK_TUI_LANES_DEVICE_H

#include "tui/grid.h"

#include <gpukit/gpukit.h>

struct tui;

/* Draws it; values: of when the GPU was well. Returns the number of lines. */
int lanes_device(struct tui *t, struct grid *g, const struct gk_device *d,
		 const struct gk_device *values);

/* The next of its small graphs, round about. */
void lanes_device_graphs_next(struct tui *t, const struct gk_device *values);

#endif
