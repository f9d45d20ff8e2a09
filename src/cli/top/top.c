/* SPDX-License-Identifier: Apache-2.0 */
/* top.c - `gpukit top`: the viewer on a terminal, otherwise a report. */
#include "cli/top/keep.h"
#include "cli/top/top.h"
#include "base/clock.h"
#include "cli/cmd.h"
#include "cli/open.h"
#include "tui/settings/config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int print_once(const struct top *top, struct gk *gk)
{
	struct gk_snapshot *snap;
	int status, err = gk_snapshot_take(gk, &snap);

	if (err) {
		fprintf(stderr, "gpukit top: cannot read the GPUs: %s\n",
			gk_strerror(err));
		return GK_EXIT_FAILURE;
	}
	status = top_report(top, snap);
	gk_snapshot_free(snap);
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

/* Runs the viewer for a machine, and keeps recent frames while it runs. */
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
	fputs("gpukit top: -m needs a terminal with cursor movement as stdin "
	      "and stdout; this was one report\n",
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

/*
 * Later sources override earlier ones: the config file, the environment, the
 * command line.
 */
static int configure_top(struct top *top, int argc, char **argv)
{
	char message[1024] = "";
	int err = tui_config_load(&top->viewer, message, sizeof message);
	int status = GK_EXIT_OK;

	if (!err)
		status = top_environment(top);
	top_parse(top, argc, argv); /* --help takes precedence over errors */
	if (!err && top->viewer.alerts.refused)
		fprintf(stderr, "gpukit top: %s\n", top->viewer.alerts.refused);
	if (!err)
		return status;
	fprintf(stderr, "gpukit top: %s\n", message);
	return GK_EXIT_FAILURE;
}

/*
 * Derives from the environment the settings that no option has set. The Linux
 * console cannot show braille.
 */
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

/* Prints the timings and returns the command's status. */
static int end_top(struct top *top, int status)
{
	int timings = gk_timings_report(&top->timings);

	return status ? status : timings;
}

static int run_top(int argc, char **argv)
{
	struct top top = {.viewer = TUI_OPTIONS_DEFAULT, .speed = 1};
	struct gk_options machine = GK_OPTIONS_DEFAULT;
	struct gk *gk;
	int status = configure_top(&top, argc, argv);

	take_environment(&top);
	signal(SIGPIPE, SIG_IGN);
	if (!status && (top.replay || top.host_count)) {
		status = top.replay ? play_tape(&top)
				    : top_show_hosts(&top, wants_viewer(&top));
		status = end_top(&top, status);
		top_free(&top);
		return status;
	}
	/*
	 * Reads events, because the GPU screen lists the Xids since the viewer
	 * started.
	 */
	if (!status && wants_viewer(&top))
		machine.with |= GK_WITH_EVENTS | GK_WITH_TOPOLOGY;
	if (!status)
		status = gk_cli_open("top", &machine, &gk);
	if (!status)
		status = gk_cli_close(gk, end_top(&top, run_with(&top, gk)));
	top_free(&top);
	return status;
}

const struct gk_cmd gk_cmd_top = {
    .name = "top",
    .summary = "shows GPUs and their processes, live",
    .run = run_top,
};
