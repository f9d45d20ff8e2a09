/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c - replays a recording in real time. */
#include "record/replay.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* The shortest time between two snapshots: screens do not show more. */
#define LEAST_NS (GK_NS_PER_S / 60)

struct gk_replay {
	struct gk_tape *tape;
	int timer;
	double speed;
	bool paused, jumped;
	size_t at;
	/* The recording's time is wall_ns when CLOCK_MONOTONIC is real_ns. */
	uint64_t real_ns, wall_ns;
	uint64_t mono_ns; /* time of the previous snapshot */
};

/* ---- the recording's time ---- */

static uint64_t now_of_replay(const struct gk_replay *r)
{
	uint64_t passed = gk_mono_ns() - r->real_ns;

	if (r->paused)
		return r->wall_ns;
	return r->wall_ns + (uint64_t)((double)passed * r->speed);
}

static void set_timer(struct gk_replay *r, uint64_t delay_ns)
{
	struct itimerspec spec = {.it_value = gk_timespec(delay_ns)};

	timerfd_settime(r->timer, 0, &spec, NULL);
}

/* Sets the recording's current time to wall_ns. */
static void rebase_clock(struct gk_replay *r, uint64_t wall_ns)
{
	r->wall_ns = wall_ns;
	r->real_ns = gk_mono_ns();
}

static void await_next(struct gk_replay *r)
{
	uint64_t due = gk_tape_time(r->tape, r->at + 1), t = now_of_replay(r);
	double delay = due > t ? (double)(due - t) / r->speed : 0;

	if (r->paused || gk_replay_ended(r))
		set_timer(r, 0);
	else if (delay < (double)LEAST_NS)
		set_timer(r, LEAST_NS);
	else
		set_timer(r, (uint64_t)delay);
}

/* ---- snapshots ---- */

static void move_on(struct gk_replay *r)
{
	uint64_t t = now_of_replay(r);

	if (r->jumped) {
		r->at = gk_tape_find(r->tape, t);
		return;
	}
	while (r->at + 1 < gk_tape_count(r->tape) &&
	       gk_tape_time(r->tape, r->at + 1) <= t)
		r->at++;
}

/*
 * Reads the current snapshot. If it is damaged, reads the nearest undamaged one
 * instead.
 */
static int read_near(struct gk_replay *r, struct gk_snapshot **ret_snap)
{
	size_t count = gk_tape_count(r->tape), at = r->at;
	int err = gk_tape_read(r->tape, at, ret_snap);

	while (err == GK_ERR_CORRUPT && ++at < count)
		err = gk_tape_read(r->tape, at, ret_snap);
	if (err == GK_ERR_CORRUPT)
		for (at = r->at; err == GK_ERR_CORRUPT && at--;)
			err = gk_tape_read(r->tape, at, ret_snap);
	if (!err)
		r->at = at;
	return err;
}

int gk_replay_next(struct gk_replay *r, bool *ret_jumped,
		   struct gk_snapshot **ret_snap)
{
	struct gk_snapshot *snap;
	uint64_t expired;
	bool jumped;
	int err;

	(void)!read(r->timer, &expired, sizeof expired);
	move_on(r);
	jumped = r->jumped;
	r->jumped = false;
	err =
	    jumped ? read_near(r, &snap) : gk_tape_read(r->tape, r->at, &snap);
	await_next(r);
	if (err)
		return err;
	*ret_jumped = jumped || snap->mono_ns < r->mono_ns;
	r->mono_ns = snap->mono_ns;
	*ret_snap = snap;
	return 0;
}

int gk_replay_before(struct gk_replay *r, size_t n,
		     struct gk_snapshot **ret_snap)
{
	GK_ASSERT(n);
	return n > r->at ? GK_ERR_RANGE
			 : gk_tape_read(r->tape, r->at - n, ret_snap);
}

/* ---- controls ---- */

void gk_replay_seek(struct gk_replay *r, int64_t by_ns)
{
	uint64_t first = gk_tape_time(r->tape, 0), t = now_of_replay(r);
	uint64_t last = gk_tape_time(r->tape, gk_tape_count(r->tape) - 1);

	if (t > last)
		t = last;
	if (by_ns < 0)
		t = t - first > (uint64_t)-by_ns ? t - (uint64_t)-by_ns : first;
	else
		t = t + (uint64_t)by_ns < last ? t + (uint64_t)by_ns : last;
	rebase_clock(r, t);
	r->jumped = true;
	set_timer(r, 1);
}

void gk_replay_seek_end(struct gk_replay *r)
{
	gk_replay_seek(r, INT64_MAX / 2);
}

void gk_replay_faster(struct gk_replay *r, int by)
{
	double speed = r->speed;

	for (; by > 0; by--)
		speed *= 2;
	for (; by < 0; by++)
		speed /= 2;
	if (speed < GK_REPLAY_SPEED_MIN || speed > GK_REPLAY_SPEED_MAX)
		return;
	rebase_clock(r, now_of_replay(r));
	r->speed = speed;
	await_next(r);
}

void gk_replay_pause(struct gk_replay *r, bool paused)
{
	if (r->paused == paused)
		return;
	rebase_clock(r, now_of_replay(r));
	r->paused = paused;
	if (!r->jumped)
		await_next(r);
}

bool gk_replay_ended(const struct gk_replay *r)
{
	return r->at + 1 >= gk_tape_count(r->tape);
}

int gk_replay_fd(const struct gk_replay *r)
{
	return r->timer;
}

void gk_replay_text(const struct gk_replay *r, char *dst, size_t cap)
{
	size_t count = gk_tape_count(r->tape);

	snprintf(dst, cap, "REPLAY x%g %zu %%", r->speed,
		 count > 1 ? 100 * r->at / (count - 1) : 100);
}

/* ---- creating and freeing ---- */

int gk_replay_new(struct gk_tape *tape, double speed,
		  struct gk_replay **ret_replay)
{
	struct gk_replay *r = calloc(1, sizeof *r);

	GK_ASSERT(speed >= GK_REPLAY_SPEED_MIN && speed <= GK_REPLAY_SPEED_MAX);
	if (!r)
		return GK_ERR_NOMEM;
	r->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (r->timer < 0) {
		free(r);
		return gk_err_from_errno(errno);
	}
	r->tape = tape;
	r->speed = speed;
	r->jumped = true;
	rebase_clock(r, gk_tape_time(tape, 0));
	set_timer(r, 1);
	*ret_replay = r;
	return 0;
}

void gk_replay_free(struct gk_replay *r)
{
	if (!r)
		return;
	gk_tape_close(r->tape);
	close(r->timer);
	free(r);
}
