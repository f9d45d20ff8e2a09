/* top.c - `gpukit top`: the viewer where there is a terminal, else a report. */
#include "cli/top/keep.h"
#include "cli/top/top.h"
#include "base/clock.h"
#include "cli/cmd.h"
#include "cli/open.h"
#include "tui/config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tell_top_error(const char *what, int err)
{
	fprintf(stderr, "gpukit top: %s: %s\n", what, gk_strerror(err));
	return GK_EXIT_FAILURE;
}

static int print_once(const struct top *top, struct gk *gk)
{
	struct gk_snapshot *snap;
	int status, err = gk_snapshot_take(gk, &snap);

	if (err)
		return tell_top_error("cannot read the GPUs", err);
	status = top_report(top, snap);
	gk_snapshot_free(snap);
	return status;
}

/* A GPU that is not there is told at once, and not by an empty screen. */
static bool has_wanted_gpus(const struct top *top, struct gk *gk)
{
	struct gk_snapshot *snap;
	bool has;

	if (!top->viewer.pick.gpus || gk_snapshot_take(gk, &snap))
		return true; /* what cannot be read, the viewer tells */
	has = top_has_wanted(top, snap);
	gk_snapshot_free(snap);
	return has;
}

/*
 * The last screen stays on the normal screen, unless a signal ended the viewer.
 */
int top_view(struct top *top, struct gk *gk)
{
	struct gk_snapshot *last = NULL;
	int ended_by = 0, status = GK_EXIT_OK, err;

	if (gk && !has_wanted_gpus(top, gk))
		return GK_EXIT_FAILURE;
	err = tui_run(gk, &top->viewer, &ended_by, &last);
	if (err) {
		status = tell_top_error("the viewer cannot run", err);
	} else if (ended_by) {
		status = 128 + ended_by;
	} else if (last) {
		status = top_report(top, last);
		if (gk && top->verbose)
			top_tell_missing(gk, last);
	}
	gk_snapshot_free(last);
	return status;
}

static bool wants_report(const struct top *top)
{
	return top->when == TOP_ONCE ||
	       (top->when == TOP_AUTO && top->once_by_default);
}

static bool wants_viewer(const struct top *top)
{
	return !wants_report(top) && term_usable();
}

/* A machine's past is kept while it is watched. */
static int view_kept(struct top *top, struct gk *gk)
{
	struct top_keep *keep = top_keep_new();
	int status;

	top->viewer.keep = top_keep_frames(keep);
	status = top_view(top, gk);
	top->viewer.keep = NULL;
	top_keep_free(keep);
	return status;
}

static int run_with(struct top *top, struct gk *gk)
{
	int status;

	if (wants_viewer(top))
		return view_kept(top, gk);
	status = print_once(top, gk);
	top_tell_watch();
	if (top->when == TOP_AUTO && !wants_report(top))
		top_tell_terminal();
	if (top->when != TOP_MONITOR)
		return status;
	fputs("gpukit top: -m wants stdin and stdout to be a terminal that "
	      "can place its cursor; this was one report\n",
	      stderr);
	return GK_EXIT_FAILURE;
}

static int play_tape(struct top *top)
{
	struct top_replay replay;
	int status = top_replay_open(top, &replay);

	if (status)
		return status;
	status = wants_viewer(top) ? top_view(top, NULL)
				   : top_replay_report(top, &replay);
	top_replay_close(&replay);
	return status;
}

/* The later one wins: config file, environment, command line. */
static int configure(struct top *top, int argc, char **argv)
{
	char message[1024] = "";
	int err = tui_config_load(&top->viewer, message, sizeof message);
	int status = GK_EXIT_OK;

	if (!err)
		status = top_environment(top);
	top_parse(top, argc, argv); /* --help comes before all errors */
	if (!err && top->viewer.alerts.refused)
		fprintf(stderr, "gpukit top: %s\n", top->viewer.alerts.refused);
	if (!err)
		return status;
	fprintf(stderr, "gpukit top: %s\n", message);
	return GK_EXIT_FAILURE;
}

/* Sets by the environment what no option has set. The console of Linux has no
 * braille. */
static void take_environment(struct top *top)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	struct tui_options *o = &top->viewer;

	o->pick.visible = getenv("CUDA_VISIBLE_DEVICES");
	o->pick.order = gk_cuda_order(getenv("CUDA_DEVICE_ORDER"));
	if (gk_use_ascii())
		o->term.ascii = true;
	if (term && !strcmp(term, "linux") && o->graph == GRAPH_BRAILLE)
		o->graph = GRAPH_ASCII;
	if (no_color && *no_color && top->color != GK_COLOR_ALWAYS)
		o->term.theme = TUI_MONO;
}

static int run_top(int argc, char **argv)
{
	struct top top = {.viewer = TUI_OPTIONS_DEFAULT, .speed = 1};
	struct gk_options machine = GK_OPTIONS_DEFAULT;
	struct gk *gk;
	int status = configure(&top, argc, argv);

	take_environment(&top);
	signal(SIGPIPE, SIG_IGN);
	if (!status && (top.replay || top.host_count)) {
		status = top.replay ? play_tape(&top)
				    : top_show_hosts(&top, wants_viewer(&top));
		top_free(&top);
		return status;
	}
	/* The screen of a GPU tells of the Xids since the viewer started. */
	if (!status && wants_viewer(&top))
		machine.with |= GK_WITH_EVENTS | GK_WITH_TOPOLOGY;
	if (!status)
		status = gk_cli_open("top", &machine, &gk);
	if (!status)
		status = gk_cli_close(gk, run_with(&top, gk));
	top_free(&top);
	return status;
}

const struct gk_cmd gk_cmd_top = {
    .name = "top",
    .summary = "shows GPUs and their processes, live",
    .run = run_top,
};
