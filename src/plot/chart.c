/* SPDX-License-Identifier: Apache-2.0 */
/* chart.c - collects the rows of recordings in a chart. */
#include "plot/chart.h"

#include "base/assert.h"
#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A power of two, much larger than GK_PLOT_SUBJECTS_MAX. */
#define TABLE 8192

/*
 * The maximum number of bins per line; few pictures are wider, in pixels.
 */
#define COLUMNS 2048

/*
 * The maximum number of bins for all lines of a panel (10 MiB). If there are
 * many lines, each has fewer and wider bins.
 */
#define BINS_MAX (256 << 10)

/* The number of bytes of each text of a row that go into a label. */
#define WORDS_MAX 1024

/* A step counts as a pause if it is longer than this many usual steps. */
#define PAUSE 3

int gk_plot_chart_init(struct gk_plot_chart *chart)
{
	*chart = (struct gk_plot_chart){.last_ms = -1};
	chart->subjects = calloc(GK_PLOT_SUBJECTS_MAX, sizeof *chart->subjects);
	chart->touched = calloc(GK_PLOT_SUBJECTS_MAX, sizeof *chart->touched);
	chart->table = calloc(TABLE, sizeof *chart->table);
	if (chart->subjects && chart->touched && chart->table)
		return 0;
	gk_plot_chart_free(chart);
	return GK_ERR_NOMEM;
}

void gk_plot_chart_free(struct gk_plot_chart *chart)
{
	for (size_t i = 0; i < chart->subject_count; i++)
		gk_plot_subject_free(&chart->subjects[i]);
	free(chart->subjects);
	free(chart->touched);
	free(chart->table);
	*chart = (struct gk_plot_chart){0};
}

void gk_plot_chart_begin(struct gk_plot_chart *chart, const char *name)
{
	GK_ASSERT(chart->file_count < GK_PLOT_FILES_MAX);
	chart->file = &chart->files[chart->file_count++];
	*chart->file = (struct gk_plot_file){.name = name};
	chart->started = chart->second = false;
	chart->usual_ms = 0;
	memset(chart->file_steps, 0, sizeof chart->file_steps);
}

/* ---- subjects ---- */

/* FNV-1a. */
static uint64_t mix_bytes(uint64_t hash, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * 1099511628211ULL;
	return hash;
}

static uint64_t hash_of(const struct gk_plot_chart *chart,
			enum gk_plot_kind kind, const struct gk_plot_row *row)
{
	uint64_t hash = 14695981039346656037ULL + (uint64_t)kind * 31 +
			(uint64_t)(chart->file - chart->files) * 1009;

	if (kind == GK_PLOT_HOST)
		return hash;
	hash = mix_bytes(hash, row->gpu.text, row->gpu.len);
	if (kind == GK_PLOT_GPU && row->gpu.len)
		return hash;
	hash = mix_bytes(hash, ",", 1);
	hash = mix_bytes(hash, row->pid.text, row->pid.len);
	if (kind == GK_PLOT_GPU)
		return hash;
	return mix_bytes(hash, row->command.text, row->command.len);
}

static void add_words(struct gk_buf *buf, const char *word,
		      const struct gk_csv_field *field)
{
	if (!field->len)
		return;
	if (buf->len)
		gk_buf_putc(buf, ' ');
	gk_buf_puts(buf, word);
	gk_buf_add(buf, field->text,
		   field->len < WORDS_MAX ? field->len : WORDS_MAX);
}

/* Returns a subject's label, or NULL when out of memory. */
static char *label_of(enum gk_plot_kind kind, const struct gk_plot_row *row)
{
	struct gk_buf buf = {0};

	if (kind == GK_PLOT_GPU && row->gpu.len) {
		add_words(&buf, "GPU ", &row->gpu);
	} else if (kind != GK_PLOT_HOST) {
		add_words(&buf, kind == GK_PLOT_GPU ? "pid " : "", &row->pid);
		if (kind == GK_PLOT_PROCESS)
			add_words(&buf, "", &row->command);
	}
	/*
	 * These are values of the host, or of a file that does not name their
	 * origin.
	 */
	if (!buf.len)
		gk_buf_puts(&buf, kind == GK_PLOT_HOST ? "host" : "all");
	if (buf.failed)
		gk_buf_free(&buf);
	return buf.data;
}

static int new_subject(struct gk_plot_chart *chart, enum gk_plot_kind kind,
		       const struct gk_plot_row *row, uint64_t hash,
		       unsigned *slot)
{
	struct gk_plot_subject *subject =
	    &chart->subjects[chart->subject_count];

	*subject = (struct gk_plot_subject){
	    .hash = hash,
	    .kind = kind,
	    .file = (unsigned)(chart->file - chart->files)};
	subject->label = label_of(kind, row);
	if (!subject->label)
		return GK_ERR_NOMEM;
	*slot = (unsigned)++chart->subject_count;
	chart->line_count += kind != GK_PLOT_PROCESS || chart->process_lines;
	return 0;
}

