/*
 * plot.c - `gpukit plot`: recordings as a picture.
 */
#include "base/err.h"
#include "base/fs.h"
#include "cli/arg.h"
#include "cli/cmd.h"
#include "cli/output.h"
#include "cli/plot/tape.h"
#include "plot/chart.h"
#include "plot/draw.h"
#include "plot/script.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	KEY_SHOW = 0x400,
	KEY_TERM,
	KEY_PER_GPU,
	KEY_PER_PID,
	KEY_CPU,
	KEY_UTIL,
	KEY_POWER,
	KEY_TEMPERATURE,
	KEY_SIZE,
	KEY_TITLE,
};

struct plot {
	const char *output; /* NULL: a window or the terminal */
	const char *title;
	enum gk_plot_form form;
	bool chosen; /* form is what somebody asked for */
	enum gk_plot_group group;
	bool wanted[GK_PLOT_QUANTITIES];
	unsigned width, height;
	char **files;
	int file_count;
};

static const struct argp_option options[] = {
    {"output", 'o', "PICTURE", 0, "draw into a file: .png, .svg or .pdf", 1},
    {"show", KEY_SHOW, 0, 0, "draw in a window", 1},
    {"term", KEY_TERM, 0, 0, "draw in the terminal", 1},
    {"per-gpu", KEY_PER_GPU, 0, 0, "GPU memory: a line for each GPU", 2},
    {"per-pid", KEY_PER_PID, 0, 0,
     "GPU memory and utilisation: a line for each process", 2},
    {"cpu", KEY_CPU, 0, 0, "a panel of CPU time", 3},
    {"util", KEY_UTIL, 0, 0, "a panel of GPU utilisation", 3},
    {"power", KEY_POWER, 0, 0, "a panel of power", 3},
    {"temperature", KEY_TEMPERATURE, 0, 0, "a panel of temperature", 3},
    {"size", KEY_SIZE, "WxH", 0,
     "size in pixels (1200x800, longer with more than three panels)", 4},
    {"title", KEY_TITLE, "TEXT", 0, "title (the names of the files)", 4},
    {"help", 'h', 0, 0, "show this help", -1},
    {0},
};

static const struct {
	const char *suffix;
	enum gk_plot_form form;
} suffixes[] = {
    {".png", GK_PLOT_PNG},
    {".svg", GK_PLOT_SVG},
    {".pdf", GK_PLOT_PDF},
};

static const struct {
	int key;
	enum gk_plot_quantity quantity;
} panels[] = {
    {KEY_CPU, GK_PLOT_CPU},
    {KEY_UTIL, GK_PLOT_UTILIZATION},
    {KEY_POWER, GK_PLOT_POWER},
    {KEY_TEMPERATURE, GK_PLOT_TEMPERATURE},
};

static void choose_form(struct argp_state *state, enum gk_plot_form form)
{
	struct plot *plot = state->input;

	if (plot->chosen)
		argp_error(state,
			   "only one of --output, --show and --term goes");
	plot->chosen = true;
	plot->form = form;
}

static void set_output(struct argp_state *state, const char *path)
{
	struct plot *plot = state->input;
	size_t len = strlen(path);

	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
		if (len > 4 &&
		    !strcasecmp(path + len - 4, suffixes[i].suffix)) {
			choose_form(state, suffixes[i].form);
			plot->output = path;
			return;
		}
	argp_error(state,
		   "--output wants a name in .png, .svg or .pdf, not "
		   "'%s'",
		   path);
}

static void set_size(struct argp_state *state, const char *text)
{
	struct plot *plot = state->input;
	char end;

	if (sscanf(text, "%5ux%5u%c", &plot->width, &plot->height, &end) != 2 ||
	    plot->width < 200 || plot->height < 100 || plot->width > 20000 ||
	    plot->height > 20000)
		argp_error(state,
			   "--size wants pixels from 200x100 to 20000x20000, "
			   "not '%s'",
			   text);
}

