/*
 * layer.h - the layers over the screen: a prompt, and over it a dialog. Keys
 * and the mouse go to the highest one that is open.
 */
#ifndef GK_TUI_LAYER_H
#define GK_TUI_LAYER_H

#include "tui/grid.h"
#include "tui/key.h"
#include "tui/term.h"

struct tui;

/* True: the key was taken by a layer; the screen must not see it. */
bool tui_layer_key(struct tui *t, tui_key key);
bool tui_layer_mouse(struct tui *t, struct term_mouse mouse);

/* Draws the layers that are open over a screen. */
void tui_layer_draw(struct tui *t, struct grid *g);

#endif
