/* SPDX-License-Identifier: Apache-2.0 */
/* color.h - the colours of all text output of gpukit, as ANSI sequences. */
#ifndef GK_FORMAT_COLOR_H
#define GK_FORMAT_COLOR_H

#include "base/str.h"

enum gk_color {
	GK_PLAIN,
	GK_BOLD,
	GK_DIM,
	GK_RED,
	GK_GREEN,
	GK_YELLOW,
	GK_BLUE,
	GK_MAGENTA,
	GK_CYAN,
	GK_BOLD_RED,
	GK_BOLD_GREEN,
	GK_BOLD_YELLOW,
	GK_BOLD_BLUE,
	GK_BOLD_MAGENTA,
	GK_BOLD_CYAN,
	GK_BOLD_WHITE,
	GK_GRAY,
	GK_COLOR_COUNT
};

/* Starts a colour; adds nothing if `on` is false or the colour is plain. */
void gk_color_start(struct gk_buf *out, bool on, enum gk_color color);

/* Ends the colour that gk_color_start() started with the same arguments. */
void gk_color_end(struct gk_buf *out, bool on, enum gk_color color);

/* Adds a text in a colour. */
void gk_paint(struct gk_buf *out, bool on, enum gk_color color,
	      const char *text);

#endif
