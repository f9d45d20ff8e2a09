/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.h - replays a tape in real time, faster, slower or paused, from any
 * position. Single-threaded.
 */
#ifndef GK_RECORD_REPLAY_H
#define GK_RECORD_REPLAY_H

#include "record/tape.h"

#define GK_REPLAY_SPEED_MIN 0.001
#define GK_REPLAY_SPEED_MAX 1000.0

struct gk_replay;

/*
 * Begins at the first snapshot. Returns 0 and takes ownership of the tape, or
 * returns a gk_err and leaves the tape to the caller.
 */
int gk_replay_new(struct gk_tape *tape, double speed,
		  struct gk_replay **ret_replay);
void gk_replay_free(struct gk_replay *replay);

/*
 * Returns a file descriptor that polls readable when the next snapshot is due.
 */
int gk_replay_fd(const struct gk_replay *replay);

/*
 * Returns the snapshot at the current time of the recording, whether or not it
 * is due, and skips the snapshots before it. Sets *ret_jumped if it does not
 * directly follow the previous one. After a jump, a damaged snapshot is
 * replaced by the nearest undamaged one. Free it with gk_snapshot_free().
 * Returns GK_ERR_CORRUPT if the snapshot is damaged; the next call then returns
 * the next one.
 */
int gk_replay_next(struct gk_replay *replay, bool *ret_jumped,
		   struct gk_snapshot **ret_snap);

/* Returns the n-th snapshot before the current one, or GK_ERR_RANGE. */
int gk_replay_before(struct gk_replay *replay, size_t n,
		     struct gk_snapshot **ret_snap);

/* Moves by an amount of the recording's time, but not beyond its start or
 * end. */
void gk_replay_seek(struct gk_replay *replay, int64_t by_ns);
void gk_replay_seek_end(struct gk_replay *replay);

/* Multiplies the speed by 2^by, within the limits. */
void gk_replay_faster(struct gk_replay *replay, int by);
void gk_replay_pause(struct gk_replay *replay, bool paused);

/* Whether the last snapshot is the current one. */
bool gk_replay_ended(const struct gk_replay *replay);

/* Writes a text such as "REPLAY x2 35 %". */
void gk_replay_text(const struct gk_replay *replay, char *dst, size_t cap);

#endif
