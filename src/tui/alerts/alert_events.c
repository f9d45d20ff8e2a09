/* alert_events.c - remembers which alerts began and ended, and when. */
#include "tui/alert.h"

#include <stdlib.h>
#include <string.h>

/* The event of an alert that is still on, or NULL. */
static struct tui_alert_event *open_event(struct tui_alerts *alerts, size_t row)
{
	for (size_t i = alerts->event_count; i-- > 0;) {
		struct tui_alert_event *e = &alerts->events[i];

		if (!e->ended_ns && e->row == row)
			return e;
	}
	return NULL;
}

/* The oldest makes room, of those that ended if there are any. */
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

/* The wall clock as it would have been then, as it is set now. */
static uint64_t wall_of(const struct gk_snapshot *snap, uint64_t mono_ns)
{
	uint64_t ago = snap->mono_ns - mono_ns;

	return snap->wall_ns > ago ? snap->wall_ns - ago : 0;
}

/* Behind all that began before. */
static void insert_event(struct tui_alerts *alerts,
			 const struct tui_alert_event *event)
{
	size_t at = tui_alert_events_until(alerts, event->began_mono_ns);

	memmove(&alerts->events[at + 1], &alerts->events[at],
		(alerts->event_count - at) * sizeof *alerts->events);
	alerts->events[at] = *event;
	alerts->event_count++;
}

/* What has to last to be told began before. */
static void begin_event(struct tui_alerts *alerts, size_t row,
			const struct gk_snapshot *snap)
{
	const struct tui_alert *a = &alerts->rows[row];
	bool before = a->since_ns && a->since_ns < snap->mono_ns;
	uint64_t began = before ? a->since_ns : snap->mono_ns;

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

void tui_alerts_note(struct tui_alerts *alerts, const struct gk_snapshot *snap)
{
	for (size_t i = 0; i < alerts->count; i++) {
		const struct tui_alert *a = &alerts->rows[i];
		struct tui_alert_event *e =
		    alerts->event_count ? open_event(alerts, i) : NULL;

		if (e && (a->again || !a->noticed))
			end_event(e, snap);
		else if (e)
			e->alert = *a;
		if (a->again)
			begin_event(alerts, i, snap);
	}
}

/* ---- what was, at a moment ---- */

size_t tui_alert_events_until(const struct tui_alerts *alerts, uint64_t at_ns)
{
	size_t count = alerts->event_count;

	while (count && alerts->events[count - 1].began_mono_ns > at_ns)
		count--;
	return count;
}

uint64_t tui_alert_event_lasted(const struct tui_alert_event *e, uint64_t at_ns)
{
	uint64_t end = e->ended_ns ? e->ended_mono_ns : at_ns;

	return end > e->began_mono_ns ? end - e->began_mono_ns : 0;
}

struct tui_alert_event tui_alert_event_at(const struct tui_alert_event *event,
					  uint64_t at_ns)
{
	struct tui_alert_event e = *event;
	int64_t value;

	if (e.ended_mono_ns > at_ns)
		e.ended_ns = e.ended_mono_ns = 0;
	value = tui_alert_value_after(e.alert.kind,
				      tui_alert_event_lasted(&e, at_ns));
	if (!e.ended_ns && value >= 0)
		e.alert.value = value;
	return e;
}
