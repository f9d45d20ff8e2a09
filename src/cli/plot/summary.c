/* SPDX-License-Identifier: Apache-2.0 */
/* summary.c - prints a chart's figures per GPU and process. */
#include "cli/plot/summary.h"

#include "base/array.h"
#include "base/err.h"
#include "cli/cmd.h"
#include "cli/output.h"
#include "format/json.h"
#include "plot/picture.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define GIB_IN_MIB 1024.0

/* The quantities shown in a row, in this order. */
static const struct {
	enum gk_plot_quantity quantity;
	const char *name;  /* name in JSON */
	const char *title; /* heading of the quantity's two columns */
	int decimals;
	double divisor; /* divisor for text output */
	bool of_gpus, of_processes;
} figures[] = {
    {GK_PLOT_BUSY, "busy_percent", "BUSY %", 0, 1, true, true},
    {GK_PLOT_MEMORY, "memory_mib", "MEMORY GiB", 1, GIB_IN_MIB, true, true},
    {GK_PLOT_POWER, "power_watts", "POWER W", 0, 1, true, false},
    {GK_PLOT_TEMPERATURE, "temperature_celsius", "TEMP C", 0, 1, true, false},
    {GK_PLOT_CPU, "cpu_percent", "CPU %", 0, 1, false, true},
};

/* Whether the summary of a file lists the subject. */
static bool is_listed(const struct gk_plot_chart *chart,
		      const struct gk_plot_subject *s, unsigned file,
		      enum gk_plot_kind kind)
{
	if (s->kind != kind || s->file != file)
		return false;
	return kind != GK_PLOT_GPU || !chart->filter.pid_count || s->chosen ||
	       !chart->files[file].gpus;
}

/* Sorts subjects of one kind by name. */
static int compare_labels(const void *a, const void *b)
{
	const struct gk_plot_subject *left =
	    *(const struct gk_plot_subject *const *)a;
	const struct gk_plot_subject *right =
	    *(const struct gk_plot_subject *const *)b;

	if (left->gpu && left->gpu != right->gpu)
		return strverscmp(left->gpu->label, right->gpu->label);
	return strverscmp(left->label, right->label);
}

struct list {
	const struct gk_plot_subject **of;
	size_t count;
};

static bool make_list(const struct gk_plot_chart *chart, unsigned file,
		      enum gk_plot_kind kind, struct list *list)
{
	*list = (struct list){
	    .of = calloc(chart->subject_count + 1, sizeof *list->of)};
	if (!list->of)
		return false;
	for (size_t i = 0; i < chart->subject_count; i++)
		if (is_listed(chart, &chart->subjects[i], file, kind))
			list->of[list->count++] = &chart->subjects[i];
	qsort(list->of, list->count, sizeof *list->of, compare_labels);
	return true;
}

/* Returns the name for a table row. For a GPU, that is its number. */
static const char *short_label(const struct gk_plot_subject *s)
{
	return strncmp(s->label, "GPU ", 4) ? s->label : s->label + 4;
}

/* ---- JSON ---- */

static void put_number(struct gk_buf *out, double value)
{
	if (isnan(value))
		gk_buf_puts(out, "null");
	else
		gk_buf_printf(out, "%.3f", value);
}

static void put_key(struct gk_buf *out, const char *key, double value)
{
	gk_buf_printf(out, ",\"%s\":", key);
	put_number(out, value);
}

static void put_text(struct gk_buf *out, const char *text)
{
	if (text)
		gk_json_string(out, text, strlen(text));
	else
		gk_buf_puts(out, "null");
}

static void put_figures(struct gk_buf *out, const struct gk_plot_subject *s)
{
	for (size_t i = 0; i < COUNT(figures); i++) {
		const struct gk_plot_track *track =
		    s->tracks[figures[i].quantity];

		if (s->kind == GK_PLOT_PROCESS && !figures[i].of_processes)
			continue;
		gk_buf_printf(out, ",\"%s\":", figures[i].name);
		if (!track) {
			gk_buf_puts(out, "null");
			continue;
		}
		gk_buf_puts(out, "{\"mean\":");
		put_number(out, gk_plot_track_mean(track));
		put_key(out, "max", track->max);
		gk_buf_putc(out, '}');
	}
}

static double idle_of(const struct gk_plot_subject *s)
{
	return s->tracks[GK_PLOT_BUSY] ? s->idle : (double)NAN;
}

