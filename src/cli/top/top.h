/*
 * top.h - `gpukit top`: what its options, its environment and its config file
 * chose.
 */
#ifndef GK_CLI_TOP_H
#define GK_CLI_TOP_H

#include "cli/output.h"
#include "tui/app.h"

enum top_when {
	TOP_AUTO, /* the viewer on a terminal, else a report */
	TOP_ONCE,
	TOP_MONITOR,
};

struct top {
	struct tui_options viewer;
	enum top_when when;
	bool verbose;
	bool once_by_default; /* of the environment: TOP_AUTO is TOP_ONCE */
	enum gk_color_choice color;
	const char *replay; /* a tape to play; NULL: the machine is shown */
	double speed;       /* of it */
	/* Other machines to show; NULL-terminated, count 0: this one. */
	char **hosts;
	size_t host_count;
	char **remote_command; /* how gpukit starts there; NULL: by ssh */
	const char *peer_auth, *peer_ca; /* files for hosts that are URLs */
	/* The storage that viewer.pick points to. */
	struct gk_buf gpus;
	char **users;
	pid_t *pids;
};

/*
 * Reads the command line. Ends the command for --help, --version and a wrong
 * option.
 */
void top_parse(struct top *top, int argc, char **argv);

/*
 * Reads the environment: GPUKIT_ variables, else those of nvitop. 0, or
 * GK_EXIT_USAGE after a message about one of ours; words in nvitop's that mean
 * nothing are passed over.
 */
int top_environment(struct top *top);

/*
 * Applies words of GPUKIT_MONITOR_MODE ("full,light"); false at one that means
 * nothing, with those before it applied.
 */
bool top_modes(struct top *top, const char *words);

/* "20,80" or "20 80": percents from 1 to 99, the smaller one first or not. */
bool top_limits(const char *text, struct gk_limits *ret_limits);

/*
 * Prints the report in boxes of the part of a snapshot that is asked for. A
 * gk_exit: 1, after a message, when a GPU that was asked for is not there.
 */
int top_report(const struct top *top, const struct gk_snapshot *snap);
/* Whether the GPUs of -o are all there; else it tells which one is not. */
bool top_has_wanted(const struct top *top, const struct gk_snapshot *snap);

/*
 * Hints on stderr: which NVML functions the driver lacks, where stderr is a
 * terminal; that watch(1) is not needed, where it runs this command; and that
 * TERM names no terminal, where stdin and stdout are one.
 */
void top_tell_missing(const struct gk *gk, const struct gk_snapshot *snap);
void top_tell_watch(void);
void top_tell_terminal(void);

/* A recording that is played; it is what top->viewer.replay shows. */
struct top_replay {
	struct gk_replay *replay;
	struct tui_replay frames;
};

/* Opens the tape of --replay. 0, or a gk_exit after a message. */
int top_replay_open(struct top *top, struct top_replay *ret_replay);
void top_replay_close(struct top_replay *replay);

/* Reports the last snapshot; a gk_exit, after a message on failure. */
int top_replay_report(const struct top *top, struct top_replay *replay);

/* Adds the hosts of "NAME,NAME"; 0, or EINVAL, ENOMEM. */
int top_add_hosts(struct top *top, const char *names);

/* Shows, or reports once, the machines of --host. A gk_exit. */
int top_show_hosts(struct top *top, bool viewer);

/* The viewer until it is left; gk NULL: what its options say. */
int top_view(struct top *top, struct gk *gk);

void top_free(struct top *top);

#endif
