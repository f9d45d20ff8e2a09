/*
 * point.h - one moment in all traces: the one that is looked at, or the one
 * that the mouse holds, with its value.
 */
#ifndef GK_TUI_LANES_POINT_H
#define GK_TUI_LANES_POINT_H

#include "tui/lanes/state.h"
#include "tui/term.h"

/* Remembers a trace for the mouse, and marks the moment in it. */
void lanes_mark_trace(struct tui *t, struct grid *g, struct lanes_hit trace);

/* The mark alone. */
void lanes_mark(const struct tui *t, struct grid *g,
		const struct lanes_hit *trace);

/* Lets go of a trace that is no longer where it was pressed: before drawing. */
void lanes_point_check(struct tui *t);

/* Takes the mouse; false: it is not about a trace. */
bool lanes_point_mouse(struct tui *t, struct term_mouse mouse);

/* Time and value of what the mouse holds, over what is drawn. */
void lanes_point_draw(const struct tui *t, struct grid *g);

#endif
