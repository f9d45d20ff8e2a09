/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hosts.c - takes in the frames of other machines and shows one of these
 * machines.
 */
#include "tui/model/hosts.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/str.h"
#include "tui/screen/term.h"
#include "tui/views/view.h"

#include <limits.h>
#include <stdlib.h>

/* Shown for a host that has not sent a frame yet. */
static const struct gk_snapshot nothing;

/* ---- the host on display ---- */

void tui_host_forget_past(struct tui_host *host)
{
	gk_pick_free(&host->past_part);
	gk_snapshot_free(host->past);
	host->past = NULL;
	host->past_part = (struct gk_snapshot){0};
}

/* Makes the viewer show the data of a host, which remain owned by the host. */
static void lend_host(struct tui *t, size_t at)
{
	struct tui_host *host = &t->hosts.list[at];
	bool single = t->hosts.count == 1;

	t->snap = host->past   ? &host->past_part
		  : host->snap ? &host->part
		  : single     ? NULL
			       : &nothing;
	t->history = host->history;
	t->alerts = &host->alerts;
	if (host->keep && host->snap) {
		t->time.now_ns = host->part.mono_ns;
		t->time.now_wall_ns = host->part.wall_ns;
	}
	t->lanes.seen = host->seen;
	t->lanes.owners = host->owners;
	t->lanes.frame_ns = host->part.mono_ns;
}

void tui_hosts_show(struct tui *t, size_t at)
{
	GK_ASSERT(at < t->hosts.count);
	if (at != t->hosts.selected) {
		tui_select(t, -1);
		t->tag_count = 0;
		t->device.gpu = (struct gk_identity){0};
		t->time = (struct tui_time){0};
		t->main.page = 0;
		tui_host_forget_past(&t->hosts.list[t->hosts.selected]);
	}
	t->hosts.selected = at;
	lend_host(t, at);
	if (t->snap)
		tui_list_update(t);
}

/* ---- frames ---- */

static void forget_host_frame(struct tui_host *host)
{
	gk_pick_free(&host->part);
	gk_snapshot_free(host->snap);
	host->snap = NULL;
	host->part = (struct gk_snapshot){0};
}

/*
 * Updates the alerts of a host. Runs no command, since the command is meant for
 * this machine's alerts. Always reports Xids, because nobody watches the GPUs
 * of all hosts.
 */
static void tell_alerts(const struct tui *t, struct tui_host *host,
			const struct gk_snapshot *part)
{
	struct tui_alert_rules rules = t->options.alerts;

	rules.xid = true;
	rules.command = NULL;
	if (tui_alerts_update(&host->alerts, &rules, part))
		term_beep();
}

/*
 * Takes ownership of a frame. Returns whether the frame is shown: false while
 * the viewer is paused.
 */
static bool take_host_frame(struct tui *t, struct tui_host *host,
			    struct gk_snapshot *snap)
{
	struct gk_snapshot part;

	if (gk_pick(snap, &t->options.pick, NULL, &part)) {
		gk_snapshot_free(snap);
		return false;
	}
	gk_history_add(host->history, &part);
	gk_seen_take(&host->seen, &part);
	gk_owners_take(&host->owners, &part);
	tell_alerts(t, host, &part);
	if (host->keep)
		host->keep->add(host->keep->data, snap);
	if (t->paused && host->snap) {
		gk_pick_free(&part);
		gk_snapshot_free(snap);
		return false;
	}
	forget_host_frame(host);
	host->snap = snap;
	host->part = part;
	/*
	 * Uses the name given by the user, because the host's own may be
	 * "localhost".
	 */
	gk_str_copy(host->part.host.hostname, GK_NAME_MAX, host->state.name);
	host->is_old = false;
	return true;
}

/*
 * If a host has gone away, marks its GPUs as stale since its last frame.
 * Returns whether this changed anything.
 */
static bool mark_old(struct tui_host *host)
{
	if (!host->state.away_ns || !host->snap || host->is_old)
		return false;
	for (size_t i = 0; i < host->part.device_count; i++) {
		struct gk_device *d = &host->part.devices[i];

		if (d->health == GK_HEALTH_OK)
			d->health = GK_HEALTH_STALE;
		d->read_ns[GK_TIER_FAST] = host->part.mono_ns;
	}
	host->is_old = true;
	return true;
}

static bool turn_host(struct tui *t, size_t at)
{
	struct tui_host *host = &t->hosts.list[at];
	struct gk_snapshot *snap = gk_hosts_take(t->options.hosts, at);
	bool changed;

	host->state = gk_hosts_state(t->options.hosts, at);
	changed = snap && take_host_frame(t, host, snap);
	changed |= mark_old(host);
	if (changed && at == t->hosts.selected) {
		lend_host(t, at);
		tui_list_update(t);
		tui_frame(t);
	}
	return changed;
}

/* Redraws at least once a second, because ages and retry times change. */
bool tui_hosts_turn(struct tui *t)
{
	uint64_t second = gk_mono_ns() / GK_NS_PER_S;
	bool changed = second != t->hosts.told_s;

	GK_ASSERT(t->options.hosts);
	t->hosts.told_s = second;
	gk_hosts_turn(t->options.hosts);
	for (size_t i = 0; i < t->hosts.count; i++)
		changed |= turn_host(t, i);
	if (changed)
		tui_hosts_sort(t, gk_mono_ns());
	return changed;
}

/* ---- beginning and end ---- */

int tui_hosts_begin(struct tui *t)
{
	struct tui_hosts *h = &t->hosts;
	size_t count;

	GK_ASSERT(t->options.hosts);
	count = gk_hosts_count(t->options.hosts);
	h->list = calloc(count, sizeof *h->list);
	h->order = calloc(count, sizeof *h->order);
	if (!h->list || !h->order)
		return GK_ERR_NOMEM;
	h->count = count;
	for (size_t i = 0; i < count; i++) {
		h->order[i] = i;
		h->list[i].rank = INT_MAX;
		if (t->options.host_keeps)
			h->list[i].keep = t->options.host_keeps[i];
		h->list[i].history = gk_history_new(TUI_PROCESSES_REMEMBERED);
		h->list[i].state = gk_hosts_state(t->options.hosts, i);
		if (!h->list[i].history)
			return GK_ERR_NOMEM;
	}
	t->screen = count > 1 ? SCREEN_HOSTS : SCREEN_MAIN;
	tui_hosts_show(t, 0);
	return 0;
}

void tui_hosts_end(struct tui *t)
{
	for (size_t i = 0; i < t->hosts.count; i++) {
		forget_host_frame(&t->hosts.list[i]);
		tui_host_forget_past(&t->hosts.list[i]);
		tui_alerts_free(&t->hosts.list[i].alerts);
		gk_history_free(t->hosts.list[i].history);
	}
	free(t->hosts.list);
	free(t->hosts.order);
	t->hosts = (struct tui_hosts){0};
	t->history = NULL;
	t->alerts = NULL;
	t->snap = NULL;
}

struct gk_snapshot *tui_hosts_last(struct tui *t)
{
	struct tui_host *host = t->hosts.list;
	struct gk_snapshot *last;

	GK_ASSERT(t->hosts.count);
	last = host->snap;
	if (t->hosts.count > 1 || !last)
		return NULL;
	gk_pick_free(&host->part);
	host->part = (struct gk_snapshot){0};
	host->snap = NULL;
	t->snap = NULL;
	return last;
}