/* Finds or adds the subject of a row. If there are too many subjects, *ret
 * stays NULL. */
static int find_subject(struct gk_plot_chart *chart, enum gk_plot_kind kind,
			const struct gk_plot_row *row,
			struct gk_plot_subject **ret)
{
	uint64_t hash = hash_of(chart, kind, row);
	size_t at = hash % TABLE;
	int r = 0;

	while (chart->table[at] &&
	       chart->subjects[chart->table[at] - 1].hash != hash)
		at = (at + 1) % TABLE;
	*ret = NULL;
	if (!chart->table[at]) {
		if (chart->subject_count == GK_PLOT_SUBJECTS_MAX) {
			chart->left_out++;
			return 0;
		}
		r = new_subject(chart, kind, row, hash, &chart->table[at]);
	}
	if (!r)
		*ret = &chart->subjects[chart->table[at] - 1];
	return r;
}

/* ---- a moment: all rows of one time ---- */

static void touch_subject(struct gk_plot_chart *chart,
			  struct gk_plot_subject *subject)
{
	if (subject->touched)
		return;
	subject->touched = true;
	chart->touched[chart->touched_count++] =
	    (unsigned)(subject - chart->subjects);
}

/* The quantities for which the last value counts, because they cannot be added
 * up. */
#define LAST_COUNTS                                                            \
	(GK_PLOT_BIT(GK_PLOT_HOST_MEMORY) | GK_PLOT_BIT(GK_PLOT_REASONS) |     \
	 GK_PLOT_BIT(GK_PLOT_XID) | GK_PLOT_BIT(GK_PLOT_TEMPERATURE))

static void add_row_values(struct gk_plot_subject *subject,
			   const struct gk_plot_row *row, uint32_t which)
{
	uint32_t given = row->given & which;

	for (uint32_t left = given; left; left &= left - 1) {
		int q = __builtin_ctz(left);

		if (subject->filled & ~LAST_COUNTS & GK_PLOT_BIT(q))
			subject->now[q] += row->value[q];
		else
			subject->now[q] = row->value[q];
	}
	subject->filled |= given;
}

/* Returns a time in ms that at least half of the steps do not exceed (the
 * median). */
static int64_t median_step(const uint64_t *steps)
{
	uint64_t all = 0, seen = 0;
	int power = 0;

	for (int i = 0; i < 64; i++)
		all += steps[i];
	while (power < 40 && (seen += steps[power]) * 2 < all)
		power++;
	return (int64_t)2 << power;
}

static void count_step(struct gk_plot_chart *chart, int64_t step)
{
	int power;

	if (step <= 0)
		return;
	power = 63 - __builtin_clzll((uint64_t)step);
	chart->steps[power]++;
	chart->file_steps[power]++;
}

/*
 * Returns the time (weight) for which a moment's values count: the step before
 * the moment or, if that step was a pause, the length of the last usual step.
 */
static double moment_seconds(struct gk_plot_chart *chart)
{
	int64_t step = chart->now_ms - chart->before_ms;

	if (!chart->second)
		return 0;
	if (step > 0 && step <= PAUSE * median_step(chart->file_steps))
		chart->usual_ms = step;
	return (double)chart->usual_ms / 1000;
}

/* Ends a moment: turns its sums into values. */
static int end_moment(struct gk_plot_chart *chart)
{
	struct gk_plot_moment moment = {
	    .ms = chart->now_ms,
	    .before_ms = chart->second ? chart->before_ms : chart->now_ms,
	    .seconds = moment_seconds(chart),
	    .shift = chart->shift,
	    .processes_known = chart->file->processes,
	    .process_lines = chart->process_lines,
	};
	int r = 0;

	/*
	 * First processes, then GPUs, then the processes' shares of their GPUs:
	 * each pass needs the results of the one before.
	 */
	for (int pass = 0; pass < 3; pass++)
		for (size_t i = 0; i < chart->touched_count && !r; i++) {
			struct gk_plot_subject *subject =
			    &chart->subjects[chart->touched[i]];

			if (subject->gpu && pass == 2)
				gk_plot_subject_share(subject, &moment);
			else if (pass == (subject->gpu ? 0 : 1))
				r = gk_plot_subject_end(subject, &moment);
		}
	for (size_t i = 0; i < chart->touched_count; i++)
		gk_plot_subject_clear(&chart->subjects[chart->touched[i]]);
	chart->touched_count = 0;
	chart->before_ms = chart->now_ms;
	chart->second = true;
	return r;
}

static int64_t columns_of(const struct gk_plot_chart *chart)
{
	size_t most = BINS_MAX / (chart->line_count ? chart->line_count : 1);

	return most < COLUMNS ? (int64_t)most : COLUMNS;
}

