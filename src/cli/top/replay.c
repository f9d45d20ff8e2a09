/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c - `gpukit top --replay`: plays a tape as frames of the viewer. */
#include "cli/cmd.h"
#include "cli/top/top.h"
#include "record/replay.h"

#include <stdio.h>
#include <string.h>

static int tell_replay_error(const char *path, int err)
{
	fprintf(stderr, "gpukit top: --replay %s: %s\n", path,
		gk_tape_strerror(err));
	return GK_EXIT_FAILURE;
}

/* ---- the viewer's calls ---- */

static int step_forward(void *data, bool *ret_jumped,
			struct gk_snapshot **ret_snap)
{
	return gk_replay_next(data, ret_jumped, ret_snap);
}

static int frame_before(void *data, size_t n, struct gk_snapshot **ret_snap)
{
	return gk_replay_before(data, n, ret_snap);
}

static void seek_by(void *data, int64_t by_ns)
{
	gk_replay_seek(data, by_ns);
}

static void seek_end(void *data)
{
	gk_replay_seek_end(data);
}

static void change_speed(void *data, int by)
{
	gk_replay_faster(data, by);
}

static void pause_replay(void *data, bool paused)
{
	gk_replay_pause(data, paused);
}

static void tell_replay_position(void *data, char *dst, size_t cap)
{
	gk_replay_text(data, dst, cap);
}

/* ---- start, end, report ---- */

int top_replay_open(struct top *top, struct top_replay *ret_replay)
{
	struct gk_tape *tape;
	struct gk_replay *replay;
	int err = gk_tape_open(top->replay, &tape);

	if (err)
		return tell_replay_error(top->replay, err);
	if (gk_tape_damaged(tape))
		fprintf(stderr,
			"gpukit top: --replay %s: %llu damaged bytes skipped\n",
			top->replay, (unsigned long long)gk_tape_damaged(tape));
	err = gk_replay_new(tape, top->speed, &replay);
	if (err) {
		gk_tape_close(tape);
		return tell_replay_error(top->replay, err);
	}
	*ret_replay = (struct top_replay){
	    .replay = replay,
	    .frames = {.data = replay,
		       .fd = gk_replay_fd(replay),
		       .next = step_forward,
		       .before = frame_before,
		       .seek = seek_by,
		       .seek_end = seek_end,
		       .faster = change_speed,
		       .pause = pause_replay,
		       .text = tell_replay_position},
	};
	top->viewer.replay = &ret_replay->frames;
	/* Does not signal processes: their pids may belong to others by now. */
	top->viewer.readonly = true;
	return GK_EXIT_OK;
}

void top_replay_close(struct top_replay *replay)
{
	gk_replay_free(replay->replay);
}

int top_replay_report(const struct top *top, struct top_replay *replay)
{
	struct gk_snapshot *snap;
	bool jumped;
	int status, err;

	gk_replay_seek_end(replay->replay);
	err = gk_replay_next(replay->replay, &jumped, &snap);
	if (err)
		return tell_replay_error(top->replay, err);
	status = top_report(top, snap);
	gk_snapshot_free(snap);
	return status;
}
