/* SPDX-License-Identifier: Apache-2.0 */
/* read.c - reads recordings: files of rows, tapes, or both. */
#include "cli/plot/read.h"

#include "base/err.h"
#include "cli/plot/tape.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int plot_failure(const char *what, const char *name, int err)
{
	fprintf(stderr, "gpukit plot: %s '%s': %s\n", what, name,
		gk_strerror(err));
	return err;
}

/* Reads the rows after the header. Counts damaged rows in *broken. */
static int read_rows(struct gk_csv *csv, struct gk_plot_sheet *sheet,
		     struct gk_plot_chart *chart, uint64_t *broken)
{
	struct gk_plot_row row;
	struct gk_csv_row raw;
	int r;

	chart->file->processes = sheet->pid >= 0;
	while ((r = gk_csv_next(csv, &raw)) != GK_ERR_NOT_FOUND) {
		if (!r && raw.count > (size_t)sheet->time &&
		    raw.fields[sheet->time].len == sizeof "timestamp" - 1 &&
		    gk_plot_header(&raw, &chart->asked, sheet))
			/* Another header, written when rows were appended. */
			continue;
		if (!r)
			r = gk_plot_read(sheet, &raw, &row);
		if (!r)
			r = gk_plot_chart_add(chart, &row);
		if (r == GK_ERR_CORRUPT)
			++*broken;
		else if (r)
			return r;
	}
	return gk_plot_chart_end(chart);
}

static int read_csv(const char *name, int fd, struct gk_plot_chart *chart,
		    uint64_t *broken)
{
	struct gk_plot_sheet sheet;
	struct gk_csv_row raw;
	struct gk_csv *csv;
	int r = gk_csv_open(fd, &csv);

	if (r)
		return plot_failure("cannot read", name, r);
	r = gk_csv_next(csv, &raw);
	if (r && r != GK_ERR_NOT_FOUND && r != GK_ERR_CORRUPT) {
		plot_failure("cannot read", name, r);
	} else if (r || !gk_plot_header(&raw, &chart->asked, &sheet)) {
		fprintf(stderr,
			"gpukit plot: '%s' is not a recording: its first line "
			"has no columns of `gpukit record`\n",
			name);
		r = GK_ERR_CORRUPT;
	} else {
		r = read_rows(csv, &sheet, chart, broken);
		if (r)
			plot_failure("cannot read", name, r);
	}
	gk_csv_close(csv);
	return r;
}

/* Returns GK_ERR_INVALID, without a message, if the file is not a tape. */
static int read_tape(const char *name, struct gk_plot_chart *chart)
{
	struct gk_plot_losses losses = {0};
	int r = gk_plot_tape(name, chart, &losses);

	if (r && r != GK_ERR_INVALID)
		plot_failure("cannot read", name, r);
	if (losses.bytes || losses.snapshots)
		fprintf(stderr,
			"gpukit plot: '%s' is damaged: %llu bytes and %llu "
			"snapshots skipped\n",
			name, (unsigned long long)losses.bytes,
			(unsigned long long)losses.snapshots);
	return r;
}

static int read_rows_of(const char *name, struct gk_plot_chart *chart)
{
	bool is_stdin = !strcmp(name, "-");
	uint64_t broken = 0;
	int fd, r;

	fd = is_stdin ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return plot_failure("cannot open", name,
				    gk_err_from_errno(errno));
	r = read_csv(name, fd, chart, &broken);
	if (broken && !chart->timing)
		fprintf(stderr,
			"gpukit plot: '%s': %llu broken row%s skipped\n", name,
			(unsigned long long)broken, broken == 1 ? "" : "s");
	if (!is_stdin)
		close(fd);
	return r;
}

/* A FIFO can be opened only once, so it is assumed to contain rows. */
static bool may_be_tape(const char *name)
{
	struct stat st;

	return strcmp(name, "-") != 0 && !stat(name, &st) &&
	       S_ISREG(st.st_mode);
}

/* Reports only the first implausible value. */
static void tell_nonsense(const char *name, const struct gk_plot_nonsense *n)
{
	bool whole = fabs(n->value) < 1e18 && floor(n->value) == n->value;
	char line[32] = "";

	if (!n->count)
		return;
	if (n->line)
		snprintf(line, sizeof line,
			 "line %llu: ", (unsigned long long)n->line);
	fprintf(stderr,
		"gpukit plot: '%s': %llu value%s left out: %s%s: nonsense: "
		"%.*f%s\n",
		name, (unsigned long long)n->count, n->count == 1 ? "" : "s",
		line, n->name, whole ? 0 : 3, n->value,
		n->count == 1 ? "" : " and others");
}

static int read_recording(const char *name, struct gk_plot_chart *chart)
{
	int r = GK_ERR_INVALID;

	gk_plot_chart_begin(chart, name);
	if (may_be_tape(name))
		r = read_tape(name, chart);
	if (r == GK_ERR_INVALID)
		r = read_rows_of(name, chart);
	if (!chart->timing)
		tell_nonsense(name, &chart->file->nonsense);
	return r;
}

/* Finds the time at which a file ends: "-10m" is relative to it. */
static int find_end(const char *name, int64_t *ret_ms)
{
	struct gk_plot_chart chart;
	int r = gk_plot_chart_init(&chart);

	if (r)
		return plot_failure("cannot read", name, r);
	if (!may_be_tape(name)) {
		fprintf(stderr,
			"gpukit plot: times before the end need a regular "
			"file, which '%s' is not\n",
			name);
		gk_plot_chart_free(&chart);
		return GK_ERR_INVALID;
	}
	chart.timing = true;
	chart.end_ms = INT64_MIN;
	r = read_recording(name, &chart);
	*ret_ms = chart.end_ms;
	gk_plot_chart_free(&chart);
	return r;
}

static bool needs_end(const struct gk_plot_filter *filter)
{
	return filter->from.kind == GK_PLOT_BEFORE_END ||
	       filter->to.kind == GK_PLOT_BEFORE_END;
}

int gk_plot_read_all(const char *const *files, unsigned count,
		     struct gk_plot_chart *chart)
{
	int r = 0;

	for (unsigned i = 0; i < count && !r; i++) {
		if (needs_end(&chart->filter))
			r = find_end(files[i], &chart->end_ms);
		if (!r)
			r = read_recording(files[i], chart);
	}
	if (r)
		return r;
	if (chart->left_out)
		fprintf(stderr,
			"gpukit plot: more than %d GPUs and processes: the "
			"rest are left out\n",
			GK_PLOT_SUBJECTS_MAX);
	if (chart->rows)
		return 0;
	fprintf(stderr, "gpukit plot: nothing to draw: %s\n",
		chart->all_rows
		    ? "no row matches the chosen times, GPUs and processes"
		    : "no rows");
	return GK_ERR_NOT_FOUND;
}