static void widen_time(struct gk_plot_chart *chart, int64_t time_ms)
{
	bool none = chart->last_ms < chart->first_ms;

	if (none || time_ms < chart->first_ms)
		chart->first_ms = time_ms;
	if (none || time_ms > chart->last_ms)
		chart->last_ms = time_ms;
	while ((chart->last_ms >> chart->shift) -
		   (chart->first_ms >> chart->shift) >=
	       columns_of(chart))
		chart->shift++;
}

static int go_to_moment(struct gk_plot_chart *chart, int64_t ms)
{
	int r = 0;

	if (chart->touched_count && ms == chart->now_ms)
		return 0;
	if (chart->touched_count) {
		count_step(chart, ms - chart->now_ms);
		r = end_moment(chart);
	}
	chart->now_ms = ms;
	widen_time(chart, ms);
	return r;
}

/* ---- rows ---- */

#define DAY_MS (24 * 3600 * 1000LL)

/*
 * Returns a time in ms. A time without a date is on the first day of the file,
 * or on the next day if it would otherwise be before `least`.
 */
static int64_t resolve_time(const struct gk_plot_chart *chart,
			    const struct gk_plot_when *when, int64_t least)
{
	int64_t first = chart->file->first_ms, at;

	switch (when->kind) {
	case GK_PLOT_DATE:
		return when->ms;
	case GK_PLOT_AFTER_START:
		return first + when->ms;
	case GK_PLOT_BEFORE_END:
		return chart->end_ms - when->ms;
	case GK_PLOT_TIME_OF_DAY:
		at = first - first % DAY_MS + when->ms;
		return at < least ? at + DAY_MS : at;
	case GK_PLOT_ANY_TIME:
		break;
	}
	return least;
}

static void start_file(struct gk_plot_chart *chart, int64_t ms)
{
	const struct gk_plot_filter *filter = &chart->filter;

	chart->started = true;
	chart->file->first_ms = ms;
	/*
	 * A time without a date is on the first day if that is at most half a
	 * day before the first row; otherwise it is on the next day.
	 */
	chart->from_ms = resolve_time(chart, &filter->from, ms - DAY_MS / 2);
	chart->to_ms =
	    filter->to.kind == GK_PLOT_ANY_TIME
		? INT64_MAX
		: resolve_time(chart, &filter->to,
			       chart->from_ms > ms ? chart->from_ms : ms);
}

static bool is_listed(const struct gk_csv_field *field, const char *const *list,
		      size_t count, bool parts)
{
	for (size_t i = 0; i < count; i++) {
		size_t len = strlen(list[i]);

		if (len <= field->len && !memcmp(field->text, list[i], len) &&
		    (len == field->len || (parts && field->text[len] == ':')))
			return true;
	}
	return !count;
}

static bool row_counts(struct gk_plot_chart *chart,
		       const struct gk_plot_row *row)
{
	const struct gk_plot_filter *filter = &chart->filter;

	chart->all_rows++;
	if (!chart->started)
		start_file(chart, row->time_ms);
	if (chart->timing && row->time_ms > chart->end_ms)
		chart->end_ms = row->time_ms;
	if (chart->timing || row->time_ms < chart->from_ms ||
	    row->time_ms > chart->to_ms)
		return false;
	if (row->gpu.len &&
	    !is_listed(&row->gpu, filter->gpus, filter->gpu_count, true))
		return false;
	return !row->pid.len ||
	       is_listed(&row->pid, filter->pids, filter->pid_count, false);
}

/* Returns the quantities of a process's row that are added to its GPU. */
static uint32_t for_gpu(const struct gk_plot_chart *chart,
			const struct gk_plot_row *row)
{
	const uint32_t of_both =
	    GK_PLOT_BIT(GK_PLOT_MEMORY) | GK_PLOT_BIT(GK_PLOT_BUSY);
	const uint32_t asked =
	    GK_PLOT_BIT(GK_PLOT_PANELS) - GK_PLOT_BIT(GK_PLOT_ASKED);
	uint32_t which = GK_PLOT_ALL & ~GK_PLOT_BIT(GK_PLOT_HOST_MEMORY);

	if (row->alone)
		return GK_PLOT_BIT(GK_PLOT_CPU) | asked |
		       (chart->filter.pid_count ? of_both : 0);
	/* If the user selects processes, values of whole GPUs do not count. */
	return chart->filter.pid_count && !row->pid.len ? which & ~of_both
							: which;
}

static int add_to_process(struct gk_plot_chart *chart,
			  const struct gk_plot_row *row,
			  struct gk_plot_subject *gpu)
{
	struct gk_plot_subject *process;
	int r = find_subject(chart, GK_PLOT_PROCESS, row, &process);

