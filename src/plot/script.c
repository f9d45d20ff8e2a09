/* script.c - writes a chart as a script for gnuplot. */
#include "plot/script.h"
#include "base/array.h"

#include "base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More lines than this cannot be told apart. */
#define SHOWN_MAX 12

/* Characters of a label that a legend has room for, at most three bytes. */
#define LABEL_CHARACTERS 28

#define MINUTE_MS (60 * 1000LL)
#define DAY_MS    (24 * 60 * MINUTE_MS)

static const struct {
	const char *title, *unit, *absent;
	/* From this peak on the unit is another, so many times as large. */
	double large;
	const char *large_unit;
	double factor;
} panels[GK_PLOT_QUANTITIES] = {
    [GK_PLOT_MEMORY] = {"GPU memory", "MiB", "no GPU memory", 10240, "GiB",
			1024},
    [GK_PLOT_SYSTEM_MEMORY] = {"System memory", "MiB",
			       "no system memory (see gpukit record --system)",
			       10240, "GiB", 1024},
    [GK_PLOT_CPU] = {"CPU", "% of a core",
		     "no CPU time (see gpukit record --system)", HUGE_VAL, "",
		     1},
    [GK_PLOT_UTILIZATION] = {"GPU utilisation", "%", "no utilisation", HUGE_VAL,
			     "", 1},
    [GK_PLOT_POWER] = {"Power", "W", "no power (see gpukit record --devices)",
		       HUGE_VAL, "", 1},
    [GK_PLOT_TEMPERATURE] = {"Temperature", "C",
			     "no temperature (see gpukit record --devices)",
			     HUGE_VAL, "", 1},
};

/* Okabe and Ito's colours, which most colour-blind people can tell apart;
 * yellow, faint on white, comes last. */
static const char *const colors[] = {"#0072B2", "#E69F00", "#009E73",
				     "#D55E00", "#CC79A7", "#56B4E9",
				     "#000000", "#F0E442"};

/* Between single quotes only a quote means something to gnuplot. */
static void quote_gnuplot(struct gk_buf *out, const char *text,
			  size_t characters)
{
	char clean[1024];
	size_t len = gk_str_clean(clean, sizeof clean, text, strlen(text));
	bool cut = false;

	gk_buf_putc(out, '\'');
	for (const char *p = clean; p < clean + len && !cut;) {
		size_t n = gk_utf8_len(p, (size_t)(clean + len - p));

		cut = !characters--;
		if (cut)
			gk_buf_puts(out, "...");
		else if (*p == '\'')
			gk_buf_puts(out, "''");
		else
			gk_buf_add(out, p, n);
		p += n ? n : 1;
	}
	gk_buf_putc(out, '\'');
}

static void add_terminal(struct gk_buf *out, const struct gk_plot_look *look)
{
	unsigned w = look->width, h = look->height;

	switch (look->form) {
	case GK_PLOT_PNG:
		gk_buf_printf(out,
			      "set terminal pngcairo noenhanced size %u,%u "
			      "font ',11'\n",
			      w, h);
		break;
	case GK_PLOT_SVG:
		gk_buf_printf(out,
			      "set terminal svg noenhanced size %u,%u font "
			      "'sans,13' background '#ffffff'\n",
			      w, h);
		break;
	case GK_PLOT_PDF:
		/* Inches, as if there were 100 pixels to one. */
		gk_buf_printf(out,
			      "set terminal pdfcairo noenhanced size %u.%02u,"
			      "%u.%02u font ',11'\n",
			      w / 100, w % 100, h / 100, h % 100);
		break;
	case GK_PLOT_WINDOW:
		gk_buf_printf(out,
			      "set terminal GPVAL_TERM noenhanced size %u,%u\n",
			      w, h);
		break;
	case GK_PLOT_TERMINAL:
		gk_buf_printf(out,
			      "set terminal dumb noenhanced size %u,%u%s\n", w,
			      h, look->color ? " ansi256" : "");
		break;
	}
}

/* The parts of a time that are worth telling, by how long the whole is. */
static const char *time_format(int64_t span_ms)
{
	return span_ms < 5 * MINUTE_MS  ? "%H:%M:%S"
	       : span_ms < DAY_MS       ? "%H:%M"
	       : span_ms < 10 * DAY_MS  ? "%d %b\\n%H:%M"
	       : span_ms < 400 * DAY_MS ? "%d %b"
					: "%b %Y";
}

static void add_time(struct gk_buf *out, int64_t ms)
{
	gk_buf_printf(out, "%lld.%03d", (long long)(ms / 1000),
		      (int)(ms % 1000));
}

