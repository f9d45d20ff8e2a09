/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_alerts.c - the screen of alerts: all events since the viewer started,
 * newest first, each with its beginning, end and duration.
 */
#include "base/clock.h"
#include "format/units.h"
#include "tui/lanes/part.h"
#include "tui/views/view.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define TIGHT_BELOW 12 /* minimum rows to show titles */
#define SHORT_BELOW 56 /* minimum columns to show seconds */
#define MODEL_FROM  90 /* minimum columns to show models */
#define MODEL       16
#define OLD_NS      (20 * 3600 * GK_NS_PER_S) /* older times are shown as dates */

static const char nothing[] = "Nothing has happened yet: no GPU was lost, hung "
			      "or slowed down for long, none must be reset, no "
			      "memory error, no Xid.";

/* ---- the list ---- */

/* Return the moment on display, by the monotonic and by the wall clock. */
static uint64_t shown_moment(const struct tui *t)
{
	return tui_time_is_past(t) ? t->time.end_ns : t->snap->mono_ns;
}

static uint64_t wall_of_moment(const struct tui *t)
{
	return tui_time_is_past(t) ? tui_time_wall(t) : t->snap->wall_ns;
}

/* Returns the number of events that had begun by the moment on display. */
size_t view_alerts_count(const struct tui *t)
{
	return t->alerts && t->snap
		   ? tui_alert_events_until(t->alerts, shown_moment(t))
		   : 0;
}

/*
 * Returns the event at a position, newest first, in its state at the moment on
 * display.
 */
static struct tui_alert_event event_at(const struct tui *t, size_t at)
{
	size_t count = view_alerts_count(t);

	return tui_alert_event_at(&t->alerts->events[count - 1 - at],
				  shown_moment(t));
}

long view_alerts_selected(const struct tui *t)
{
	for (size_t i = 0; i < view_alerts_count(t); i++)
		if (event_at(t, i).number == t->alert_list.number)
			return (long)i;
	return -1;
}

void view_alerts_select(struct tui *t, long position)
{
	bool there = position >= 0 && position < (long)view_alerts_count(t);

	t->alert_list.number = there ? event_at(t, (size_t)position).number : 0;
}

long view_alerts_at(const struct tui *t, int row)
{
	const struct tui_alert_list *l = &t->alert_list;
	long at = row - l->row + t->scroll;

	return row < l->row || row >= l->row + l->rows ||
		       at >= (long)view_alerts_count(t)
		   ? -1
		   : at;
}

void view_alerts_text(const struct tui *t, size_t position, struct gk_buf *out)
{
	struct tui_alert_event e = event_at(t, position);
	char text[160];

	tui_alert_text(&e.alert, text, sizeof text);
	gk_buf_puts(out, text);
}

/* ---- opening and keys ---- */

bool view_alerts_open(struct tui *t)
{
	bool none = t->options.replay;

	if (none)
		tui_say(t, "A recording has no alerts.");
	else
		view_alerts_select(t, -1);
	return !none;
}

bool view_alerts_act(struct tui *t, enum tui_action action)
{
	long at = view_alerts_selected(t);

	if (action != ACTION_ALERT_GPU)
		return false;
	if (at < 0) {
		tui_say(t, "Select an alert first, to show its GPU.");
		return true;
	}
	t->device.gpu = event_at(t, (size_t)at).alert.gpu;
	tui_open(t, SCREEN_DEVICE);
	return true;
}

/* ---- drawing ---- */

/* The positions of the columns. */
struct alerts_layout {
	bool seconds;
	int time, ended, lasted, gpu, model, text;
};

static struct alerts_layout lay_out_alerts(int columns)
{
	struct alerts_layout l = {.seconds = columns >= SHORT_BELOW, .time = 3};
	int clock = l.seconds ? 8 : 6;

	l.ended = l.time + clock + 1;
	l.lasted = l.ended + clock + 1;
	l.gpu = l.lasted + (l.seconds ? 8 : 0);
	l.model = l.gpu + 5;
	l.text = l.model + (columns >= MODEL_FROM ? MODEL + 2 : 0);
	return l;
}

/* Writes the time of day, or the date if it was at least 20 h ago. */
static void when_text(const struct tui *t, uint64_t wall_ns, bool seconds,
		      char dst[16])
{
	time_t then = (time_t)(wall_ns / GK_NS_PER_S);
	struct tm tm;

	lanes_clock(wall_ns, seconds, dst);
	if (wall_of_moment(t) > wall_ns + OLD_NS && localtime_r(&then, &tm))
		strftime(dst, 16, "%b %d", &tm);
}

static struct grid_style style_of_event(const struct tui *t,
					const struct tui_alert_event *e)
{
	if (e->ended_ns)
		return lanes_ink(t, INK_DIM);
	return lanes_bold(t,
			  tui_alert_fails(e->alert.kind) ? INK_FAIL : INK_WARN);
}