static void put_gpu(struct gk_buf *out, const struct gk_plot_subject *s)
{
	bool known = s->tracks[GK_PLOT_REASONS];

	gk_buf_puts(out, "{\"gpu\":");
	put_text(out, short_label(s));
	gk_buf_puts(out, ",\"name\":");
	put_text(out, s->model);
	gk_buf_printf(out, ",\"lost\":%s", s->lost ? "true" : "false");
	put_key(out, "seconds", s->seconds);
	put_figures(out, s);
	put_key(out, "energy_wh", gk_plot_subject_energy(s));
	put_key(out, "throttled_seconds", known ? s->throttled : (double)NAN);
	gk_buf_puts(out, ",\"throttled_by\":");
	for (int i = 0; i < GK_PLOT_REASON_COUNT && known; i++) {
		gk_buf_printf(out, "%s\"%s_seconds\":", i ? "," : "{",
			      gk_plot_reasons[i].name);
		put_number(out, s->by_reason[i]);
	}
	gk_buf_puts(out, known ? "}" : "null");
	put_key(out, "idle_allocated_seconds", idle_of(s));
	gk_buf_putc(out, '}');
}

/* The label of a process is its pid and its command. */
static void put_process(struct gk_buf *out, const struct gk_plot_subject *s)
{
	size_t digits = strspn(s->label, "0123456789");
	bool numbered =
	    digits && (!s->label[digits] || s->label[digits] == ' ');
	const char *command = s->label + (numbered ? digits : 0);

	gk_buf_puts(out, "{\"gpu\":");
	put_text(out, short_label(s->gpu));
	gk_buf_printf(out, ",\"pid\":%.*s", numbered ? (int)digits : 4,
		      numbered ? s->label : "null");
	gk_buf_puts(out, ",\"command\":");
	put_text(out, *command == ' ' ? command + 1 : command);
	put_key(out, "seconds", s->seconds);
	put_figures(out, s);
	put_key(out, "energy_wh_estimated", gk_plot_subject_energy(s));
	put_key(out, "idle_allocated_seconds", idle_of(s));
	gk_buf_putc(out, '}');
}

static bool put_json_list(struct gk_buf *out, const struct gk_plot_chart *chart,
			  unsigned file, enum gk_plot_kind kind)
{
	struct list list;

	if (!make_list(chart, file, kind, &list))
		return false;
	gk_buf_printf(out, ",\"%s\":[",
		      kind == GK_PLOT_GPU ? "gpus" : "processes");
	for (size_t i = 0; i < list.count; i++) {
		gk_buf_puts(out, i ? ",\n" : "\n");
		if (kind == GK_PLOT_GPU)
			put_gpu(out, list.of[i]);
		else
			put_process(out, list.of[i]);
	}
	gk_buf_putc(out, ']');
	free(list.of);
	return true;
}

/* Writes a local time; null if the recordings are aligned to start together. */
static void put_moment(struct gk_buf *out, const char *key,
		       const struct gk_plot_chart *chart, int64_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	struct tm tm = {0};
	char text[32];

	gmtime_r(&seconds, &tm);
	strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
	gk_buf_printf(out, ",\"%s\":", key);
	put_text(out, chart->aligned ? NULL : text);
}

static bool put_json(struct gk_buf *out, const struct gk_plot_chart *chart)
{
	bool ok = true;

	gk_buf_puts(out, "{\"schema\":\"gpukit-plot-summary-1\"");
	put_key(out, "seconds",
		(double)(chart->last_ms - chart->first_ms) / 1000);
	put_moment(out, "from", chart, chart->first_ms);
	put_moment(out, "to", chart, chart->last_ms);
	gk_buf_puts(out, ",\"recordings\":[");
	for (unsigned i = 0; i < chart->file_count && ok; i++) {
		const struct gk_plot_file *file = &chart->files[i];

		gk_buf_puts(out, i ? ",\n{\"file\":" : "\n{\"file\":");
		put_text(out, file->name);
		gk_buf_puts(out, ",\"host\":");
		put_text(out, file->host[0] ? file->host : NULL);
		ok = put_json_list(out, chart, i, GK_PLOT_GPU) &&
		     put_json_list(out, chart, i, GK_PLOT_PROCESS);
		gk_buf_putc(out, '}');
	}
	gk_buf_puts(out, "]}\n");
	return ok;
}

/* ---- text ---- */

static char *time_text(char dst[24], double seconds)
{
	long s = lround(seconds);

	if (isnan(seconds))
		snprintf(dst, 24, "-");
	else if (seconds < 60)
		snprintf(dst, 24, "%.1fs", seconds);
	else if (s < 3600)
		snprintf(dst, 24, "%ld:%02ld", s / 60, s % 60);
	else
		snprintf(dst, 24, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60,
			 s % 60);
	return dst;
}

static void put_pair(struct gk_buf *out, const struct gk_plot_subject *s,
		     size_t i)
{
	const struct gk_plot_track *track = s->tracks[figures[i].quantity];

	if (!track) {
		gk_buf_printf(out, "  %6s %6s", "-", "-");
		return;
	}
	gk_buf_printf(out, "  %6.*f %6.*f", figures[i].decimals,
		      gk_plot_track_mean(track) / figures[i].divisor,
		      figures[i].decimals, track->max / figures[i].divisor);
}

