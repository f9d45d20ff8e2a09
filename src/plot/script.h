/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script.h - writes a picture as a gnuplot script. Names and commands are
 * quoted, so that gnuplot does not execute anything in them.
 */
#ifndef GK_PLOT_SCRIPT_H
#define GK_PLOT_SCRIPT_H

#include "plot/picture.h"

/* The kinds of output. */
enum gk_plot_form {
	GK_PLOT_PNG,
	GK_PLOT_SVG, /* SVG can show the values at the pointer */
	GK_PLOT_PDF,
	GK_PLOT_WINDOW,
};

struct gk_plot_look {
	enum gk_plot_form form;
	unsigned width, height; /* pixels; 0: the natural size */
	bool dark;
	/* borrowed, any bytes; NULL: made from the content */
	const char *title;
	/* command line to show; borrowed, may contain any bytes */
	const char *command;
};

/*
 * Returns the number of pages of a picture. If `all` is set, every GPU is
 * shown, GK_PLOT_PAGE per page.
 */
size_t gk_plot_pages(const struct gk_plot_picture *picture, bool all);

/*
 * Appends the script of a page to `out`; pages are numbered from 0. Sets
 * out->failed when out of memory. `all` is as in gk_plot_pages().
 */
void gk_plot_script(const struct gk_plot_picture *picture,
		    const struct gk_plot_look *look, bool all, size_t page,
		    struct gk_buf *out);

#endif
