/*
 * script.h - a chart as a script of gnuplot's. Names and commands go into it
 * as data: quoted, so that nothing in them is a command.
 */
#ifndef GK_PLOT_SCRIPT_H
#define GK_PLOT_SCRIPT_H

#include "base/str.h"
#include "plot/chart.h"

/* The kind of output that the picture is for. */
enum gk_plot_form {
	GK_PLOT_PNG,
	GK_PLOT_SVG,
	GK_PLOT_PDF,
	GK_PLOT_WINDOW,
	GK_PLOT_TERMINAL, /* width and height are columns and rows */
};

struct gk_plot_look {
	enum gk_plot_form form;
	unsigned width, height; /* pixels */
	bool color;             /* of a terminal */
	const char *title;      /* borrowed, any bytes */
};

/* Adds the whole script; out->failed tells that memory ran out. */
void gk_plot_script(const struct gk_plot_chart *chart,
		    const struct gk_plot_look *look, struct gk_buf *out);

#endif