static void draw_event(const struct tui *t, struct grid *g, int row,
		       const struct alerts_layout *l,
		       const struct tui_alert_event *e)
{
	const struct gk_device *d = gk_identity_find(&e->alert.gpu, t->snap);
	struct grid_style style = style_of_event(t, e);
	struct gk_lasting lasting = {tui_alert_event_lasted(e, shown_moment(t)),
				     e->alert.from_start};
	char text[160], age[GK_LASTING_MAX], model[GK_NAME_MAX];

	lanes_put(g, row, 1, style, "%s%s",
		  gk_state_glyph(tui_alert_state(e->alert.kind)),
		  e->alert.from_start ? "<" : "");
	when_text(t, e->began_ns, l->seconds, text);
	lanes_put(g, row, l->time, style, "%s", text);
	if (e->ended_ns)
		when_text(t, e->ended_ns, l->seconds, text);
	lanes_put(g, row, l->ended, style, "%s", e->ended_ns ? text : "on");
	if (l->seconds)
		lanes_cell(g, row, l->lasted, 6, true, style,
			   gk_lasting_text(age, lasting, true));
	lanes_put(g, row, l->gpu, style, "%3u", e->alert.gpu.index);
	if (d && l->text > l->model)
		lanes_put(g, row, l->model, style, "%s",
			  lanes_model(t, d, MODEL, model));
	tui_alert_what(&e->alert, text, sizeof text);
	lanes_cell(g, row, l->text, g->columns - 1 - l->text, false, style,
		   text);
}

static void draw_alerts_head(const struct tui *t, struct grid *g)
{
	size_t on = 0, all = view_alerts_count(t);
	char clock[16], past[64], text[128];
	int at = 1, end;

	for (size_t i = 0; i < all; i++)
		on += !event_at(t, i).ended_ns;
	if (g->columns >= SHORT_BELOW)
		at = lanes_put(g, 0, 1, lanes_ink(t, INK_ACCENT), "gpukit") + 2;
	lanes_clock(wall_of_moment(t), g->columns >= SHORT_BELOW, clock);
	end = g->columns - 1 - (int)strlen(clock);
	tui_time_text(t, past);
	snprintf(text, sizeof text, "alerts · %zu on · %zu ended%s%s", on,
		 all - on, *past ? " · " : "", past);
	lanes_cell(g, 0, at, end - 1 - at, false, lanes_ink(t, INK_STRONG),
		   text);
	lanes_put(g, 0, end, lanes_ink(t, INK_TEXT), "%s", clock);
}

static void draw_alerts_rule(const struct tui *t, struct grid *g, int row)
{
	char place[64];

	lanes_fill(g, row, 0, g->columns, L'─', lanes_ink(t, INK_FAINT));
	lanes_put(g, row, 1, lanes_ink(t, INK_DIM), " the newest first ");
	lanes_range_text(t->scroll, t->alert_list.rows,
			 (int)view_alerts_count(t), place, sizeof place);
	lanes_put(g, row, g->columns - 1 - lanes_width(place),
		  lanes_ink(t, INK_DIM), "%s", place);
}

static void draw_alerts_titles(const struct tui *t, struct grid *g, int row,
			       const struct alerts_layout *l)
{
	struct grid_style dim = lanes_ink(t, INK_DIM);

	lanes_put(g, row, l->time, dim, "BEGAN");
	lanes_put(g, row, l->ended, dim, "ENDED");
	if (l->seconds)
		lanes_put(g, row, l->lasted, dim, "LASTED");
	lanes_put(g, row, l->gpu, dim, "GPU");
	if (l->text > l->model)
		lanes_put(g, row, l->model, dim, "MODEL");
	lanes_put(g, row, l->text, dim, "ALERT");
}

static void draw_events(struct tui *t, struct grid *g)
{
	struct alerts_layout l = lay_out_alerts(g->columns);
	struct tui_alert_list *list = &t->alert_list;
	long selected = view_alerts_selected(t);

	if (g->rows >= TIGHT_BELOW)
		draw_alerts_titles(t, g, list->row - 1, &l);
	for (int i = 0; i < list->rows; i++) {
		size_t at = (size_t)(t->scroll + i);
		struct tui_alert_event e;

		if (at >= view_alerts_count(t))
			break;
		e = event_at(t, at);
		draw_event(t, g, list->row + i, &l, &e);
		if ((long)at == selected)
			lanes_mark_selected(t, g, list->row + i, 0,
					    g->columns - 1);
	}
	lanes_scroll_bar(t, g, list->row, list->rows,
			 (int)view_alerts_count(t));
}

int view_alerts(struct tui *t, struct grid *g)
{
	struct tui_alert_list *list = &t->alert_list;

	t->lanes.hit_count = 0;
	t->first_process_line = -1;
	list->row = g->rows >= TIGHT_BELOW ? 3 : 2;
	list->rows = g->rows - 1 - list->row;
	view_follow(t, (int)view_alerts_selected(t), 0, list->rows);
	view_limit_scroll(t, (int)view_alerts_count(t) - list->rows);
	draw_alerts_head(t, g);
	draw_alerts_rule(t, g, 1);
	if (view_alerts_count(t))
		draw_events(t, g);
	else
		lanes_cell(g, list->row, 1, g->columns - 2, false,
			   lanes_ink(t, INK_DIM), nothing);
	lanes_alerts_footer(t, g, g->rows - 1);
	return (int)view_alerts_count(t) - list->rows + t->rows;
}
