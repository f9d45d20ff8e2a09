/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plot.c - `gpukit plot`: draws recordings as pictures, in the terminal, or as
 * figures.
 */
#include "base/err.h"
#include "base/fs.h"
#include "cli/cmd.h"
#include "cli/output.h"
#include "cli/plot/lanes.h"
#include "cli/plot/options.h"
#include "cli/plot/read.h"
#include "cli/plot/summary.h"
#include "plot/draw.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints gnuplot's error, or that gnuplot is missing. */
static int tell_gnuplot_error(int r, const struct gk_buf *complaint)
{
	const char *said = complaint->data ? complaint->data : "";

	if (r == GK_ERR_NOT_FOUND)
		fprintf(stderr,
			"gpukit plot: gnuplot is not installed: it is in the "
			"package gnuplot-nox (gnuplot-qt for --show); --term "
			"and --summary do not need it\n");
	else if (r == GK_ERR_CORRUPT)
		fprintf(stderr, "gpukit plot: gnuplot cannot draw this: %.*s\n",
			(int)strcspn(said + strspn(said, "\n"), "\n"),
			said + strspn(said, "\n"));
	else
		fprintf(stderr, "gpukit plot: cannot run gnuplot: %s\n",
			gk_strerror(r));
	return GK_EXIT_FAILURE;
}

/* ---- pictures ---- */

/* Turns "gpu_log.csv" into "gpu_log.png", in the current directory. */
static void name_picture(const char *file, struct gk_buf *out)
{
	const char *slash = strrchr(file, '/');
	const char *name = slash ? slash + 1 : file;
	const char *dot = strrchr(name, '.');

	if (!strcmp(file, "-") || !*name)
		gk_buf_puts(out, "plot");
	else
		gk_buf_add(out, name,
			   dot && dot > name ? (size_t)(dot - name)
					     : strlen(name));
	gk_buf_puts(out, ".png");
}

/* Puts the page number before the extension of the name. */
static void number_picture(struct gk_buf *name, size_t page)
{
	char tail[5] = "", number[32];

	memcpy(tail, name->data + name->len - 4, 4);
	name->len -= 4;
	snprintf(number, sizeof number, "-%zu", page + 1);
	gk_buf_puts(name, number);
	gk_buf_puts(name, tail);
}

static int write_picture(const struct plot_options *o, size_t page,
			 size_t pages, const struct gk_buf *picture)
{
	struct gk_buf name = {0};
	int r = GK_ERR_NOMEM;

	if (o->output)
		gk_buf_puts(&name, o->output);
	else
		name_picture(o->files[0], &name);
	if (pages > 1 && !name.failed)
		number_picture(&name, page);
	if (!name.failed)
		r = gk_write_atomic(name.data, picture->data, picture->len,
				    0666);
	if (r)
		plot_failure("cannot write", name.data ? name.data : "", r);
	else if (!o->output)
		printf("%s\n", name.data);
	gk_buf_free(&name);
	return r ? GK_EXIT_FAILURE : GK_EXIT_OK;
}

static int draw_page(const struct plot_options *o,
		     const struct gk_plot_picture *picture, size_t page,
		     size_t pages)
{
	bool window = o->way == PLOT_TO_WINDOW;
	struct gk_buf script = {0}, drawn = {0}, complaint = {0};
	int status = GK_EXIT_OK, r;

	gk_plot_script(picture, &o->look, o->wish.all, page, &script);
	r = script.failed
		? GK_ERR_NOMEM
		: gk_plot_draw(&script, window ? NULL : &drawn, &complaint);
	if (r)
		status = tell_gnuplot_error(r, &complaint);
	else if (!window)
		status = write_picture(o, page, pages, &drawn);
	gk_buf_free(&script);
	gk_buf_free(&drawn);
	gk_buf_free(&complaint);
	return status;
}

static int draw_pages(const struct plot_options *o,
		      const struct gk_plot_picture *picture)
{
	size_t pages = gk_plot_pages(picture, o->wish.all);
	int status = GK_EXIT_OK;

	for (size_t page = 0; page < pages && !status; page++)
		status = draw_page(o, picture, page, pages);
	return status;
}

static int draw_chart(struct plot_options *o, const struct gk_plot_chart *chart)
{
	struct gk_plot_picture picture;
	int status, r = gk_plot_picture_new(chart, &o->wish, &picture);

	if (r == GK_ERR_NOT_FOUND) {
		fprintf(stderr, "gpukit plot: nothing to draw: the recording "
				"has none of these columns\n");
		return GK_EXIT_FAILURE;
	}
	if (r) {
		plot_failure("cannot draw", o->files[0], r);
		return GK_EXIT_FAILURE;
	}
	status = o->way == PLOT_TO_TERMINAL ? plot_lanes(&picture)
					    : draw_pages(o, &picture);
	gk_plot_picture_free(&picture);
	return status;
}

/* ---- the verb ---- */

static bool has_display(void)
{
	if (getenv("DISPLAY") || getenv("WAYLAND_DISPLAY"))
		return true;
	fprintf(stderr, "gpukit plot: --show needs a display: use --term or "
			"--output\n");
	return false;
}

/* Sets the command line that the picture shows as its source. */
static void set_command(struct plot_options *o, struct gk_buf *command)
{
	gk_buf_puts(command, "gpukit plot");
	for (unsigned i = 0; i < o->file_count; i++)
		gk_buf_printf(command, " %s", o->files[i]);
	o->look.command = command->data ? command->data : "gpukit plot";
}

static void set_chart(const struct plot_options *o, struct gk_plot_chart *chart)
{
	chart->asked = o->asked;
	chart->aligned = o->compare;
	chart->process_lines = o->wish.by_owner;
	chart->filter = (struct gk_plot_filter){
	    .from = o->from,
	    .to = o->to,
	    .gpus = o->gpus.words,
	    .gpu_count = o->gpus.count,
	    .pids = o->pids.words,
	    .pid_count = o->pids.count,
	};
}

static int plot_recordings(struct plot_options *o)
{
	struct gk_plot_chart chart;
	struct gk_buf command = {0};
	int status = GK_EXIT_FAILURE, r;

	if (o->way == PLOT_TO_WINDOW && !has_display())
		return GK_EXIT_FAILURE;
	r = gk_plot_chart_init(&chart);
	if (r) {
		plot_failure("cannot draw", o->files[0], r);
		return GK_EXIT_FAILURE;
	}
	signal(SIGPIPE, SIG_IGN);
	set_command(o, &command);
	set_chart(o, &chart);
	if (!gk_plot_read_all(o->files, o->file_count, &chart))
		status = o->way == PLOT_SUMMARY ? plot_summary(&chart, o->json)
						: draw_chart(o, &chart);
	gk_plot_chart_free(&chart);
	gk_buf_free(&command);
	return status;
}

static int run_plot(int argc, char **argv)
{
	struct plot_options options = {0};
	int status;

	plot_options_parse(argc, argv, &options);
	status = plot_recordings(&options);
	plot_options_free(&options);
	return status;
}

const struct gk_cmd gk_cmd_plot = {
    .name = "plot",
    .summary = "draws recordings: PNG, SVG, PDF, or in the terminal",
    .run = run_plot,
};
