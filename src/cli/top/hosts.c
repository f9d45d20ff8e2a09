/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hosts.c - `gpukit top --host`: shows other machines in the viewer, or reports
 * them once.
 */
#include "cli/cmd.h"
#include "cli/interrupt.h"
#include "cli/top/keep.h"
#include "cli/top/top.h"
#include "hosts/hosts.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The command for a host. BatchMode keeps ssh from asking questions, which
 * nobody could answer.
 */
static const char *const by_ssh[] = {"ssh",
				     "-T",
				     "-oBatchMode=yes",
				     "-oConnectTimeout=10",
				     "-oServerAliveInterval=5",
				     "-oServerAliveCountMax=3",
				     "{}",
				     "gpukit",
				     NULL};

/*
 * Pages of peers are read by another process of ours, so that libcurl is not
 * loaded into this one.
 */
#define FOLLOW_MOST 10
static void follow_words(const struct top *top, const char *words[FOLLOW_MOST])
{
	const char **w = words;

	*w++ = "/proc/self/exe";
	*w++ = "web";
	*w++ = "--follow";
	*w++ = "{}";
	if (top->peer_auth) {
		*w++ = "--peer-auth";
		*w++ = top->peer_auth;
	}
	if (top->peer_ca) {
		*w++ = "--peer-ca";
		*w++ = top->peer_ca;
	}
	*w = NULL;
}

static int add_host(struct top *top, const char *name, size_t len)
{
	char **more = realloc(top->hosts, (top->host_count + 1) * sizeof *more);

	if (!more)
		return ENOMEM;
	top->hosts = more;
	more[top->host_count] = strndup(name, len);
	if (!more[top->host_count])
		return ENOMEM;
	return gk_hosts_is_name(more[top->host_count++]) ? 0 : EINVAL;
}

int top_add_hosts(struct top *top, const char *names)
{
	int err = 0;

	do {
		size_t len = strcspn(names, ",");

		err = add_host(top, names, len);
		names += len;
	} while (!err && *names++ == ',');
	return err;
}

static int tell_hosts_error(int err)
{
	fprintf(stderr, "gpukit top: %s\n", gk_strerror(err));
	return GK_EXIT_FAILURE;
}

/* ---- once ---- */

static bool wait_readable(int fd)
{
	return gk_interrupt_wait(fd, POLLIN);
}

static int print_table(const struct top *top)
{
	struct gk_buf text = {0};
	enum gk_output output;
	size_t heard = 0;
	int rows, columns, err;

	gk_terminal_size(&columns, &rows);
	err = tui_hosts_table(&top->viewer, columns, gk_use_color(top->color),
			      wait_readable, &text, &heard);
	if (err) {
		gk_buf_free(&text);
		return err == GK_ERR_TIMEOUT ? GK_EXIT_FAILURE
					     : tell_hosts_error(err);
	}
	output = gk_write_out(&text, "top");
	gk_buf_free(&text);
	return output == GK_OUTPUT_FAILED || !heard ? GK_EXIT_FAILURE
						    : GK_EXIT_OK;
}

/* Prints the same report for a single other machine as for this one. */
static int report_host(const struct top *top, struct gk_hosts *hosts)
{
	struct gk_snapshot *snap = NULL;
	struct gk_host_state state = {0};
	int status;

	while (!snap && !state.away_ns) {
		if (!wait_readable(gk_hosts_fd(hosts)))
			return GK_EXIT_FAILURE;
		gk_hosts_turn(hosts);
		state = gk_hosts_state(hosts, 0);
		snap = gk_hosts_take(hosts, 0);
	}
	if (!snap) {
		fprintf(stderr, "gpukit top: %s: %s\n", state.name, state.why);
		return GK_EXIT_FAILURE;
	}
	status = top_report(top, snap);
	gk_snapshot_free(snap);
	return status;
}

/* ---- hosts in the viewer ---- */

/*
 * Runs the viewer and keeps the machines' recent frames, so that the user can
 * go back in time. If memory runs out, runs the viewer without kept frames.
 */
static int view_hosts_kept(struct top *top)
{
	size_t count = top->host_count;
	struct top_keep **keeps = calloc(count, sizeof *keeps);
	const struct tui_keep **frames = calloc(count, sizeof *frames);
	int status;

	for (size_t i = 0; keeps && frames && i < count; i++) {
		keeps[i] = top_keep_new();
		frames[i] = top_keep_frames(keeps[i]);
	}
	top->viewer.host_keeps = keeps ? frames : NULL;
	status = top_view(top, NULL);
	top->viewer.host_keeps = NULL;
	for (size_t i = 0; keeps && i < count; i++)
		top_keep_free(keeps[i]);
	free(keeps);
	free(frames);
	return status;
}

int top_show_hosts(struct top *top, bool viewer)
{
	const char *follow[FOLLOW_MOST];
	struct gk_hosts_options options = {
	    .names = (const char *const *)top->hosts,
	    .count = top->host_count,
	    .command = top->remote_command
			   ? (const char *const *)top->remote_command
			   : by_ssh,
	    .follow = follow,
	    .interval_ns = top->viewer.interval_ns,
	};
	struct gk_hosts *hosts;
	int status, err = viewer ? 0 : gk_interrupt_catch();

	follow_words(top, follow);
	if (!err)
		err = gk_hosts_new(&options, &hosts);
	if (!viewer)
		gk_interrupt_ready();
	if (err)
		return tell_hosts_error(err);
	top->viewer.hosts = hosts;
	/* Pids of other machines must not be signalled here. */
	top->viewer.readonly = true;
	if (viewer)
		status = view_hosts_kept(top);
	else if (top->host_count == 1)
		status = report_host(top, hosts);
	else
		status = print_table(top);
	gk_hosts_free(hosts);
	return status;
}
