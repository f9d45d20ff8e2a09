/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layer.h - the layers above the screen: a prompt and, above that, a dialog.
 * Keys go to the topmost layer that is open.
 */
#ifndef GK_TUI_LAYER_H
#define GK_TUI_LAYER_H

#include "tui/screen/grid.h"
#include "tui/screen/key.h"
#include "tui/screen/term.h"

struct tui;

/*
 * Return whether a layer has handled the event. The screen handles it
 * otherwise.
 */
bool tui_layer_key(struct tui *t, tui_key key);
bool tui_layer_mouse(struct tui *t, struct term_mouse mouse);

/* Draws the open layers over the screen. */
void tui_layer_draw(struct tui *t, struct grid *g);

#endif
