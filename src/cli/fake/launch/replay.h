/* SPDX-License-Identifier: Apache-2.0 */
/* replay.h - a made-up machine that replays a recording. */
#ifndef GK_CLI_FAKE_REPLAY_H
#define GK_CLI_FAKE_REPLAY_H

#include "cli/fake/options.h"
#include "record/replay.h"

struct gkf_board_name;
struct gk_snapshot;

struct fake_replay {
	struct gk_tape *tape; /* NULL once the player owns it */
	struct gk_snapshot *first;
};

/*
 * Opens the recording of --replay. Uses its driver version unless the user gave
 * one. Returns 0, or an exit code after a message.
 */
int fake_replay_open(struct fake_options *options,
		     struct fake_replay *ret_replay);
void fake_replay_close(struct fake_replay *replay);

/*
 * Makes profiles of the GPUs in the first snapshot, at most GKF_DEVICES_MAX.
 * Returns 0, or an exit code after a message.
 */
int fake_replay_profiles(const struct fake_replay *replay,
			 struct gkf_profile *ret_profiles, unsigned *ret_count);

/* Fills in the names of the boards, an array of GKF_DEVICES_MAX. */
void fake_replay_names(const struct fake_replay *replay,
		       struct gkf_board_name *ret_named);

/*
 * Starts a child that plays the recording on the machine at path. Returns once
 * the machine shows the first snapshot. With until_end, the launcher gets
 * SIGTERM when the recording ends. Returns 0, or an exit code after a message.
 */
int fake_replay_start(struct fake_replay *replay,
		      const struct fake_options *options, const char *path,
		      struct fake_children *ret_children);

/*
 * The child's main function. It plays until it is killed. Writes a byte to the
 * descriptor `ready` once the first snapshot is shown. Sends SIGTERM to
 * `launcher`, unless that is 0, when the recording ends.
 */
int fake_player_run(struct gk_replay *replay, struct gkf_machine *m, int ready,
		    pid_t launcher);

#endif
