/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - `gpukit stat`: reads, formats and writes frames. */
#include "base/clock.h"
#include "cli/cmd.h"
#include "cli/interrupt.h"
#include "cli/open.h"
#include "cli/screen.h"
#include "cli/stat/stat.h"
#include "core/choose/pick.h"
#include "format/boxed/boxed.h"
#include "format/csv.h"
#include "format/json.h"
#include "format/width.h"

#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct run {
	const struct gk_stat *stat;
	bool color, ascii;
	bool full_screen;
	int64_t frames;
	struct gk_buf out;
};

static void format_boxed(struct run *run, const struct gk_snapshot *snap,
			 struct gk_buf *out)
{
	struct gk_boxed_options options = {
	    .color = run->color,
	    .width = run->stat->width,
	    .processes = run->stat->text.processes,
	    .uid = getuid(),
	};
	struct passwd *entry = getpwuid(options.uid);
	int rows;

	options.user = entry ? entry->pw_name : NULL;
	if (!options.width)
		gk_terminal_size(&options.width, &rows);
	gk_format_boxed(out, snap, &options);
}

static void format_frame(struct run *run, const struct gk_snapshot *snap,
			 struct gk_buf *out)
{
	const struct gk_stat *stat = run->stat;
	struct gk_gpustat_options text = stat->text;
	unsigned json = (stat->why ? GK_JSON_WHY : 0) |
			(text.processes ? 0 : GK_JSON_NO_PROCESSES);
	unsigned csv = (run->frames ? 0 : GK_CSV_HEADER) |
		       (text.processes ? 0 : GK_CSV_NO_PROCESSES);

	text.color = run->color;
	switch (stat->format) {
	case GK_STAT_TEXT:
		gk_format_gpustat(out, snap, &text);
		return;
	case GK_STAT_BOXED:
		format_boxed(run, snap, out);
		return;
	case GK_STAT_JSON:
		gk_format_json(out, snap, json | GK_JSON_INDENT);
		return;
	case GK_STAT_JSON_LINES:
		gk_format_json(out, snap, json);
		return;
	case GK_STAT_CSV_DEVICES:
		gk_format_csv_devices(out, snap, csv);
		return;
	case GK_STAT_CSV_PROCESSES:
		gk_format_csv_processes(out, snap, csv);
		return;
	}
}

static bool is_text(const struct run *run)
{
	return run->stat->format == GK_STAT_TEXT ||
	       run->stat->format == GK_STAT_BOXED;
}

/* Formats one frame for stdout. */
static void build_output(struct run *run, const struct gk_snapshot *snap)
{
	struct gk_buf text = {0}, plain = {0};
	struct gk_buf *result = &text;

	format_frame(run, snap, &text);
	if (run->ascii && is_text(run)) {
		gk_add_ascii(&plain, text.data, text.len);
		result = &plain;
	}
	run->out.len = 0;
	if (run->full_screen)
		gk_screen_frame(&run->out, result);
	else
		gk_buf_add(&run->out, result->data, result->len);
	run->out.failed |= text.failed | plain.failed;
	gk_buf_free(&text);
	gk_buf_free(&plain);
}

static int show_picked(struct run *run, const struct gk_snapshot *snap)
{
	struct gk_pick pick = {.gpus = run->stat->ids};
	struct gk_snapshot part;
	long missing = -1;
	int err;

	if (!run->stat->ids) {
		build_output(run, snap);
		return 0;
	}
	err = gk_pick(snap, &pick, &missing, &part);
	if (err || missing >= 0)
		gk_screen_off();
	if (err)
		return fprintf(stderr, "gpukit stat: %s\n", gk_strerror(err)),
		       err;
	if (missing < 0)
		build_output(run, &part);
	else
		fprintf(
		    stderr,
		    "gpukit stat: no GPU %ld; `gpukit stat` lists the GPUs\n",
		    missing);
	gk_pick_free(&part);
	return missing < 0 ? 0 : GK_ERR_NOT_FOUND;
}

/* Shows one frame of a snapshot, and frees the snapshot. */
static enum gk_output show_stat_frame(struct run *run, struct gk_snapshot *snap)
{
	enum gk_output result = GK_OUTPUT_FAILED;
	struct gk_span span;
	int err;

	gk_span_begin(&span, "format");
	err = show_picked(run, snap);
	gk_span_end(&span);
	gk_span_begin(&span, "write");
	if (!err)
		result = gk_write_out(&run->out, "stat");
	gk_span_end(&span);
	gk_snapshot_free(snap);
	run->frames++;
	return result;
}

static int tell_stat_error(int err)
{
	gk_screen_off();
	fprintf(stderr, "gpukit stat: cannot read the GPUs: %s\n",
		gk_strerror(err));
	return GK_EXIT_FAILURE;
}

static int take_stat_snapshot(struct gk *gk, struct gk_snapshot **ret_snap)
{
	struct gk_span span;
	int err;

	gk_span_begin(&span, "snapshot");
	err = gk_snapshot_take(gk, ret_snap);
	gk_span_end(&span);
	return err;
}