static error_t parse_panel(int key, struct argp_state *state)
{
	struct plot *plot = state->input;

	for (size_t i = 0; i < sizeof panels / sizeof *panels; i++)
		if (panels[i].key == key) {
			plot->wanted[panels[i].quantity] = true;
			return 0;
		}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse_plot_option(int key, char *arg, struct argp_state *state)
{
	struct plot *plot = state->input;

	switch (key) {
	case 'o':
		set_output(state, arg);
		return 0;
	case KEY_SHOW:
		choose_form(state, GK_PLOT_WINDOW);
		return 0;
	case KEY_TERM:
		choose_form(state, GK_PLOT_TERMINAL);
		return 0;
	case KEY_PER_GPU:
		plot->group = GK_PLOT_PER_GPU;
		return 0;
	case KEY_PER_PID:
		plot->group = GK_PLOT_PER_PID;
		return 0;
	case KEY_SIZE:
		set_size(state, arg);
		return 0;
	case KEY_TITLE:
		plot->title = arg;
		return 0;
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	case ARGP_KEY_ARGS:
		plot->files = state->argv + state->next;
		plot->file_count = state->argc - state->next;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which recording? Name its file, or - for "
				  "standard input");
		return 0;
	case ARGP_KEY_END:
		if (!plot->chosen)
			argp_error(state, "where to? Say --output PICTURE, "
					  "--show or --term");
		return 0;
	default:
		return parse_panel(key, state);
	}
}

