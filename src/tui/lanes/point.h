/* SPDX-License-Identifier: Apache-2.0 */
/*
 * point.h - marks one moment in all traces: the past moment on display, or the
 * moment that the mouse points at while a button is held, with its value.
 */
#ifndef GK_TUI_LANES_POINT_H
#define GK_TUI_LANES_POINT_H

#include "tui/lanes/state.h"
#include "tui/screen/term.h"

/* Registers a trace for the mouse, and marks the moment in it. */
void lanes_mark_trace(struct tui *t, struct grid *g, struct lanes_hit trace);

/* Marks the moment in a trace, without registering the trace. */
void lanes_mark(const struct tui *t, struct grid *g,
		const struct lanes_hit *trace);

/*
 * Call before drawing. If the screen has changed since the mouse button was
 * pressed, acts as if the button had been released.
 */
void lanes_point_check(struct tui *t);

/*
 * Handles a mouse event. Returns false if it does not concern a trace. *ret_key
 * is as in lanes_click().
 */
bool lanes_point_mouse(struct tui *t, struct term_mouse mouse,
		       enum tui_action *ret_key);

/* Draws the point's time and value over the screen. */
void lanes_point_draw(const struct tui *t, struct grid *g);

#endif
