/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timings_opt.c - parses the options for timings, and prints the report at the
 * end.
 */
#include "cli/timings_opt.h"
#include "base/err.h"
#include "base/fs.h"
#include "cli/cmd.h"

#include <gpukit/gpukit.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY_TIMINGS = 0x7001, KEY_SORT };

static const struct argp_option options[] = {
    {.doc = "Where the command's own time goes:", .group = 90},
    {"timings", KEY_TIMINGS, "FILE.json", OPTION_ARG_OPTIONAL,
     "At the end, print a table of phases and driver calls to stderr, or "
     "write a Chrome trace to FILE.json",
     90},
    {"timings-sort", KEY_SORT, "self|cumulative", 0,
     "Order of the table (self)", 90},
    {0},
};

static error_t parse_timings_option(int key, char *arg,
				    struct argp_state *state)
{
	struct gk_timings_opt *opt = state->input;

	switch (key) {
	case KEY_TIMINGS:
		opt->wanted = true;
		opt->file = arg;
		opt->startup_ns = gk_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		opt->began_ns = gk_mono_ns();
		gk_trace_start(arg != NULL);
		return 0;
	case KEY_SORT:
		if (strcmp(arg, "self") && strcmp(arg, "cumulative"))
			argp_error(state,
				   "--timings-sort must be self or cumulative, "
				   "not '%s'",
				   arg);
		opt->sort =
		    *arg == 's' ? GK_TIMINGS_SELF : GK_TIMINGS_CUMULATIVE;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp gk_timings_argp = {.options = options,
				     .parser = parse_timings_option};

static void add_table(struct gk_buf *out, struct gk_trace_row *rows,
		      size_t count, const struct gk_timings_opt *opt,
		      const struct gk_timings_sum *sum)
{
	gk_format_timings(out, rows, count, opt->sort);
	gk_format_timings_sum(out, sum);
}

static void add_trace(struct gk_buf *out, const struct gk_timings_sum *sum)
{
	struct gk_trace_event *events;
	size_t count = gk_trace_events(&events);

	gk_format_chrome_trace(out, events, count, (int)getpid(), sum);
	free(events);
}

static void add_timings(struct gk_buf *out, const struct gk_timings_opt *opt)
{
	struct gk_timings_sum sum = {
	    .startup_ns = opt->startup_ns,
	    .total_ns = gk_mono_ns() - opt->began_ns,
	};
	struct gk_trace_row *rows;
	size_t count = gk_trace_rows(&rows);

	gk_timings_sum(&sum, rows, count);
	if (opt->file)
		add_trace(out, &sum);
	else
		add_table(out, rows, count, opt, &sum);
	free(rows);
}

/* A device, a pipe or a link must not be replaced by a file. */
static bool is_replaceable(const char *path)
{
	struct stat st;

	return lstat(path, &st) < 0 || S_ISREG(st.st_mode);
}

static int write_file(const char *path, const struct gk_buf *text)
{
	size_t written;
	FILE *file;

	if (is_replaceable(path))
		return gk_write_atomic(path, text->data, text->len, 0644);
	file = fopen(path, "we");
	if (!file)
		return gk_err_from_errno(errno);
	written = fwrite(text->data, 1, text->len, file);
	if (fclose(file) || written < text->len)
		return gk_err_from_errno(errno);
	return 0;
}

int gk_timings_report(const struct gk_timings_opt *opt)
{
	struct gk_buf out = {0};
	int err = 0;

	if (!opt->wanted)
		return GK_EXIT_OK;
	add_timings(&out, opt);
	if (out.failed)
		err = GK_ERR_NOMEM;
	else if (opt->file)
		err = write_file(opt->file, &out);
	else
		fputs(out.data, stderr);
	gk_buf_free(&out);
	if (!err)
		return GK_EXIT_OK;
	fprintf(stderr, "gpukit: cannot write the timings%s%s: %s\n",
		opt->file ? " to " : "", opt->file ? opt->file : "",
		gk_strerror(err));
	return GK_EXIT_FAILURE;
}
