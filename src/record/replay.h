/*
 * replay.h - a tape as time that passes: faster, slower, standing still, and
 * from any moment on. One thread.
 */
#ifndef GK_RECORD_REPLAY_H
#define GK_RECORD_REPLAY_H

#include "record/tape.h"

#define GK_REPLAY_SPEED_MIN 0.001
#define GK_REPLAY_SPEED_MAX 1000.0

struct gk_replay;

/*
 * Begins at the first snapshot; takes over the tape. 0 or a gk_err, then the
 * tape stays the caller's.
 */
int gk_replay_new(struct gk_tape *tape, double speed,
		  struct gk_replay **ret_replay);
void gk_replay_free(struct gk_replay *replay);

/* A descriptor that polls readable when the next snapshot is due. */
int gk_replay_fd(const struct gk_replay *replay);

/*
 * The snapshot of now, whether or not it is due; those between are left out.
 * *ret_jumped: it does not follow the one before; where that is damaged it is
 * the nearest that is not. Free it with gk_snapshot_free(). GK_ERR_CORRUPT:
 * this one is damaged; go on.
 */
int gk_replay_next(struct gk_replay *replay, bool *ret_jumped,
		   struct gk_snapshot **ret_snap);

/* The n-th snapshot before that; GK_ERR_RANGE: there is none. */
int gk_replay_before(struct gk_replay *replay, size_t n,
		     struct gk_snapshot **ret_snap);

/* Moves by so much of the recording's time, not past its ends. */
void gk_replay_seek(struct gk_replay *replay, int64_t by_ns);
void gk_replay_seek_end(struct gk_replay *replay);

/* Multiplies the speed by two to the power of by, within the limits. */
void gk_replay_faster(struct gk_replay *replay, int by);
void gk_replay_pause(struct gk_replay *replay, bool paused);

/* Whether the last snapshot is the one of now. */
bool gk_replay_ended(const struct gk_replay *replay);

/* "REPLAY x2 35 %": short, for people. */
void gk_replay_text(const struct gk_replay *replay, char *dst, size_t cap);

#endif
