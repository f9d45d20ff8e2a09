/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top.h - `gpukit top`: its settings from options, environment and config file.
 */
#ifndef GK_CLI_TOP_H
#define GK_CLI_TOP_H

#include "cli/output.h"
#include "cli/page.h"
#include "cli/timings_opt.h"
#include "tui/app.h"

enum top_when {
	TOP_AUTO, /* the viewer on a terminal, otherwise a report */
	TOP_ONCE,
	TOP_MONITOR,
};

struct top {
	struct tui_options viewer;
	enum top_when when;
	bool verbose;
	struct gk_timings_opt
	    timings;          /* measures where the viewer spends its time */
	bool once_by_default; /* the environment makes TOP_AUTO mean TOP_ONCE */
	enum gk_color_choice color;
	const char *replay; /* the tape to play; NULL: show a running machine */
	double speed;       /* speed of the replay */
	/* Other machines to show instead of this one; NULL-terminated. */
	char **hosts;
	size_t host_count;
	char **remote_command; /* runs gpukit on a host; NULL: ssh */
	/* Login and CA certificates for hosts named by URL. */
	const char *peer_auth, *peer_ca;
	/* Storage that viewer.pick points to. */
	struct gk_buf gpus;
	char **users;
	pid_t *pids;
};

/* Parses the command line. Exits for --help, --version and wrong options. */
void top_parse(struct top *top, int argc, char **argv);

/*
 * Reads the environment: the GPUKIT_ variables, or else nvitop's. Returns 0, or
 * GK_EXIT_USAGE after a message about one of ours. Ignores unknown words in
 * nvitop's.
 */
int top_environment(struct top *top);

/*
 * Applies the words of GPUKIT_MONITOR_MODE ("full,light"). Returns false at an
 * unknown word, after it has applied the words before that.
 */
bool top_modes(struct top *top, const char *words);

/* Parses "20,80" or "20 80": percentages from 1 to 99, in any order. */
bool top_limits(const char *text, struct gk_limits *ret_limits);

/*
 * Prints the boxed report of the requested part of a snapshot. Returns a
 * gk_exit: GK_EXIT_FAILURE, after a message, if a requested GPU does not exist.
 */
int top_report(const struct top *top, const struct gk_snapshot *snap);
/* Whether all GPUs named by -o exist. If not, prints a message. */
bool top_has_wanted(const struct top *top, const struct gk_snapshot *snap);

/*
 * Print hints on stderr. top_tell_missing() says which NVML functions the
 * driver lacks, if stderr is a terminal. top_tell_watch() says that watch(1) is
 * not needed, if watch(1) runs this command. top_tell_terminal() says that TERM
 * names no known terminal, if stdin and stdout are a terminal.
 */
void top_tell_missing(const struct gk *gk, const struct gk_snapshot *snap);
void top_tell_watch(void);
void top_tell_terminal(void);

/* A recording that is being played; top->viewer.replay points into it. */
struct top_replay {
	struct gk_replay *replay;
	struct tui_replay frames;
};

/* Opens the tape of --replay. Returns 0, or a gk_exit after a message. */
int top_replay_open(struct top *top, struct top_replay *ret_replay);
void top_replay_close(struct top_replay *replay);

/*
 * Prints the report of the last snapshot. Returns a gk_exit, after a message on
 * failure.
 */
int top_replay_report(const struct top *top, struct top_replay *replay);

/* Adds the hosts of "NAME,NAME". Returns 0, EINVAL or ENOMEM. */
int top_add_hosts(struct top *top, const char *names);

/*
 * Shows the machines of --host in the viewer, or prints their report once.
 * Returns a gk_exit.
 */
int top_show_hosts(struct top *top, bool viewer);

/*
 * Runs the viewer until the user leaves it. If gk is NULL, it shows the replay
 * or the hosts of its options.
 */
int top_view(struct top *top, struct gk *gk);

void top_free(struct top *top);

/* The options, for the manual. */
extern const struct argp top_argp;

#endif