static const struct argp argp = {
    .options = options,
    .parser = parse_plot_option,
    .args_doc = "FILE...",
    .doc = "Draws recordings of `gpukit record`: GPU memory, system memory, "
	   "and what else is asked for, over time.\vExit status: 0, 1 after a "
	   "failure, 2 for a wrong option.",
};

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

	while ((r = gk_csv_next(csv, &raw)) != GK_ERR_NOT_FOUND) {
		if (!r && raw.count > (size_t)sheet->time &&
		    raw.fields[sheet->time].len == sizeof "timestamp" - 1 &&
		    gk_plot_header(&raw, sheet))
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
	} else if (r || !gk_plot_header(&raw, &sheet)) {
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
	if (broken)
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

static int read_recordings(const struct plot *plot, struct gk_plot_chart *chart)
{
	for (int i = 0; i < plot->file_count; i++) {
		int r = read_recording(plot->files[i], chart);

		if (r)
			return r;
	}
	if (chart->lines_left_out)
		fprintf(stderr,
			"gpukit plot: more than %d lines: values of the rest "
			"are left out\n",
			GK_PLOT_LINES_MAX);
	if (chart->rows)
		return 0;
	fprintf(stderr, "gpukit plot: nothing to draw: no rows\n");
	return GK_ERR_NOT_FOUND;
}

static void set_panels(const struct plot *plot, struct gk_plot_chart *chart)
{
	memcpy(chart->wanted, plot->wanted, sizeof chart->wanted);
	chart->wanted[GK_PLOT_MEMORY] = true;
	chart->wanted[GK_PLOT_SYSTEM_MEMORY] = true;
	chart->group[GK_PLOT_MEMORY] = plot->group;
	chart->group[GK_PLOT_CPU] = GK_PLOT_PER_PID;
	chart->group[GK_PLOT_UTILIZATION] =
	    plot->group == GK_PLOT_PER_PID ? GK_PLOT_PER_PID : GK_PLOT_PER_GPU;
	chart->group[GK_PLOT_POWER] = GK_PLOT_PER_GPU;
	chart->group[GK_PLOT_TEMPERATURE] = GK_PLOT_PER_GPU;
}

/* Lines of a terminal that a panel needs to be one. */
#define PANEL_LINES 8

static unsigned panels_of(const struct plot *plot)
{
	unsigned count = 2;

	for (int q = 0; q < GK_PLOT_QUANTITIES; q++)
		count += plot->wanted[q];
	return count;
}

/* Three panels fill a screen; more make the picture longer. */
static unsigned picture_height(const struct plot *plot)
{
	unsigned count = panels_of(plot);

	return count > 3 ? count * 250 : 800;
}

/* It scrolls rather than be too small to be read. */
static unsigned terminal_height(const struct plot *plot, int rows)
{
	unsigned least = panels_of(plot) * PANEL_LINES + 1;

	return rows - 1 > (int)least ? (unsigned)rows - 1 : least;
}

static struct gk_plot_look look_of(const struct plot *plot)
{
	struct gk_plot_look look = {
	    .form = plot->form,
	    .title = plot->title,
	    .width = plot->width,
	    .height = plot->height,
	};
	int columns, rows;

	if (!plot->width) {
		look.width = 1200;
		look.height = picture_height(plot);
	}
	if (plot->form != GK_PLOT_TERMINAL)
		return look;
	gk_terminal_size(&columns, &rows);
	look.width = columns > 30 ? (unsigned)columns : 30;
	look.height = terminal_height(plot, rows);
	look.color = gk_use_color(GK_COLOR_AUTO);
	return look;
}

static void add_names(const struct plot *plot, struct gk_buf *title)
{
	for (int i = 0; i < plot->file_count; i++) {
		if (i)
			gk_buf_puts(title, ", ");
		gk_buf_puts(title, plot->files[i]);
	}
}

/* Prints gnuplot's complaint, or that gnuplot is missing. */
static int tell_gnuplot_error(int r, const struct gk_buf *complaint)
{
	const char *said = complaint->data ? complaint->data : "";

	if (r == GK_ERR_NOT_FOUND)
		fprintf(stderr, "gpukit plot: gnuplot is not installed: it is "
				"in the package gnuplot-nox (gnuplot-qt for "
				"--show)\n");
	else if (r == GK_ERR_CORRUPT)
		fprintf(stderr, "gpukit plot: gnuplot cannot draw this: %.*s\n",
			(int)strcspn(said + strspn(said, "\n"), "\n"),
			said + strspn(said, "\n"));
	else
		fprintf(stderr, "gpukit plot: cannot run gnuplot: %s\n",
			gk_strerror(r));
	return GK_EXIT_FAILURE;
}

/* 0 or a failure that has been told. */
static int write_picture(const struct plot *plot, const struct gk_buf *picture)
{
	int r;

	if (plot->form == GK_PLOT_TERMINAL) {
		signal(SIGPIPE, SIG_IGN);
		return gk_write_out(picture, "plot") == GK_OUTPUT_FAILED;
	}
	r = gk_write_atomic(plot->output, picture->data, picture->len, 0666);
	if (r)
		failure("cannot write", plot->output, r);
	return r;
}

static int deliver(const struct plot *plot, const struct gk_buf *script)
{
	bool window = plot->form == GK_PLOT_WINDOW;
	struct gk_buf picture = {0}, complaint = {0};
	int r = gk_plot_draw(script, window ? NULL : &picture, &complaint);

	if (r)
		tell_gnuplot_error(r, &complaint);
	else if (!window)
		r = write_picture(plot, &picture);
	gk_buf_free(&picture);
	gk_buf_free(&complaint);
	return r ? GK_EXIT_FAILURE : GK_EXIT_OK;
}

static int draw_chart(const struct plot *plot,
		      const struct gk_plot_chart *chart)
{
	struct gk_buf script = {0}, title = {0};
	struct gk_plot_look look = look_of(plot);
	int status = GK_EXIT_FAILURE;

	if (!look.title) {
		add_names(plot, &title);
		look.title = title.data ? title.data : "";
	}
	gk_plot_script(chart, &look, &script);
	if (script.failed || title.failed)
		failure("cannot draw", look.title, GK_ERR_NOMEM);
	else
		status = deliver(plot, &script);
	gk_buf_free(&script);
	gk_buf_free(&title);
	return status;
}

static int run_plot(int argc, char **argv)
{
	struct plot plot = {0};
	struct gk_plot_chart chart;
	int status = GK_EXIT_FAILURE;

	gk_arg_parse(&argp, 0, argc, argv, &plot);
	if (plot.form == GK_PLOT_WINDOW && !getenv("DISPLAY") &&
	    !getenv("WAYLAND_DISPLAY")) {
		fprintf(stderr, "gpukit plot: --show needs a display: use "
				"--term or --output\n");
		return GK_EXIT_FAILURE;
	}
	if (gk_plot_chart_init(&chart))
		return failure("cannot draw", plot.files[0], GK_ERR_NOMEM)
			   ? GK_EXIT_FAILURE
			   : GK_EXIT_OK;
	set_panels(&plot, &chart);
	if (!read_recordings(&plot, &chart))
		status = draw_chart(&plot, &chart);
	gk_plot_chart_free(&chart);
	return status;
}

const struct gk_cmd gk_cmd_plot = {
    .name = "plot",
    .summary = "draws recordings: PNG, SVG, PDF, or in the terminal",
    .run = run_plot,
};
