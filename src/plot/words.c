/* SPDX-License-Identifier: Apache-2.0 */
/* words.c - writes names, units and times in a picture. */
#include "plot/picture.h"

#include "base/array.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define GIB_IN_MIB 1024.0

static const struct {
	const char *name, *unit;
} panels[] = {
    [GK_PLOT_BUSY] = {"busy", "%"},
    [GK_PLOT_MEMORY] = {"memory", "MiB"},
    [GK_PLOT_POWER] = {"power", "W"},
    [GK_PLOT_TEMPERATURE] = {"temperature", "°C"},
    [GK_PLOT_HOST_MEMORY] = {"host memory", "MiB"},
    [GK_PLOT_CPU] = {"CPU", "% of a core"},
};

/*
 * Units by suffix of a column's name. Longer suffixes come first, because the
 * first match is used.
 */
static const struct {
	const char *suffix, *unit;
	double factor;
} suffixes[] = {
    {"_bytes_per_second", "MB/s", 1e6},
    {"_bytes_total", "GB", 1e9},
    {"_percent", "%", 1},
    {"_pct", "%", 1},
    {"_watts", "W", 1},
    {"_celsius", "°C", 1},
    {"_hertz", "MHz", 1e6},
    {"_bytes", "GiB", 1073741824.0},
    {"_mib", "MiB", 1},
    {"_joules", "kJ", 1e3},
    {"_seconds", "s", 1},
    {"_seconds_total", "s", 1},
};

const char *gk_plot_panel_name(const struct gk_plot_chart *chart,
			       enum gk_plot_quantity panel)
{
	if (panel < GK_PLOT_ASKED)
		return panels[panel].name;
	return chart->asked.names[panel - GK_PLOT_ASKED];
}

static bool ends_in(const char *text, const char *suffix)
{
	size_t len = strlen(text), tail = strlen(suffix);

	return len >= tail && !strcmp(text + len - tail, suffix);
}

/* Returns how many decimals are needed to distinguish the values. */
static int decimals_for(double peak)
{
	return peak >= 100 ? 0 : peak >= 10 ? 1 : peak > 0 ? 2 : 0;
}

struct gk_plot_unit gk_plot_panel_unit(const struct gk_plot_chart *chart,
				       enum gk_plot_quantity panel, double peak)
{
	struct gk_plot_unit unit = {"", 1, 0};
	const char *name = gk_plot_panel_name(chart, panel);

	if (panel < GK_PLOT_ASKED) {
		bool large =
		    !strcmp(panels[panel].unit, "MiB") && peak >= GIB_IN_MIB;

		gk_str_copy(unit.text, sizeof unit.text,
			    large ? "GiB" : panels[panel].unit);
		unit.factor = large ? GIB_IN_MIB : 1;
		unit.decimals = large || (panel == GK_PLOT_CPU && peak < 10);
		return unit;
	}
	for (size_t i = 0; i < COUNT(suffixes); i++) {
		if (!ends_in(name, suffixes[i].suffix))
			continue;
		gk_str_copy(unit.text, sizeof unit.text, suffixes[i].unit);
		unit.factor = suffixes[i].factor;
		break;
	}
	if (!strcmp(unit.text, "GiB") && peak < unit.factor) {
		gk_str_copy(unit.text, sizeof unit.text, "MiB");
		unit.factor /= GIB_IN_MIB;
	}
	unit.decimals = decimals_for(peak / unit.factor);
	return unit;
}

double gk_plot_capacity(const struct gk_plot_subject *subject,
			enum gk_plot_quantity panel)
{
	static const enum gk_plot_quantity limits[GK_PLOT_PANELS] = {
	    [GK_PLOT_MEMORY] = GK_PLOT_MEMORY_TOTAL,
	    [GK_PLOT_POWER] = GK_PLOT_POWER_LIMIT,
	    [GK_PLOT_TEMPERATURE] = GK_PLOT_TEMPERATURE_LIMIT,
	};
	const struct gk_plot_track *limit = subject->tracks[limits[panel]];

	if (panel == GK_PLOT_BUSY)
		return 100;
	return limits[panel] && limit && limit->last > 0 ? limit->last
							 : (double)NAN;
}

enum gk_plot_quantity gk_plot_event_panel(const struct gk_plot_picture *picture,
					  enum gk_plot_event event)
{
	static const enum gk_plot_quantity of[GK_PLOT_EVENTS] = {
	    [GK_PLOT_BY_POWER] = GK_PLOT_POWER,
	    [GK_PLOT_BY_HEAT] = GK_PLOT_TEMPERATURE,
	    [GK_PLOT_LOST] = GK_PLOT_BUSY,
	    [GK_PLOT_XID_CAME] = GK_PLOT_BUSY,
	    [GK_PLOT_ECC_CAME] = GK_PLOT_MEMORY,
	};

	for (unsigned i = 0; i < picture->panel_count; i++)
		if (picture->panels[i] == of[event])
			return of[event];
	return picture->panels[0];
}

