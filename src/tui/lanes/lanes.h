/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes.h - our own look of the main screen. Each GPU has a lane, with its
 * history at the left, current values at the right, and its memory by owner.
 * There are no boxes.
 */
#ifndef GK_TUI_LANES_LANES_H
#define GK_TUI_LANES_LANES_H

#include "tui/screen/grid.h"
#include "tui/screen/key.h"
#include "tui/screen/term.h"

struct tui;

/*
 * lanes_draw() draws the main screen and returns its number of lines.
 * lanes_act() handles an action, or returns false if the action is not for this
 * screen.
 */
int lanes_draw(struct tui *t, struct grid *g);
bool lanes_act(struct tui *t, enum tui_action action);

/*
 * Returns the position in t->list of the process in a row of the screen, or -1.
 */
long lanes_at(const struct tui *t, int row);

/*
 * Handles a click. Returns false if there is nothing to click. For a click on a
 * key's name, sets *ret_key to the action, which the caller must perform;
 * otherwise to ACTION_NONE.
 */
bool lanes_click(struct tui *t, int row, int column, enum tui_action *ret_key);

#endif