static int report_once(struct run *run, struct gk *gk)
{
	struct gk_snapshot *snap;
	int err = take_stat_snapshot(gk, &snap);

	if (!err && run->stat->cpu_window_ns) {
		uint64_t until = snap->mono_ns + run->stat->cpu_window_ns;

		gk_snapshot_free(snap);
		gk_sleep_until(until);
		err = take_stat_snapshot(gk, &snap);
	}
	if (err)
		return tell_stat_error(err);
	return show_stat_frame(run, snap) == GK_OUTPUT_FAILED ? GK_EXIT_FAILURE
							      : GK_EXIT_OK;
}

static int report_again(struct run *run, struct gk *gk)
{
	const struct gk_stat *stat = run->stat;
	int fd = gk_watch_fd(gk);

	while (!stat->count || run->frames < stat->count) {
		struct gk_snapshot *snap;
		enum gk_output output;
		struct gk_span span;
		bool ready;
		int err;

		gk_span_begin(&span, "wait for the next frame");
		ready = gk_interrupt_wait(fd, POLLIN);
		gk_span_end(&span);
		if (!ready)
			return GK_EXIT_OK;
		err = gk_watch_next(gk, &snap);
		if (err == GK_ERR_TIMEOUT)
			continue;
		if (err)
			return tell_stat_error(err);
		output = show_stat_frame(run, snap);
		if (output != GK_OUTPUT_OK)
			return output == GK_OUTPUT_FAILED ? GK_EXIT_FAILURE
							  : GK_EXIT_OK;
	}
	return GK_EXIT_OK;
}

static int watch_stat(struct run *run, struct gk *gk)
{
	int err = gk_watch_start(gk, run->stat->interval_ns);
	int status;

	gk_interrupt_ready();
	if (err)
		return tell_stat_error(err);
	run->full_screen = is_text(run) && gk_screen_possible();
	if (run->full_screen)
		gk_screen_on();
	status = report_again(run, gk);
	gk_screen_off();
	return status;
}

/* Sets the metrics that the format shows. Returns false if it shows all. */
static bool shown_metrics(const struct gk_stat *stat, struct gk_metric_set *set)
{
	switch (stat->format) {
	case GK_STAT_TEXT:
		gk_gpustat_metrics(&stat->text, set);
		return true;
	case GK_STAT_BOXED:
		gk_boxed_metrics(set);
		return true;
	case GK_STAT_CSV_PROCESSES:
		/*
		 * Needed to check the memory of processes, which cannot exceed
		 * the total.
		 */
		gk_metric_set_add(set, GK_M_MEM_TOTAL);
		return true;
	case GK_STAT_JSON:
	case GK_STAT_JSON_LINES:
	case GK_STAT_CSV_DEVICES:
		break;
	}
	return false;
}

/*
 * Requests only the values that the format shows. options.only points to `set`.
 */
static struct gk_options machine_options(const struct gk_stat *stat,
					 struct gk_metric_set *set)
{
	const struct gk_gpustat_options *text = &stat->text;
	struct gk_options options = stat->machine;
	bool plain = stat->format == GK_STAT_TEXT;

	if (shown_metrics(stat, set))
		options.only = set;
	if (plain)
		options.with |= GK_WITHOUT_BOARD | GK_WITHOUT_HOST;
	if (plain || stat->format == GK_STAT_CSV_DEVICES)
		options.with |= GK_WITHOUT_PROCESS_UTIL;
	if (stat->format == GK_STAT_CSV_DEVICES ||
	    (plain && !text->show_cmd && !text->show_full_cmd))
		options.with |= GK_WITHOUT_COMMANDS;
	if (!text->processes)
		options.with |= GK_WITHOUT_PROCESSES;
	/* Events are counted from the moment the machine is opened. */
	if (stat->interval_ns && options.with & GK_WITH_DETAIL)
		options.with |= GK_WITH_EVENTS;
	/*
	 * A remote viewer reads this format, and its filter needs these values.
	 */
	if (stat->format == GK_STAT_JSON_LINES)
		options.with |= GK_WITH_EVENTS | GK_WITH_CWD | GK_WITH_RANK;
	return options;
}

int gk_stat_run(const struct gk_stat *stat)
{
	struct gk_metric_set set = {0};
	struct gk_options options = machine_options(stat, &set);
	struct run run = {
	    .stat = stat,
	    .color = gk_use_color(stat->color),
	    .ascii = stat->ascii || gk_use_ascii(),
	};
	struct gk_span span;
	struct gk *gk;
	int status, timings;

	signal(SIGPIPE, SIG_IGN);
	if (stat->interval_ns && gk_interrupt_catch())
		return tell_stat_error(GK_ERR_IO);
	gk_span_begin(&span, "open");
	status = gk_cli_open("stat", &options, &gk);
	gk_span_end(&span);
	if (status)
		return status;
	status =
	    stat->interval_ns ? watch_stat(&run, gk) : report_once(&run, gk);
	gk_buf_free(&run.out);
	timings = gk_timings_report(&stat->timings);
	return gk_cli_close(gk, status ? status : timings);
}
