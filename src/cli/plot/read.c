/* read.c - reads recordings: rows, tapes, files of both. */
#include "cli/plot/read.h"

#include "base/err.h"
#include "cli/plot/tape.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int failure(const char *what, const char *name, int r)
{
	fprintf(stderr, "gpukit plot: %s '%s': %s\n", what, name,
		gk_strerror(r));
	return r;
}

/* Reads on behind the header; *broken counts the rows that are none. */
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
			continue; /* of a file that was appended to */
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
		return failure("cannot read", name, r);
	r = gk_csv_next(csv, &raw);
	if (r && r != GK_ERR_NOT_FOUND && r != GK_ERR_CORRUPT) {
		failure("cannot read", name, r);
	} else if (r || !gk_plot_header(&raw, &chart->asked, &sheet)) {
		fprintf(stderr,
			"gpukit plot: '%s' is no recording: its first line "
			"names no columns of `gpukit record`\n",
			name);
		r = GK_ERR_CORRUPT;
	} else {
		r = read_rows(csv, &sheet, chart, broken);
		if (r)
			failure("cannot read", name, r);
	}
	gk_csv_close(csv);
	return r;
}

/* GK_ERR_INVALID: this is no tape, and nothing was said. */
static int read_tape(const char *name, struct gk_plot_chart *chart)
{
	struct gk_plot_losses losses = {0};
	int r = gk_plot_tape(name, chart, &losses);

	if (r && r != GK_ERR_INVALID)
		failure("cannot read", name, r);
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
		return failure("cannot open", name, gk_err_from_errno(errno));
	r = read_csv(name, fd, chart, &broken);
	if (broken && !chart->timing)
		fprintf(stderr,
			"gpukit plot: '%s': %llu broken row%s skipped\n", name,
			(unsigned long long)broken, broken == 1 ? "" : "s");
	if (!is_stdin)
		close(fd);
	return r;
}

/* A pipe with a name can be opened only once: it is taken for rows. */
static bool may_be_tape(const char *name)
{
	struct stat st;

	return strcmp(name, "-") != 0 && !stat(name, &st) &&
	       S_ISREG(st.st_mode);
}

static int read_recording(const char *name, struct gk_plot_chart *chart)
{
	int r = GK_ERR_INVALID;

	gk_plot_chart_begin(chart, name);
	if (may_be_tape(name))
		r = read_tape(name, chart);
	return r == GK_ERR_INVALID ? read_rows_of(name, chart) : r;
}

/* When a file ends: "-10m" is before that. */
static int find_end(const char *name, int64_t *ret_ms)
{
	struct gk_plot_chart chart;
	int r = gk_plot_chart_init(&chart);

	if (r)
		return failure("cannot read", name, r);
	if (!may_be_tape(name)) {
		fprintf(stderr,
			"gpukit plot: times before the end need a "
			"file, and '%s' is none\n",
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

int gk_plot_read_all(char *const *files, unsigned count,
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
			"gpukit plot: more than %d GPUs and processes: values "
			"of the rest are left out\n",
			GK_PLOT_SUBJECTS_MAX);
	if (chart->rows)
		return 0;
	fprintf(stderr, "gpukit plot: nothing to draw: %s\n",
		chart->all_rows ? "no row is of the times, GPUs and processes "
				  "that were asked for"
				: "no rows");
	return GK_ERR_NOT_FOUND;
}