/* Whether any row of the list has the figure. Only processes have CPU time. */
static bool is_column(const struct list *list, size_t i)
{
	for (size_t k = 0; k < list->count; k++) {
		const struct gk_plot_subject *s = list->of[k];

		if (s->tracks[figures[i].quantity])
			return s->kind == GK_PLOT_PROCESS
				   ? figures[i].of_processes
				   : figures[i].of_gpus ||
					 short_label(s) == s->label;
	}
	return false;
}

static void put_titles(struct gk_buf *out, const struct list *list,
		       const char *first, const char *last)
{
	gk_buf_printf(out, "\n%-6s %9s", first, "TIME");
	for (size_t i = 0; i < COUNT(figures); i++)
		if (is_column(list, i))
			gk_buf_printf(out, "  %13s", figures[i].title);
	gk_buf_printf(out, "%s\n%-6s %9s", last, "", "");
	for (size_t i = 0; i < COUNT(figures); i++)
		if (is_column(list, i))
			gk_buf_printf(out, "  %6s %6s", "mean", "max");
	gk_buf_putc(out, '\n');
}

static void put_energy(struct gk_buf *out, const struct gk_plot_subject *s)
{
	double energy = gk_plot_subject_energy(s);

	if (isnan(energy))
		gk_buf_printf(out, "  %9s", "-");
	else
		gk_buf_printf(out, "  %9.1f", energy);
}

/* Writes "1:02 power cap, 0:10 heat (chip)". */
static void put_reasons(struct gk_buf *out, const struct gk_plot_subject *s)
{
	char time[24];
	bool any = false;

	if (!s->tracks[GK_PLOT_REASONS])
		gk_buf_puts(out, s->lost ? "" : "-");
	else if (s->throttled <= 0)
		gk_buf_puts(out, "never");
	for (int i = 0; i < GK_PLOT_REASON_COUNT; i++) {
		if (s->by_reason[i] <= 0)
			continue;
		gk_buf_printf(out, "%s%s %s", any ? ", " : "",
			      time_text(time, s->by_reason[i]),
			      gk_plot_reasons[i].words);
		any = true;
	}
	if (s->lost)
		gk_buf_puts(out,
			    s->tracks[GK_PLOT_REASONS] ? "; lost" : "lost");
}

static void put_row(struct gk_buf *out, const struct list *list,
		    const struct gk_plot_subject *s)
{
	char time[24];

	gk_buf_printf(out, "%-6s %9s", short_label(s->gpu ? s->gpu : s),
		      time_text(time, s->seconds));
	for (size_t i = 0; i < COUNT(figures); i++)
		if (is_column(list, i))
			put_pair(out, s, i);
	put_energy(out, s);
	gk_buf_printf(out, " %11s  ", time_text(time, idle_of(s)));
	if (s->gpu) {
		char label[256];

		gk_str_clean(label, sizeof label, s->label, strlen(s->label));
		gk_buf_puts(out, label);
	} else {
		put_reasons(out, s);
	}
	gk_buf_putc(out, '\n');
}

static bool put_list(struct gk_buf *out, const struct gk_plot_chart *chart,
		     unsigned file, enum gk_plot_kind kind)
{
	struct list list;

	if (!make_list(chart, file, kind, &list))
		return false;
	if (list.count)
		put_titles(out, &list, "GPU",
			   kind == GK_PLOT_GPU
			       ? "  ENERGY Wh   IDLE HELD  THROTTLED"
			       : "  ~ENERGY Wh  IDLE HELD  PROCESS");
	for (size_t i = 0; i < list.count; i++)
		put_row(out, &list, list.of[i]);
	free(list.of);
	return true;
}

static bool put_summary(struct gk_buf *out, const struct gk_plot_chart *chart)
{
	bool ok = true;

	gk_plot_title(chart, out);
	gk_buf_puts(out, "   ");
	gk_plot_days(chart, out);
	gk_buf_putc(out, '\n');
	for (unsigned i = 0; i < chart->file_count && ok; i++) {
		if (chart->file_count > 1)
			gk_buf_printf(out, "\n%s\n", chart->files[i].name);
		ok = put_list(out, chart, i, GK_PLOT_GPU) &&
		     put_list(out, chart, i, GK_PLOT_PROCESS);
	}
	gk_buf_puts(
	    out,
	    "\nTIME: while the GPU answered. IDLE HELD: below 5 % busy while a "
	    "process held its memory.\n");
	return ok;
}

int plot_summary(const struct gk_plot_chart *chart, bool json)
{
	struct gk_buf out = {0};
	bool ok = json ? put_json(&out, chart) : put_summary(&out, chart);
	int status = GK_EXIT_FAILURE;

	if (!ok || out.failed)
		fprintf(stderr, "gpukit plot: out of memory\n");
	else if (gk_write_out(&out, "plot") != GK_OUTPUT_FAILED)
		status = GK_EXIT_OK;
	gk_buf_free(&out);
	return status;
}
