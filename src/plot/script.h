/*
 * script.h - a picture as a script of gnuplot's. Names and commands go into it
 * as data: quoted, so that nothing in them is a command.
 */
#ifndef GK_PLOT_SCRIPT_H
#define GK_PLOT_SCRIPT_H

#include "plot/picture.h"

/* The kind of output that the picture is for. */
enum gk_plot_form {
	GK_PLOT_PNG,
	GK_PLOT_SVG, /* with values under the pointer */
	GK_PLOT_PDF,
	GK_PLOT_WINDOW,
};

struct gk_plot_look {
	enum gk_plot_form form;
	unsigned width, height; /* pixels; 0: as the picture needs */
	bool dark;
	const char *title;   /* borrowed, any bytes; NULL: what it shows */
	const char *command; /* what it was drawn by, the same */
};

/* How many pages a picture takes, of GK_PLOT_PAGE GPUs each with all. */
size_t gk_plot_pages(const struct gk_plot_picture *picture, bool all);

/*
 * Adds the whole script of a page, from 0 on; out->failed tells that memory
 * ran out. all: as in gk_plot_pages().
 */
void gk_plot_script(const struct gk_plot_picture *picture,
		    const struct gk_plot_look *look, bool all, size_t page,
		    struct gk_buf *out);

#endif
