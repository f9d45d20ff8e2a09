/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time.c - moves the graphs back in time, and describes the moment that they
 * show.
 */
#include "tui/model/time.h"

#include "base/clock.h"
#include "format/units.h"
#include "tui/model/model.h"

#include <stdio.h>
#include <string.h>

#define TEXT_MAX  64
#define MOVE_DOTS 30

static const unsigned steps_s[] = {1, 2, 5, 10, 30, 60, 120, 300, 600};

#define STEPS ((int)(sizeof steps_s / sizeof *steps_s))

uint64_t tui_time_step(const struct tui *t)
{
	return t->time.step_ns ? t->time.step_ns : GK_NS_PER_S;
}

static uint64_t now_of_view(const struct tui *t)
{
	if (t->time.now_ns)
		return t->time.now_ns;
	return t->snap ? t->snap->mono_ns : 0;
}

static uint64_t now_wall(const struct tui *t)
{
	if (t->time.now_ns)
		return t->time.now_wall_ns;
	return t->snap ? t->snap->wall_ns : 0;
}

/*
 * The span includes the current second, which has not ended but has the newest
 * values.
 */
struct gk_history_span tui_time_span(const struct tui *t, int columns)
{
	return (struct gk_history_span){
	    .end_ns =
		t->time.end_ns ? t->time.end_ns : now_of_view(t) + GK_NS_PER_S,
	    .step_ns = tui_time_step(t),
	    .count = columns > 0 ? (unsigned)columns * 2 : 0,
	};
}

/* Returns the end of the step that contains a moment. */
static uint64_t step_end(const struct tui *t, uint64_t moment_ns)
{
	uint64_t step = tui_time_step(t);

	return (moment_ns / step + 1) * step;
}

uint64_t tui_time_mark(const struct tui *t)
{
	return tui_time_is_past(t) ? step_end(t, t->time.end_ns) : 0;
}

struct gk_history_span tui_time_around(const struct tui *t, unsigned count)
{
	struct gk_history_span span = {.end_ns = step_end(t, now_of_view(t)),
				       .step_ns = tui_time_step(t),
				       .count = count};
	uint64_t mark = tui_time_mark(t);
	uint64_t latest = mark + count / 4 * span.step_ns;

	if (mark && latest < span.end_ns)
		span.end_ns = latest;
	return span;
}

/*
 * Returns the time of the frame in the last second of the step. Frames arrive
 * at a fixed offset within the second, and values have the times of their
 * frames.
 */
uint64_t tui_time_wall_of(const struct tui *t, uint64_t end_ns)
{
	uint64_t now = now_of_view(t), wall = now_wall(t);
	uint64_t then = end_ns - GK_NS_PER_S + now % GK_NS_PER_S;
	uint64_t ago = now > then ? now - then : 0;

	return wall > ago ? wall - ago : 0;
}

void tui_time_move(struct tui *t, int by)
{
	uint64_t end = t->time.end_ns ? t->time.end_ns : now_of_view(t);
	uint64_t begin = gk_history_begin(t->history);
	uint64_t jump = MOVE_DOTS * tui_time_step(t);
	const struct tui_replay *replay = t->options.replay;

	if (replay) {
		replay->seek(replay->data,
			     by > 0 ? (int64_t)jump : -(int64_t)jump);
		return;
	}
	if (by > 0) {
		t->time.end_ns = end + jump < now_of_view(t) ? end + jump : 0;
		return;
	}
	if (end <= begin + jump) {
		tui_say(t, "There is no earlier history.");
		return;
	}
	t->time.end_ns = end - jump;
}

void tui_time_now(struct tui *t)
{
	const struct tui_replay *replay = t->options.replay;

	t->time.end_ns = t->time.step_ns = 0;
	if (replay)
		replay->seek_end(replay->data);
}

bool tui_time_is_past(const struct tui *t)
{
	return t->time.end_ns && t->time.end_ns < now_of_view(t);
}

uint64_t tui_time_wall(const struct tui *t)
{
	uint64_t ago =
	    tui_time_is_past(t) ? now_of_view(t) - t->time.end_ns : 0;
	uint64_t wall = now_wall(t);

	return wall > ago ? wall - ago : 0;
}

void tui_time_faster(struct tui *t, int by)
{
	const struct tui_replay *replay = t->options.replay;

	if (replay)
		replay->faster(replay->data, by);
	else
		tui_say(t, "Only a recording can be played faster or slower.");
}

void tui_time_zoom(struct tui *t, int by)
{
	int i = 0;

	while (i < STEPS - 1 && steps_s[i] * GK_NS_PER_S < tui_time_step(t))
		i++;
	i += by;
	if (i < 0 || i >= STEPS)
		return;
	t->time.step_ns = steps_s[i] * GK_NS_PER_S;
}

static void add_time_text(char *dst, const char *text)
{
	size_t len = strlen(dst);

	snprintf(dst + len, TEXT_MAX - len, "%s%s", len ? ", " : "", text);
}

void tui_time_text(const struct tui *t, char *dst)
{
	char text[TEXT_MAX], time[GK_UNITS_MAX];

	*dst = '\0';
	if (t->options.replay)
		t->options.replay->text(t->options.replay->data, dst, TEXT_MAX);
	if (t->options.hosts)
		tui_hosts_away_text(t, dst, TEXT_MAX);
	if (t->paused)
		add_time_text(dst, "PAUSED");
	if (tui_time_is_past(t)) {
		gk_human_time(time, (int64_t)(now_of_view(t) - t->time.end_ns),
			      4);
		snprintf(text, sizeof text, "%s ago", time);
		add_time_text(dst, text);
	}
	if (tui_time_step(t) > GK_NS_PER_S) {
		snprintf(text, sizeof text, "%u s a dot",
			 (unsigned)(tui_time_step(t) / GK_NS_PER_S));
		add_time_text(dst, text);
	}
}
