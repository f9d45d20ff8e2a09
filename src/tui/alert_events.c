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

static void begin_event(struct tui_alerts *alerts, size_t row, uint64_t wall_ns)
{
	if (!alerts->events)
		alerts->events =
		    calloc(TUI_ALERT_EVENTS, sizeof *alerts->events);
	if (!alerts->events)
		return;
	if (alerts->event_count == TUI_ALERT_EVENTS)
		drop_event(alerts);
	alerts->events[alerts->event_count++] =
	    (struct tui_alert_event){.alert = alerts->rows[row],
				     .row = row,
				     .number = ++alerts->last_number,
				     .began_ns = wall_ns};
}

void tui_alerts_note(struct tui_alerts *alerts, uint64_t wall_ns)
{
	for (size_t i = 0; i < alerts->count; i++) {
		const struct tui_alert *a = &alerts->rows[i];
		struct tui_alert_event *e =
		    alerts->event_count ? open_event(alerts, i) : NULL;

		if (e && (a->again || !a->noticed))
			e->ended_ns = wall_ns;
		else if (e)
			e->alert = *a;
		if (a->again)
			begin_event(alerts, i, wall_ns);
	}
}
