/* mouse.h - what the mouse does on a screen. */
#ifndef GK_TUI_MOUSE_H
#define GK_TUI_MOUSE_H

#include "tui/term.h"

struct tui;

/*
 * A click selects the line under it, or sorts by the column whose title is
 * there, inverted the second time; elsewhere it ends the selection. The wheel
 * moves the selection, five lines with Ctrl; with Shift it scrolls sideways.
 */
void tui_mouse(struct tui *t, struct term_mouse mouse);

#endif
