/* SPDX-License-Identifier: Apache-2.0 */
/* hosts_past.c - shows a past frame of the host on display. */
#include "base/clock.h"
#include "tui/model/model.h"

/*
 * Finds the kept frame nearest to a moment of the host's wall clock, for the
 * caller to free. NULL: none is near it.
 */
static struct gk_snapshot *
kept_frame(const struct tui *t, const struct tui_host *host, uint64_t wall)
{
	uint64_t period = t->options.interval_ns;
	struct gk_snapshot *snap;

	/*
	 * The frame nearest to the moment may be up to half a period later than
	 * the moment.
	 */
	if (!host->keep ||
	    host->keep->at(host->keep->data, wall + period / 2, &snap))
		return NULL;
	if (snap->wall_ns + 2 * period + 2 * GK_NS_PER_S >= wall)
		return snap;
	gk_snapshot_free(snap);
	return NULL;
}

static void find_past(struct tui *t, struct tui_host *host)
{
	struct gk_snapshot *snap = kept_frame(t, host, tui_time_wall(t));

	if (!snap)
		return;
	if (gk_pick(snap, &t->options.pick, NULL, &host->past_part)) {
		gk_snapshot_free(snap);
		return;
	}
	host->past = snap;
	gk_str_copy(host->past_part.host.hostname, GK_NAME_MAX,
		    host->state.name);
	t->time.kept = true;
}

bool tui_hosts_follow_time(struct tui *t)
{
	struct tui_hosts *h = &t->hosts;
	struct tui_host *host = &h->list[h->selected];

	/* The list of hosts always shows the present. */
	if (t->screen == SCREEN_HOSTS)
		t->time.end_ns = 0;
	if (t->time.end_ns == h->shown_ns)
		return false;
	h->shown_ns = t->time.end_ns;
	t->time.kept = false;
	tui_host_forget_past(host);
	if (tui_time_is_past(t))
		find_past(t, host);
	tui_hosts_show(t, h->selected);
	return true;
}