static void add_axes(struct gk_buf *out, const struct gk_plot_chart *chart,
		     enum gk_plot_form form)
{
	/* gnuplot has wrong numbers for light greys of a terminal. */
	const char *grid = form == GK_PLOT_TERMINAL ? "#c8c8d8" : "#d0d0d0";
	int64_t first = chart->first_ms, last = chart->last_ms;

	if (last <= first)
		last = first + 1000;
	gk_buf_printf(out,
		      "set encoding utf8\n"
		      "set xdata time\n"
		      "set timefmt '%%s'\n"
		      "set format x \"%s\"\n"
		      "set grid linecolor rgb '%s'\n"
		      "set xrange ['",
		      time_format(last - first), grid);
	add_time(out, first);
	gk_buf_puts(out, "':'");
	add_time(out, last);
	gk_buf_puts(out, "']\n");
}

/* Under the last panel: which days these are. */
static void add_days(struct gk_buf *out, const struct gk_plot_chart *chart)
{
	char first[32], last[32];
	time_t from = (time_t)(chart->first_ms / 1000);
	time_t to = (time_t)(chart->last_ms / 1000);
	struct tm day;

	strftime(first, sizeof first, "%Y-%m-%d", gmtime_r(&from, &day));
	strftime(last, sizeof last, "%Y-%m-%d", gmtime_r(&to, &day));
	gk_buf_printf(out, "set xlabel 'local time, %s%s%s'\n", first,
		      strcmp(first, last) ? " to " : "",
		      strcmp(first, last) ? last : "");
}

/* The extremes of a bin, in the order in which they were. */
static void add_bin(struct gk_buf *out, const struct gk_plot_bin *bin,
		    double factor)
{
	bool up = bin->min_ms <= bin->max_ms;

	add_time(out, up ? bin->min_ms : bin->max_ms);
	gk_buf_printf(out, " %.6g\n", (up ? bin->min : bin->max) / factor);
	if (bin->min_ms == bin->max_ms)
		return;
	add_time(out, up ? bin->max_ms : bin->min_ms);
	gk_buf_printf(out, " %.6g\n", (up ? bin->max : bin->min) / factor);
}

static void add_data(struct gk_buf *out, size_t index,
		     const struct gk_plot_series *series, int64_t gap_ms,
		     double factor)
{
	int64_t before = INT64_MAX;

	gk_buf_printf(out, "$line%zu << END\n", index);
	for (size_t i = 0; i < series->count; i++) {
		const struct gk_plot_bin *bin = &series->bins[i];
		bool up = bin->min_ms <= bin->max_ms;

		if ((up ? bin->min_ms : bin->max_ms) - gap_ms > before)
			gk_buf_putc(out, '\n');
		add_bin(out, bin, factor);
		before = up ? bin->max_ms : bin->min_ms;
	}
	gk_buf_puts(out, "END\n");
}

/* The lines of a panel that are shown: those with the highest peaks. */
struct choice {
	size_t index[GK_PLOT_LINES_MAX]; /* in the order of the file */
	size_t count, all;
	double peak;
};

static int by_peak(const void *a, const void *b, void *arg)
{
	const struct gk_plot_line *lines = arg;
	double left = lines[*(const size_t *)a].series.peak;
	double right = lines[*(const size_t *)b].series.peak;

	return (left < right) - (left > right);
}

static int compare_indices(const void *a, const void *b)
{
	size_t left = *(const size_t *)a, right = *(const size_t *)b;

	return (left > right) - (left < right);
}

static void choose_quantity(const struct gk_plot_chart *chart, int quantity,
			    struct choice *to)
{
	to->count = 0;
	for (size_t i = 0; i < chart->line_count; i++)
		if ((int)chart->lines[i].quantity == quantity)
			to->index[to->count++] = i;
	to->all = to->count;
	qsort_r(to->index, to->count, sizeof *to->index, by_peak, chart->lines);
	to->peak = to->count ? chart->lines[to->index[0]].series.peak : 0;
	if (to->count > SHOWN_MAX)
		to->count = SHOWN_MAX;
	qsort(to->index, to->count, sizeof *to->index, compare_indices);
}

/* Whether lines must say which file they are of. */
static bool several_files(const struct gk_plot_chart *chart,
			  const struct choice *shown)
{
	const char *first = chart->lines[shown->index[0]].file;

	for (size_t i = 1; i < shown->count; i++)
		if (strcmp(chart->lines[shown->index[i]].file, first) != 0)
			return true;
	return false;
}

/* Whether there is room below 0 to be left. */
static bool below_zero(const struct gk_plot_chart *chart,
		       const struct choice *shown)
{
	for (size_t i = 0; i < shown->count; i++) {
		const struct gk_plot_series *series =
		    &chart->lines[shown->index[i]].series;

		for (size_t k = 0; k < series->count; k++)
			if (series->bins[k].min < 0)
				return true;
	}
	return false;
}

