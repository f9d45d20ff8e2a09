/* SPDX-License-Identifier: Apache-2.0 */
/*
 * app_frames.c - takes in new frames. Shows the newest frame, or a kept frame
 * of the past if the user has gone back in time.
 */
#include "tui/app_part.h"

#include "base/clock.h"
#include "base/trace.h"
#include "format/names.h"
#include "tui/model/before.h"
#include "tui/views/view.h"

#include <stdlib.h>
#include <string.h>

/*
 * The shortest time between two readings of costly values; a little less than
 * the default interval.
 */
#define ASK_NS (900 * GK_NS_PER_MS)

/*
 * How long after the first whole frame the driver's old samples are requested;
 * this leaves time to draw the frame.
 */
#define PAST_NS (50 * GK_NS_PER_MS)

/* ---- a frame ---- */

static void check_alerts(struct app *a, const struct gk_snapshot *snap)
{
	const struct tui_alert_rules *rules = &a->t.options.alerts;
	int error;

	/* A recording raises no alerts, because its events are long past. */
	if (a->t.options.replay)
		return;
	tui_alerts_reap();
	if (tui_alerts_update(&a->alerts, rules, snap)) {
		a->dirty = true;
		term_beep();
		if (rules->refused)
			tui_say(&a->t, "%s", rules->refused);
	}
	error = tui_alerts_run(&a->alerts, rules, snap->mono_ns);
	if (error)
		tui_say(&a->t, "%s: %s", rules->command[0], strerror(error));
}

void app_forget_frame(struct app *a)
{
	gk_pick_free(&a->part);
	gk_snapshot_free(a->snap);
	a->snap = NULL;
	a->t.snap = NULL;
}

/* Shows a frame. Takes ownership of the frame and its part. */
static void show_frame(struct app *a, struct gk_snapshot *snap,
		       const struct gk_snapshot *part)
{
	app_forget_frame(a);
	a->snap = snap;
	a->part = *part;
	a->t.snap = &a->part;
	tui_list_update(&a->t);
	tui_frame(&a->t);
	a->dirty = true;
}

void app_ask_for_more(struct app *a)
{
	int index = view_device_index(&a->t);
	uint64_t now = gk_mono_ns();

	if (index < 0 || !a->gk || (a->asked == index && now < a->ask_ns))
		return;
	gk_watch_ask(a->gk, (unsigned)index,
		     1U << GK_TIER_ASKED | 1U << GK_TIER_DETAIL);
	a->asked = index;
	a->ask_ns = now + ASK_NS;
}

static bool is_whole(const struct gk_snapshot *snap)
{
	for (size_t i = 0; i < snap->device_count; i++)
		if (gk_device_unread(&snap->devices[i]))
			return false;
	return true;
}

/*
 * Notes that every GPU has been read. The first such frame is drawn without
 * delay.
 */
static void see_whole(struct app *a, const struct gk_snapshot *snap)
{
	if (a->whole || !is_whole(snap))
		return;
	a->whole = true;
	a->due_ns = 0;
	a->past_ns = a->gk ? gk_mono_ns() + PAST_NS : 0;
}

static int next_frame(struct app *a, bool *ret_jumped,
		      struct gk_snapshot **ret_snap)
{
	const struct tui_replay *replay = a->t.options.replay;
	int r;

	*ret_jumped = false;
	if (!replay) {
		gk_read_of_processes(a->gk, tui_with(&a->t));
		return gk_watch_next(a->gk, ret_snap);
	}
	r = replay->next(replay->data, ret_jumped, ret_snap);
	if (!r && *ret_jumped)
		tui_replay_recall(&a->t, *ret_snap);
	return r;
}

/* ---- showing the past ---- */

static bool is_kept_shown(const struct app *a)
{
	return a->newest != NULL;
}

/*
 * Shows the part of a frame that options.pick selects. Takes ownership of the
 * frame.
 */
static void show_whole(struct app *a, struct gk_snapshot *snap)
{
	struct gk_snapshot part;

	if (gk_pick(snap, &a->t.options.pick, NULL, &part))
		gk_snapshot_free(snap);
	else
		show_frame(a, snap, &part);
}

static void show_newest(struct app *a)
{
	struct gk_snapshot *newest = a->newest;

	a->t.time.kept = false;
	a->newest = NULL;
	if (newest)
		show_whole(a, newest);
}

/*
 * Shows the kept frame of the chosen moment, or the newest frame if none is
 * near it.
 */
static void show_past(struct app *a)
{
	const struct tui_keep *keep = a->t.options.keep;
	uint64_t wall = tui_time_wall(&a->t);
	struct gk_snapshot *snap;

	/*
	 * The frame nearest to the moment may be up to half a period later than
	 * the moment.
	 */
	if (keep->at(keep->data, wall + a->period_ns / 2, &snap)) {
		show_newest(a);
		return;
	}
	if (snap->wall_ns + 2 * a->period_ns + 2 * GK_NS_PER_S < wall) {
		gk_snapshot_free(snap);
		show_newest(a);
		return;
	}
	if (!a->newest) {
		a->newest = a->snap;
		a->snap = NULL;
	}
	a->t.time.kept = true;
	show_whole(a, snap);
}

void app_follow_time(struct app *a)
{
	uint64_t end = a->t.time.end_ns;

	if (a->t.options.hosts)
		a->dirty |= tui_hosts_follow_time(&a->t);
	if (!a->t.options.keep || end == a->shown_ns || !a->t.time.now_ns)
		return;
	a->shown_ns = end;
	if (tui_time_is_past(&a->t))
		show_past(a);
	else
		show_newest(a);
}

static void store_frame(struct app *a, const struct gk_snapshot *snap)
{
	const struct tui_keep *keep = a->t.options.keep;

	if (!keep)
		return;
	keep->add(keep->data, snap);
	a->t.time.now_ns = snap->mono_ns;
	a->t.time.now_wall_ns = snap->wall_ns;
}

/* ---- frames ---- */

static void take_frame(struct app *a)
{
	struct gk_snapshot *snap, part;
	bool jumped;

	if (next_frame(a, &jumped, &snap))
		return;
	app_ask_for_more(a);
	if (gk_pick(snap, &a->t.options.pick, NULL, &part)) {
		gk_snapshot_free(snap);
		return;
	}
	see_whole(a, snap);
	gk_history_add(a->t.history, &part);
	if (a->gk)
		tui_before_take(a->gk, &part, a->t.history);
	check_alerts(a, &part);
	store_frame(a, snap);
	if (is_kept_shown(a)) {
		gk_pick_free(&part);
		gk_snapshot_free(a->newest);
		a->newest = snap;
		a->dirty = true;
		return;
	}
	if (!a->t.paused || jumped) {
		show_frame(a, snap, &part);
		return;
	}
	gk_pick_free(&part);
	gk_snapshot_free(snap);
}

void app_take_frames(struct app *a)
{
	struct gk_span span;

	gk_span_begin(&span, "take a frame");
	if (a->t.options.hosts)
		a->dirty |= tui_hosts_turn(&a->t);
	else
		take_frame(a);
	gk_span_end(&span);
}
