/* SPDX-License-Identifier: Apache-2.0 */
/* mouse.h - handles mouse events on a screen. */
#ifndef GK_TUI_MOUSE_H
#define GK_TUI_MOUSE_H

#include "tui/screen/term.h"

struct tui;

/*
 * Handles a mouse event. A click on a line selects it. A click on a column
 * title sorts by that column, and a second one reverses the order. A click
 * elsewhere clears the selection. The wheel moves the selection, by five lines
 * with Ctrl; with Shift it scrolls sideways.
 */
void tui_mouse(struct tui *t, struct term_mouse mouse);

#endif
