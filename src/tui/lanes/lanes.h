/*
 * lanes.h - our own look of the main screen: a lane for each GPU, history at
 * the left that runs into its value at the right, memory by owner, no boxes.
 */
#ifndef GK_TUI_LANES_LANES_H
#define GK_TUI_LANES_LANES_H

#include "tui/grid.h"
#include "tui/key.h"
#include "tui/term.h"

struct tui;

/* The main screen: its number of lines. */
int lanes_draw(struct tui *t, struct grid *g);
bool lanes_act(struct tui *t, enum tui_action action);

/* Position in t->list of the process at a row of the screen, or -1. */
long lanes_at(const struct tui *t, int row);

/* Does what a click asks for; false: there is nothing to click. */
bool lanes_click(struct tui *t, int row, int column);

#endif
