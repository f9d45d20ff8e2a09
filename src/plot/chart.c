/* chart.c - adds the rows of recordings to the panels and lines of a chart. */
#include "plot/chart.h"

#include "base/err.h"
#include "base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A power of two, with room to spare. */
#define TABLE 8192

/* Bins of a picture at most; pictures are seldom wider in pixels. */
#define COLUMNS 2048

/* Rows repeat what is the host's for each process, and what is a process's for
 * each GPU: the last one counts. */
static const bool repeated[GK_PLOT_QUANTITIES] = {
    [GK_PLOT_SYSTEM_MEMORY] = true,
    [GK_PLOT_CPU] = true,
};

int gk_plot_chart_init(struct gk_plot_chart *chart)
{
	*chart = (struct gk_plot_chart){.last_ms = -1};
	chart->lines = calloc(GK_PLOT_LINES_MAX, sizeof *chart->lines);
	chart->filled = calloc(GK_PLOT_LINES_MAX, sizeof *chart->filled);
	chart->table = calloc(TABLE, sizeof *chart->table);
	if (chart->lines && chart->filled && chart->table)
		return 0;
	gk_plot_chart_free(chart);
	return GK_ERR_NOMEM;
}

void gk_plot_chart_free(struct gk_plot_chart *chart)
{
	for (size_t i = 0; i < chart->line_count; i++) {
		gk_plot_series_free(&chart->lines[i].series);
		free(chart->lines[i].label);
	}
	free(chart->lines);
	free(chart->filled);
	free(chart->table);
	*chart = (struct gk_plot_chart){0};
}

void gk_plot_chart_begin(struct gk_plot_chart *chart, const char *name)
{
	chart->file = name;
	chart->started = false;
}

/* FNV-1a. */
static uint64_t mix(uint64_t hash, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * 1099511628211ULL;
	return hash;
}

static uint64_t hash_of(const struct gk_plot_chart *chart,
			enum gk_plot_quantity quantity,
			const struct gk_plot_row *row)
{
	enum gk_plot_group group = chart->group[quantity];
	uint64_t hash = 14695981039346656037ULL + quantity;

	hash = mix(hash, chart->file, strlen(chart->file));
	if (group == GK_PLOT_PER_GPU)
		hash = mix(hash, row->gpu.text, row->gpu.len);
	if (group == GK_PLOT_PER_PID) {
		hash = mix(hash, row->pid.text, row->pid.len);
		hash = mix(hash, row->command.text, row->command.len);
	}
	return hash;
}

static void add_words(struct gk_buf *buf, const char *word,
		      const struct gk_csv_field *field)
{
	if (!field->len)
		return;
	if (buf->len)
		gk_buf_putc(buf, ' ');
	gk_buf_puts(buf, word);
	gk_buf_add(buf, field->text, field->len);
}

/* NULL when memory runs out. */
static char *label_of(enum gk_plot_group group, const struct gk_plot_row *row)
{
	struct gk_buf buf = {0};

	if (group == GK_PLOT_PER_GPU)
		add_words(&buf, "GPU ", &row->gpu);
	if (group == GK_PLOT_PER_PID) {
		add_words(&buf, "", &row->pid);
		add_words(&buf, "", &row->command);
	}
	/* A total; or a file that does not say of whom its values are. */
	if (!buf.len)
		gk_buf_puts(&buf, "all");
	if (buf.failed)
		gk_buf_free(&buf);
	return buf.data;
}

static int add_plot_line(struct gk_plot_chart *chart,
			 enum gk_plot_quantity quantity,
			 const struct gk_plot_row *row, uint64_t hash,
			 unsigned *slot)
{
	struct gk_plot_line *line = &chart->lines[chart->line_count];

	*line = (struct gk_plot_line){
	    .hash = hash, .quantity = quantity, .file = chart->file};
	line->label = label_of(chart->group[quantity], row);
	if (!line->label)
		return GK_ERR_NOMEM;
	*slot = (unsigned)++chart->line_count;
	return 0;
}

/* The line of a row; *ret NULL: there are too many. */
static int find_line(struct gk_plot_chart *chart,
		     enum gk_plot_quantity quantity,
		     const struct gk_plot_row *row, struct gk_plot_line **ret)
{
	uint64_t hash = hash_of(chart, quantity, row);
	size_t at = hash % TABLE;
	int r = 0;

	while (chart->table[at] &&
	       chart->lines[chart->table[at] - 1].hash != hash)
		at = (at + 1) % TABLE;
	*ret = NULL;
	if (!chart->table[at]) {
		if (chart->line_count == GK_PLOT_LINES_MAX) {
			chart->lines_left_out++;
			return 0;
		}
		r = add_plot_line(chart, quantity, row, hash,
				  &chart->table[at]);
	}
	if (!r)
		*ret = &chart->lines[chart->table[at] - 1];
	return r;
}

static int add_chart_value(struct gk_plot_chart *chart,
			   enum gk_plot_quantity quantity,
			   const struct gk_plot_row *row)
{
	double value = row->value[quantity];
	struct gk_plot_line *line;
	int r;

	if (!chart->wanted[quantity] || isnan(value))
		return 0;
	r = find_line(chart, quantity, row, &line);
	if (r || !line)
		return r;
	if (!line->filled) {
		line->filled = true;
		line->now = 0;
		chart->filled[chart->filled_count++] =
		    (unsigned)(line - chart->lines);
	}
	line->now = repeated[quantity] ? value : line->now + value;
	return 0;
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
	       COLUMNS)
		chart->shift++;
}

/* The moment is over: its sums become values. */
static int flush_moment(struct gk_plot_chart *chart)
{
	int r = 0;

	for (size_t i = 0; i < chart->filled_count && !r; i++) {
		struct gk_plot_line *line = &chart->lines[chart->filled[i]];

		r = gk_plot_series_add(&line->series, chart->shift,
				       chart->now_ms, line->now);
		line->filled = false;
	}
	chart->filled_count = 0;
	return r;
}

static void count_step(struct gk_plot_chart *chart, int64_t step)
{
	if (step > 0)
		chart->steps[63 - __builtin_clzll((uint64_t)step)]++;
}

int gk_plot_chart_add(struct gk_plot_chart *chart,
		      const struct gk_plot_row *row)
{
	int r = 0;

	if (chart->started && row->time_ms != chart->now_ms) {
		count_step(chart, row->time_ms - chart->now_ms);
		r = flush_moment(chart);
	}
	chart->started = true;
	chart->now_ms = row->time_ms;
	chart->rows++;
	widen_time(chart, row->time_ms);
	for (int q = 0; q < GK_PLOT_QUANTITIES && !r; q++)
		r = add_chart_value(chart, (enum gk_plot_quantity)q, row);
	return r;
}

int gk_plot_chart_end(struct gk_plot_chart *chart)
{
	return flush_moment(chart);
}

int64_t gk_plot_chart_gap(const struct gk_plot_chart *chart)
{
	uint64_t all = 0, seen = 0;
	int64_t step, column = (int64_t)1 << chart->shift;
	int power = 0;

	for (int i = 0; i < 64; i++)
		all += chart->steps[i];
	while (power < 40 && (seen += chart->steps[power]) * 2 < all)
		power++;
	step = (int64_t)2 << power;
	return 3 * (step > column ? step : column);
}
