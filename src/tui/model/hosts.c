/* hosts.c - takes in the frames of other machines, and shows one of them. */
#include "tui/hosts.h"

#include "base/clock.h"
#include "base/str.h"
#include "tui/term.h"
#include "tui/view.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What screens show of a host that has told nothing yet. */
static const struct gk_snapshot nothing;

/* ---- words ---- */

static void clock_text(uint64_t age, char dst[16])
{
	time_t then = (time_t)((gk_wall_ns() - age) / GK_NS_PER_S);
	struct tm tm;

	*dst = '\0';
	if (localtime_r(&then, &tm))
		strftime(dst, 16, "%H:%M:%S", &tm);
}

char *tui_host_why(const struct tui_host *host, uint64_t now,
		   char dst[TUI_HOSTS_TEXT])
{
	const struct gk_host_state *s = &host->state;
	char ago[GK_AGE_MAX], since[16], again[32] = "trying";

	*dst = '\0';
	if (!s->away_ns) {
		if (!host->snap)
			snprintf(dst, TUI_HOSTS_TEXT, "connecting");
		return dst;
	}
	if (s->again_ns > now)
		snprintf(again, sizeof again, "again in %us",
			 (unsigned)((s->again_ns - now) / GK_NS_PER_S + 1));
	clock_text(now - s->away_ns, since);
	snprintf(dst, TUI_HOSTS_TEXT, "away %s: %s · since %s, %s",
		 gk_age_text(ago, now - s->away_ns), s->why, since, again);
	return dst;
}

static const struct tui_host *shown(const struct tui *t)
{
	return &t->hosts.list[t->hosts.selected];
}

void tui_hosts_away_text(const struct tui *t, char *dst, size_t cap)
{
	const struct tui_host *host = shown(t);
	char ago[GK_AGE_MAX];

	if (host->state.away_ns)
		snprintf(dst, cap, "away %s: %s",
			 gk_age_text(ago, gk_mono_ns() - host->state.away_ns),
			 host->state.why);
}

const char *tui_hosts_waiting(const struct tui *t, char dst[TUI_HOSTS_TEXT])
{
	char why[TUI_HOSTS_TEXT];

	if (!t->options.hosts)
		return "Reading the GPUs…";
	snprintf(dst, TUI_HOSTS_TEXT, "%s: %.250s", shown(t)->state.name,
		 tui_host_why(shown(t), gk_mono_ns(), why));
	return dst;
}

/* ---- which is shown ---- */

/* What the screens read of a host. */
static void lend(struct tui *t, size_t at)
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
	if (at != t->hosts.selected) {
		tui_select(t, -1);
		t->tag_count = 0;
		t->device.gpu = (struct gk_identity){0};
		t->time = (struct tui_time){0};
		t->main.page = 0;
		tui_host_forget_past(&t->hosts.list[t->hosts.selected]);
	}
	t->hosts.selected = at;
	lend(t, at);
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

/* No command is run: it would be of another machine. Xids are told of any, for
 * nobody looks at the GPUs of all hosts. */
static void tell_alerts(const struct tui *t, struct tui_host *host,
			const struct gk_snapshot *part)
{
	struct tui_alert_rules rules = t->options.alerts;

	rules.xid = true;
	if (tui_alerts_update(&host->alerts, &rules, part))
		term_beep();
}

/* Whether the frame is shown now: it is not while the viewer stands still. */
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
	/* As it was named: what it calls itself may be "localhost". */
	gk_str_copy(host->part.host.hostname, GK_NAME_MAX, host->state.name);
	host->is_old = false;
	return true;
}

/* Nobody knows what its GPUs do now: that is stale, for as long as is said. */
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
		lend(t, at);
		tui_list_update(t);
		tui_frame(t);
	}
	return changed;
}

/* Ages and what is waited for are told by the second. */
bool tui_hosts_turn(struct tui *t)
{
	uint64_t second = gk_mono_ns() / GK_NS_PER_S;
	bool changed = second != t->hosts.told_s;

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
	size_t count = gk_hosts_count(t->options.hosts);

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
	struct gk_snapshot *last = host->snap;

	if (t->hosts.count > 1 || !last)
		return NULL;
	gk_pick_free(&host->part);
	host->part = (struct gk_snapshot){0};
	host->snap = NULL;
	t->snap = NULL;
	return last;
}