static void add_heading(struct gk_buf *out, int quantity,
			const struct choice *shown, bool large)
{
	gk_buf_printf(out, "set title '%s", panels[quantity].title);
	if (shown->all > shown->count)
		gk_buf_printf(out, " (the %zu highest of %zu)", shown->count,
			      shown->all);
	gk_buf_printf(out, "'\nset ylabel '%s'\n",
		      large ? panels[quantity].large_unit
			    : panels[quantity].unit);
}

/* Points make values that stand alone visible. */
static void add_line(struct gk_buf *out, const struct gk_plot_line *line,
		     size_t index, bool named, bool points)
{
	struct gk_buf label = {0};

	if (named)
		gk_buf_printf(&label, "%s: ", line->file);
	gk_buf_puts(&label, line->label);
	gk_buf_printf(out, "%s$line%zu using 1:2 title ",
		      index ? ", " : "plot ", index);
	quote_gnuplot(out, label.data ? label.data : "", LABEL_CHARACTERS);
	gk_buf_free(&label);
	gk_buf_printf(out,
		      " with lines linecolor rgb '%s' dashtype %zu "
		      "linewidth 1.5",
		      colors[index % COUNT(colors)], index / COUNT(colors) + 1);
	if (points)
		gk_buf_printf(out,
			      ", $line%zu using 1:2 notitle with points "
			      "linecolor rgb '%s' pointtype 7 pointsize 0.3",
			      index, colors[index % COUNT(colors)]);
}

static void add_panel(struct gk_buf *out, const struct gk_plot_chart *chart,
		      int quantity, bool points, struct choice *shown)
{
	bool large;

	choose_quantity(chart, quantity, shown);
	large = shown->peak >= panels[quantity].large;
	gk_buf_puts(out, "unset label\n");
	add_heading(out, quantity, shown, large);
	if (!shown->count) {
		gk_buf_printf(out,
			      "set label '%s' at graph 0.5,0.5 center\n"
			      "plot [][0:1] NaN notitle\n",
			      panels[quantity].absent);
		return;
	}
	gk_buf_printf(out, "set yrange [%s:*]\n",
		      below_zero(chart, shown) ? "*" : "0");
	for (size_t i = 0; i < shown->count; i++)
		add_data(out, i, &chart->lines[shown->index[i]].series,
			 gk_plot_chart_gap(chart),
			 large ? panels[quantity].factor : 1);
	for (size_t i = 0; i < shown->count; i++)
		add_line(out, &chart->lines[shown->index[i]], i,
			 several_files(chart, shown), points);
	gk_buf_putc(out, '\n');
}

static void add_layout(struct gk_buf *out, const struct gk_plot_look *look,
		       unsigned count)
{
	if (look->form == GK_PLOT_TERMINAL)
		gk_buf_puts(out, "set key outside right top vertical Left "
				 "reverse maxcols 1 samplen 1\n");
	else
		gk_buf_puts(
		    out, "set offsets graph 0, graph 0, graph 0.08, graph 0\n"
			 "set key at screen 0.76, graph 1 left top "
			 "vertical Left reverse maxcols 1 maxrows 12 samplen 2 "
			 "font ',9' spacing 0.85\n");
	gk_buf_printf(out, "set multiplot layout %u,1 title ", count);
	quote_gnuplot(out, look->title, SIZE_MAX);
	/* Under the panels: times and days; between them: times and a title. */
	if (look->form != GK_PLOT_TERMINAL)
		gk_buf_printf(out, " margins 0.07,0.75,%.3f,%.3f spacing %.3f",
			      60.0 / look->height, 1 - 60.0 / look->height,
			      68.0 / look->height);
	gk_buf_putc(out, '\n');
}

void gk_plot_script(const struct gk_plot_chart *chart,
		    const struct gk_plot_look *look, struct gk_buf *out)
{
	struct choice *shown = malloc(sizeof *shown);
	unsigned count = 0;

	if (!shown) {
		out->failed = true;
		return;
	}
	for (int q = 0; q < GK_PLOT_QUANTITIES; q++)
		count += chart->wanted[q];
	add_terminal(out, look);
	add_axes(out, chart, look->form);
	add_layout(out, look, count);
	for (int q = 0; q < GK_PLOT_QUANTITIES; q++) {
		if (!chart->wanted[q])
			continue;
		if (!--count)
			add_days(out, chart);
		add_panel(out, chart, q, look->form != GK_PLOT_TERMINAL, shown);
	}
	gk_buf_puts(out, "unset multiplot\n");
	free(shown);
}
