/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alert_events.c - keeps the list of events, which says when alerts began and
 * ended, and the queue of commands to run.
 */
#include "base/assert.h"
#include "tui/alerts/alert.h"

#include <stdlib.h>
#include <string.h>

/* Returns the event of a row that has not ended yet, or NULL. */
static struct tui_alert_event *open_event(struct tui_alerts *alerts, size_t row)
{
	for (size_t i = alerts->event_count; i-- > 0;) {
		struct tui_alert_event *e = &alerts->events[i];

		if (!e->ended_ns && e->row == row)
			return e;
	}
	return NULL;
}

/* Drops the oldest event that has ended or, if none has, the oldest of all. */
static void drop_event(struct tui_alerts *alerts)
{
	size_t at = 0;

	while (at < alerts->event_count && !alerts->events[at].ended_ns)
		at++;
	if (at == alerts->event_count)
		at = 0;
	alerts->event_count--;
	memmove(&alerts->events[at], &alerts->events[at + 1],
		(alerts->event_count - at) * sizeof *alerts->events);
}

/* Converts CLOCK_MONOTONIC to the wall clock as it is set now. */
static uint64_t wall_of(const struct gk_snapshot *snap, uint64_t mono_ns)
{
	uint64_t ago = snap->mono_ns - mono_ns;

	return snap->wall_ns > ago ? snap->wall_ns - ago : 0;
}

/* Inserts an event so that the list stays sorted by beginning. */
static void insert_event(struct tui_alerts *alerts,
			 const struct tui_alert_event *event)
{
	size_t at = tui_alert_events_until(alerts, event->began_mono_ns);

	memmove(&alerts->events[at + 1], &alerts->events[at],
		(alerts->event_count - at) * sizeof *alerts->events);
	alerts->events[at] = *event;
	alerts->event_count++;
}

/*
 * Begins an event. It is dated from when its condition began or its Xid
 * occurred, which may be earlier than the snapshot.
 */
static void begin_event(struct tui_alerts *alerts, size_t row,
			const struct gk_snapshot *snap)
{
	const struct tui_alert *a = &alerts->rows[row];
	uint64_t since = a->since_ns ? a->since_ns : a->came_ns;
	bool before = since && since < snap->mono_ns;
	uint64_t began = before ? since : snap->mono_ns;

	if (!alerts->events)
		alerts->events =
		    calloc(TUI_ALERT_EVENTS, sizeof *alerts->events);
	if (!alerts->events)
		return;
	if (alerts->event_count == TUI_ALERT_EVENTS)
		drop_event(alerts);
	insert_event(alerts,
		     &(struct tui_alert_event){.alert = *a,
					       .row = row,
					       .number = ++alerts->last_number,
					       .began_ns = wall_of(snap, began),
					       .began_mono_ns = began});
}

static void end_event(struct tui_alert_event *e, const struct gk_snapshot *snap)
{
	e->ended_ns = snap->wall_ns;
	e->ended_mono_ns = snap->mono_ns;
}

void tui_alerts_note_row(struct tui_alerts *alerts, size_t row,
			 const struct gk_snapshot *snap)
{
	const struct tui_alert *a = &alerts->rows[row];
	struct tui_alert_event *e;

	GK_ASSERT(row < alerts->count);
	e = alerts->event_count ? open_event(alerts, row) : NULL;
	if (e && (a->again || !a->noticed))
		end_event(e, snap);
	else if (e)
		e->alert = *a;
	if (a->again)
		begin_event(alerts, row, snap);
}

void tui_alerts_note(struct tui_alerts *alerts, const struct gk_snapshot *snap)
{
	for (size_t i = 0; i < alerts->count; i++)
		tui_alerts_note_row(alerts, i, snap);
}

size_t tui_alert_events_until(const struct tui_alerts *alerts, uint64_t at_ns)
{
	size_t count = alerts->event_count;

	while (count && alerts->events[count - 1].began_mono_ns > at_ns)
		count--;
	return count;
}

void tui_alerts_add_due(struct tui_alerts *alerts, size_t row)
{
	GK_ASSERT(row < alerts->count);
	if (alerts->due_count < TUI_ALERT_DUE)
		alerts->due[alerts->due_count++] =
		    (struct tui_alert_due){alerts->rows[row], row};
}