const char *gk_plot_short_model(const char *model)
{
	static const char maker[] = "NVIDIA ";

	return strncmp(model, maker, sizeof maker - 1)
		   ? model
		   : model + sizeof maker - 1;
}

/* ---- times ---- */

static struct tm parts_of(int64_t ms)
{
	time_t seconds = (time_t)((ms - (ms % 1000 + 1000) % 1000) / 1000);
	struct tm tm = {0};

	gmtime_r(&seconds, &tm);
	return tm;
}

void gk_plot_clock(const struct gk_plot_chart *chart, int64_t ms, bool seconds,
		   char dst[32])
{
	struct tm tm = parts_of(ms);
	int64_t s = ms / 1000;

	if (!chart->aligned)
		strftime(dst, 32, seconds ? "%H:%M:%S" : "%H:%M", &tm);
	else if (seconds)
		snprintf(dst, 32, "%d:%02d:%02d", (int)(s / 3600 % 1000000),
			 (int)(s / 60 % 60), (int)(s % 60));
	else
		snprintf(dst, 32, "%d:%02d", (int)(s / 3600 % 1000000),
			 (int)(s / 60 % 60));
}

void gk_plot_days(const struct gk_plot_chart *chart, struct gk_buf *out)
{
	struct tm from = parts_of(chart->first_ms);
	struct tm to = parts_of(chart->last_ms);
	char first[16], last[16];

	if (chart->aligned)
		return;
	strftime(first, sizeof first, "%Y-%m-%d", &from);
	strftime(last, sizeof last, "%Y-%m-%d", &to);
	gk_buf_puts(out, first);
	if (strcmp(first, last) != 0)
		gk_buf_printf(out, " to %s", last);
}

/* ---- the title ---- */

static void add_part(struct gk_buf *out, const char *text)
{
	if (out->len)
		gk_buf_puts(out, " · ");
	gk_buf_puts(out, text);
}

/* Whether a subject is a GPU in the first file. */
static bool is_first_files_gpu(const struct gk_plot_subject *subject)
{
	return subject->kind == GK_PLOT_GPU && !subject->file &&
	       !strncmp(subject->label, "GPU ", 4) &&
	       !strchr(subject->label, ':');
}

/*
 * Returns the number of GPUs that have the same model as the one at index `at`.
 * Returns 0 if an earlier GPU has that model, because the GPUs of the model
 * have then been counted already.
 */
static unsigned count_model(const struct gk_plot_chart *chart, size_t at)
{
	const char *model = chart->subjects[at].model;
	unsigned count = 0;

	for (size_t i = 0; i < chart->subject_count; i++) {
		const struct gk_plot_subject *s = &chart->subjects[i];

		if (!is_first_files_gpu(s) || !s->model ||
		    strcmp(s->model, model) != 0)
			continue;
		if (i < at)
			return 0;
		count++;
	}
	return count;
}

static void add_gpu_count(const struct gk_plot_chart *chart, struct gk_buf *out)
{
	unsigned count = 0;

	for (size_t i = 0; i < chart->subject_count; i++)
		count += is_first_files_gpu(&chart->subjects[i]);
	if (!count)
		return;
	add_part(out, "");
	gk_buf_printf(out, "%u GPU%s", count, count == 1 ? "" : "s");
}

static void add_models(const struct gk_plot_chart *chart, struct gk_buf *out)
{
	bool any = false;

	for (size_t i = 0; i < chart->subject_count; i++) {
		const struct gk_plot_subject *s = &chart->subjects[i];
		unsigned count;

		if (!s->model || !is_first_files_gpu(s))
			continue;
		count = count_model(chart, i);
		if (!count)
			continue;
		if (any)
			gk_buf_puts(out, ", ");
		else
			add_part(out, "");
		if (count > 1)
			gk_buf_printf(out, "%u × ", count);
		gk_buf_puts(out, gk_plot_short_model(s->model));
		any = true;
	}
	if (!any)
		add_gpu_count(chart, out);
}

/* Writes the end time of a chart, with the day if the chart spans several. */
static void end_of_title(const struct gk_plot_chart *chart, int64_t ms,
			 bool seconds, char dst[32])
{
	struct tm from = parts_of(chart->first_ms);
	struct tm to = parts_of(chart->last_ms);
	struct tm at = parts_of(ms);

	if (chart->aligned ||
	    (from.tm_yday == to.tm_yday && from.tm_year == to.tm_year))
		gk_plot_clock(chart, ms, seconds, dst);
	else
		strftime(dst, 32, "%d %b %H:%M", &at);
}

void gk_plot_title(const struct gk_plot_chart *chart, struct gk_buf *out)
{
	bool seconds = chart->last_ms - chart->first_ms < 10 * 60000;
	char from[32], to[32];

	if (chart->files[0].host[0])
		add_part(out, chart->files[0].host);
	add_models(chart, out);
	end_of_title(chart, chart->first_ms, seconds, from);
	end_of_title(chart, chart->last_ms, seconds, to);
	add_part(out, "");
	gk_buf_printf(out, "%s to %s", from, to);
}
