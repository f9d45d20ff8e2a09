/* SPDX-License-Identifier: Apache-2.0 */
/*
 * point.c - marks a moment in all traces, and shows the value under the mouse.
 */
#include "tui/lanes/point.h"

#include "base/round.h"
#include "base/str.h"
#include "tui/lanes/lanes.h"
#include "tui/lanes/part.h"
#include "tui/lanes/trace.h"
#include "tui/model/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct gk_history_span span_of_trace(const struct tui *t,
					    const struct lanes_hit *trace)
{
	return tui_time_around(t, (unsigned)(trace->columns * trace->dots));
}

/*
 * Returns the end of the step to mark in all traces, or 0 if there is none.
 * While the mouse button is held, it is the newer step of the column under the
 * mouse; otherwise the step of the past moment on display.
 */
static uint64_t marked_ns(const struct tui *t)
{
	const struct lanes_point *p = &t->lanes.point;
	struct gk_history_span span = span_of_trace(t, &p->trace);
	int newer = (p->trace.columns - 1 - p->column) * p->trace.dots;

	return p->trace.rows ? span.end_ns - (unsigned)newer * span.step_ns
			     : tui_time_mark(t);
}

void lanes_mark(const struct tui *t, struct grid *g,
		const struct lanes_hit *trace)
{
	struct gk_history_span span = span_of_trace(t, trace);
	bool ascii = lanes_is_ascii(t) || t->options.graph == GRAPH_ASCII;
	uint64_t at = marked_ns(t), back;
	int column;

	if (!at || at > span.end_ns)
		return;
	back = (span.end_ns - at) / span.step_ns;
	if (back >= span.count)
		return;
	column = (int)(span.count - 1 - back) / trace->dots;
	for (int r = 0; r < trace->rows; r++)
		lanes_fill(g, trace->row + r, trace->column + column, 1,
			   ascii ? L'|' : L'┊', lanes_ink(t, INK_STRONG));
}

void lanes_mark_trace(struct tui *t, struct grid *g, struct lanes_hit trace)
{
	trace.kind = HIT_TRACE;
	lanes_hit(t, trace);
	lanes_mark(t, g, &trace);
}

/* ---- the mouse ---- */

static const struct lanes_hit *trace_at(const struct lanes *l, int row,
					int column)
{
	for (int i = 0; i < l->hit_count; i++)
		if (l->hits[i].kind == HIT_TRACE &&
		    lanes_is_inside(&l->hits[i], row, column))
			return &l->hits[i];
	return NULL;
}

static const char *uuid_of_trace(const struct tui *t,
				 const struct lanes_hit *trace)
{
	bool there = t->snap && trace->series != LANES_CPUS &&
		     trace->id < (int)t->snap->device_count;

	return there ? t->snap->devices[trace->id].uuid : "";
}

void lanes_point_check(struct tui *t)
{
	struct lanes_point *p = &t->lanes.point;

	if (p->trace.rows &&
	    (p->screen != (int)t->screen || p->screen_rows != t->rows ||
	     p->screen_columns != t->columns ||
	     strcmp(p->uuid, uuid_of_trace(t, &p->trace)) != 0))
		*p = (struct lanes_point){0};
}

static void remember_what_is_shown(const struct tui *t, struct lanes_point *p)
{
	p->screen = (int)t->screen;
	p->screen_rows = t->rows;
	p->screen_columns = t->columns;
	gk_str_copy(p->uuid, sizeof p->uuid, uuid_of_trace(t, &p->trace));
}

/*
 * Moves the point to the mouse. If the mouse is outside all traces, the point
 * stays in its trace, at the column nearest to the mouse.
 */
static void hold_trace(struct lanes *l, int row, int column)
{
	const struct lanes_hit *trace = trace_at(l, row, column);
	struct lanes_point *p = &l->point;

	if (trace)
		p->trace = *trace;
	column -= p->trace.column;
	p->column = column < 0                   ? 0
		    : column >= p->trace.columns ? p->trace.columns - 1
						 : column;
}

/*
 * Handles a mouse event. A press and a release without movement in between are
 * a click.
 */
bool lanes_point_mouse(struct tui *t, struct term_mouse mouse,
		       enum tui_action *ret_key)
{
	struct lanes_point *p = &t->lanes.point, before = *p;
	bool held = before.trace.rows;
	bool pressed = mouse.what == MOUSE_PRESS &&
		       trace_at(&t->lanes, mouse.row, mouse.column);

	*ret_key = ACTION_NONE;
	if (pressed || (held && mouse.what == MOUSE_DRAG)) {
		p->dragged = !pressed;
		hold_trace(&t->lanes, mouse.row, mouse.column);
		remember_what_is_shown(t, p);
		return true;
	}
	*p = (struct lanes_point){0};
	if (!held || mouse.what != MOUSE_RELEASE)
		return false;
	if (!before.dragged)
		lanes_click(t, mouse.row, mouse.column, ret_key);
	return true;
}

/* ---- the value under the mouse ---- */

/*
 * Returns the newer of the two values in the column under the mouse or, if that
 * one is unknown, the older.
 */
static float value_held(const struct tui *t, const struct lanes_point *p)
{
	struct gk_history_span span = {.end_ns = marked_ns(t),
				       .step_ns = tui_time_step(t),
				       .count = (unsigned)p->trace.dots};
	float values[2] = {NAN, NAN};

	if (p->trace.series == LANES_CPUS)
		gk_history_of_host(t->history, GK_HH_CPU, span, values);
	else
		gk_history_of_device(
		    t->history, t->snap->devices[p->trace.id].uuid,
		    (enum gk_history_device)p->trace.series, span, values);
	return span.count > 1 && !isnan(values[1]) ? values[1] : values[0];
}

/* Writes the time and the value: " 21:40:12 · 84 % ". */
static void point_text(const struct tui *t, const struct lanes_point *p,
		       char *dst, size_t cap)
{
	const char *unit = "%";
	float value = value_held(t, p);
	char clock[16], number[32] = "—";

	if (p->trace.series != LANES_CPUS)
		unit = gk_history_devices[p->trace.series].unit;
	if (!strcmp(unit, "C"))
		unit = "°C";
	if (!isnan(value))
		snprintf(number, sizeof number, "%.0f %s",
			 gk_half_up((double)value), unit);
	lanes_clock(tui_time_wall_of(t, marked_ns(t)), true, clock);
	snprintf(dst, cap, " %s · %s ", clock, number);
}

void lanes_point_draw(const struct tui *t, struct grid *g)
{
	const struct lanes_point *p = &t->lanes.point;
	int column = p->trace.column + p->column, width;
	char text[80];

	if (!p->trace.rows || !t->snap ||
	    p->trace.id >= (int)t->snap->device_count)
		return;
	point_text(t, p, text, sizeof text);
	width = lanes_width(text);
	if (column + width > g->columns)
		column = g->columns - width;
	lanes_put(
	    g, p->trace.row - 1, column < 0 ? 0 : column,
	    (struct grid_style){GRID_COLOR_NONE, GRID_BOLD | GRID_REVERSE},
	    "%s", text);
}
