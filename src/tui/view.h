/*
 * view.h - the parts of screens. Each draws itself into a grid from a line on,
 * which may lie above or below what is seen: what does not fit is cut. Each
 * returns its height. Views only read the model.
 */
#ifndef GK_TUI_VIEW_H
#define GK_TUI_VIEW_H

#include "tui/grid.h"
#include "tui/model.h"

/* Draws the lines of a text from a line on; returns how many there are. */
int view_lines(struct grid *g, int line, const struct gk_buf *text);

/* The main screen's parts; compact: fewer lines. */
int view_devices(struct tui *t, struct grid *g, int line, bool compact);
int view_host(struct tui *t, struct grid *g, int line, bool compact);
int view_processes(struct tui *t, struct grid *g, int line, bool compact);

/* Heights of the same, without drawing. */
int view_devices_height(const struct tui *t, bool compact);
int view_host_height(const struct tui *t, bool compact);
int view_processes_height(const struct tui *t, bool compact);

/* Whole screens: their number of lines. */
int view_main(struct tui *t, struct grid *g);

#endif