	if (r || !process)
		return r;
	touch_subject(chart, process);
	process->gpu = gpu;
	gpu->chosen = true;
	add_row_values(process, row, GK_PLOT_ALL);
	return 0;
}

static int add_to_host(struct gk_plot_chart *chart,
		       const struct gk_plot_row *row)
{
	struct gk_plot_subject *host;
	int r = find_subject(chart, GK_PLOT_HOST, row, &host);

	if (r || !host)
		return r;
	touch_subject(chart, host);
	add_row_values(host, row, GK_PLOT_BIT(GK_PLOT_HOST_MEMORY));
	return 0;
}

static int set_model(struct gk_plot_subject *gpu,
		     const struct gk_csv_field *model)
{
	if (gpu->model || !model->len)
		return 0;
	gpu->model = strndup(model->text,
			     model->len < WORDS_MAX ? model->len : WORDS_MAX);
	return gpu->model ? 0 : GK_ERR_NOMEM;
}

static void add_nonsense(struct gk_plot_nonsense *to,
			 const struct gk_plot_nonsense *more)
{
	if (!to->count)
		*to = *more;
	else
		to->count += more->count;
}

int gk_plot_chart_add(struct gk_plot_chart *chart,
		      const struct gk_plot_row *row)
{
	struct gk_plot_subject *gpu;
	int r;

	GK_ASSERT(chart->file);
	if (!row_counts(chart, row))
		return 0;
	chart->rows++;
	add_nonsense(&chart->file->nonsense, &row->nonsense);
	r = go_to_moment(
	    chart, row->time_ms - (chart->aligned ? chart->file->first_ms : 0));
	if (!r && gk_plot_row_has(row, GK_PLOT_HOST_MEMORY))
		r = add_to_host(chart, row);
	if (r || (!row->gpu.len && row->alone))
		return r;
	chart->file->gpus |= row->gpu.len > 0;
	r = find_subject(chart, GK_PLOT_GPU, row, &gpu);
	if (r || !gpu)
		return r;
	touch_subject(chart, gpu);
	add_row_values(gpu, row, for_gpu(chart, row));
	gpu->lost_now |= row->lost;
	gpu->silent_now |= row->silent || row->lost;
	if (row->xid_count) {
		memcpy(gpu->xids, row->xids,
		       row->xid_count * sizeof *row->xids);
		gpu->xid_count = row->xid_count;
	}
	r = set_model(gpu, &row->model);
	if (!r && row->gpu.len && row->pid.len)
		r = add_to_process(chart, row, gpu);
	return r;
}

int gk_plot_chart_end(struct gk_plot_chart *chart)
{
	GK_ASSERT(chart->file);
	return chart->touched_count ? end_moment(chart) : 0;
}

int64_t gk_plot_chart_gap(const struct gk_plot_chart *chart)
{
	int64_t step = median_step(chart->steps);
	int64_t column = (int64_t)1 << chart->shift;

	return PAUSE * (step > column ? step : column);
}

/* ---- times as people type them ---- */

static int parse_date(const char *text, struct gk_plot_when *when)
{
	char whole[48];
	size_t len = strlen(text);
	const char *rest = len == 10 ? "T00:00:00" : len == 16 ? ":00" : "";
	struct gk_csv_field field = {whole, 0};

	if (len > 40)
		return GK_ERR_INVALID;
	field.len = (size_t)snprintf(whole, sizeof whole, "%s%s", text, rest);
	when->kind = GK_PLOT_DATE;
	return gk_plot_read_time(&field, &when->ms) ? 0 : GK_ERR_INVALID;
}

static int parse_time_of_day(const char *text, struct gk_plot_when *when)
{
	char whole[48];
	struct gk_csv_field field = {whole, 0};

	if (strlen(text) > 24)
		return GK_ERR_INVALID;
	field.len = (size_t)snprintf(whole, sizeof whole, "1970-01-01T%s%s",
				     text, strlen(text) == 5 ? ":00" : "");
	when->kind = GK_PLOT_TIME_OF_DAY;
	return gk_plot_read_time(&field, &when->ms) ? 0 : GK_ERR_INVALID;
}

int gk_plot_parse_when(const char *text, struct gk_plot_when *ret_when)
{
	bool before = *text == '-';
	uint64_t ns;
	int r;

	if (strlen(text) >= 10 && (text[4] == '-' || text[4] == '/'))
		return parse_date(text, ret_when);
	if (strchr(text, ':'))
		return parse_time_of_day(text, ret_when);
	r = gk_parse_duration(text + before, &ns);
	if (r)
		return r;
	*ret_when = (struct gk_plot_when){before ? GK_PLOT_BEFORE_END
						 : GK_PLOT_AFTER_START,
					  (int64_t)(ns / 1000000)};
	return 0;
}
