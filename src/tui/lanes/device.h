/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - the screen of one GPU in lanes.
 */
#ifndef GK_TUI_LANES_DEVICE_H
#define GK_TUI_LANES_DEVICE_H

#include "tui/screen/grid.h"

#include <gpukit/gpukit.h>

struct tui;

/*
 * Draws the screen. `values` are from when the GPU was last healthy. Returns
 * the number of lines.
 */
int lanes_device(struct tui *t, struct grid *g, const struct gk_device *d,
		 const struct gk_device *values);

/* Shows the next page of small graphs; after the last page, the first. */
void lanes_device_graphs_next(struct tui *t, const struct gk_device *values);

#endif
