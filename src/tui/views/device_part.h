/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_part.h - the parts of the screen of a GPU, which view_device.c puts
 * together. A part draws from a given line on, which may be outside the grid,
 * and returns its height.
 */
#ifndef GK_TUI_DEVICE_PART_H
#define GK_TUI_DEVICE_PART_H

#include "tui/screen/grid.h"
#include "tui/model/model.h"

#define DEVICE_TITLE_WIDTH 19

/* Whether a GPU has no values because it is lost or in error. */
bool view_device_is_silent(const struct gk_device *d);

/*
 * Returns the values to show. For a GPU without values these are its last ones,
 * if t->device has them.
 */
const struct gk_device *view_device_values(const struct tui *t,
					   const struct gk_device *d);

/* Returns the minimum rows for graphs on a screen with `rows` rows. */
int view_device_graphs_least(int rows);

/* Draws as many graphs side by side as fit, in two bands if there is space. */
int view_device_graphs(const struct tui *t, struct grid *g, int line, int rows,
		       const struct gk_device *d);

/* Turns to the next page of graphs; after the last page, to the first. */
void view_device_graphs_next(struct tui *t, const struct gk_device *d);

/* Draws the NVLinks in several columns. */
int view_device_links(const struct tui *t, struct grid *g, int line,
		      const struct gk_device *d);

/* Stores the link counters of a new snapshot. */
void view_device_links_frame(struct tui *t, const struct gk_device *d);

/* Draws the CPUs near a GPU, and the paths to the other GPUs. */
int view_device_peers(const struct tui *t, struct grid *g, int line,
		      const struct gk_device *d);

/* Draws the MIG devices: a bar of memory slices, and a line for each device. */
int view_device_migs(const struct tui *t, struct grid *g, int line,
		     const struct gk_device *d);

/*
 * Draws a title at the left, aligned with the titles of facts. Returns the
 * column after it.
 */
int view_device_title(struct grid *g, int line, const char *title);

#endif
