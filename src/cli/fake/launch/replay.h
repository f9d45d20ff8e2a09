/*
 * replay.h - a made-up machine that does what a recording says.
 */
#ifndef GK_CLI_FAKE_REPLAY_H
#define GK_CLI_FAKE_REPLAY_H

#include "cli/fake/options.h"
#include "record/replay.h"

struct gkf_board_name;
struct gk_snapshot;

struct fake_replay {
	struct gk_tape *tape; /* until it is played */
	struct gk_snapshot *first;
};

/*
 * Opens what --replay names, and takes the driver version from it where none
 * was asked for. An exit code, told.
 */
int fake_replay_open(struct fake_options *options,
		     struct fake_replay *ret_replay);
void fake_replay_close(struct fake_replay *replay);

/* The GPUs of the first snapshot, GKF_DEVICES_MAX at most. An exit code, told.
 */
int fake_replay_profiles(const struct fake_replay *replay,
			 struct gkf_profile *ret_profiles, unsigned *ret_count);

/* Fills in the names of the boards; GKF_DEVICES_MAX of them. */
void fake_replay_names(const struct fake_replay *replay,
		       struct gkf_board_name *ret_named);

/*
 * Starts a child that plays it on the machine at path; back when the machine
 * is as in the first snapshot. An exit code, told. until_end: the launcher is
 * told by SIGTERM when it is over.
 */
int fake_replay_start(struct fake_replay *replay,
		      const struct fake_options *options, const char *path,
		      struct fake_children *ret_children);

/* The child's work, for ever; ready: told by a byte (a descriptor). */
int fake_player_run(struct gk_replay *replay, struct gkf_machine *m, int ready,
		    pid_t launcher);

#endif
