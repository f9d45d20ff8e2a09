/* SPDX-License-Identifier: Apache-2.0 */
/* alert_moment.c - computes the state of an event at a past moment. */
#include "base/assert.h"
#include "tui/alerts/alert.h"

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

	GK_ASSERT(event->began_mono_ns <= at_ns);
	if (e.ended_mono_ns > at_ns)
		e.ended_ns = e.ended_mono_ns = 0;
	value = tui_alert_value_after(e.alert.kind,
				      tui_alert_event_lasted(&e, at_ns));
	if (!e.ended_ns && value >= 0)
		e.alert.value = value;
	return e;
}
