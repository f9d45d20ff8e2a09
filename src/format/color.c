/* SPDX-License-Identifier: Apache-2.0 */
/* color.c - owns the table of ANSI colours. */
#include "format/color.h"

#include "base/assert.h"

/*
 * "\033[0;10m" would also reset the font, but some terminals print a part of
 * it.
 */
#define RESET "\033[0m"

static const char *const sequences[GK_COLOR_COUNT] = {
    [GK_PLAIN] = "",
    [GK_BOLD] = "\033[1m",
    [GK_DIM] = "\033[2m",
    [GK_RED] = "\033[31m",
    [GK_GREEN] = "\033[32m",
    [GK_YELLOW] = "\033[33m",
    [GK_BLUE] = "\033[34m",
    [GK_MAGENTA] = "\033[35m",
    [GK_CYAN] = "\033[36m",
    [GK_BOLD_RED] = "\033[1;31m",
    [GK_BOLD_GREEN] = "\033[1;32m",
    [GK_BOLD_YELLOW] = "\033[1;33m",
    [GK_BOLD_BLUE] = "\033[1;34m",
    [GK_BOLD_MAGENTA] = "\033[1;35m",
    [GK_BOLD_CYAN] = "\033[1;36m",
    [GK_BOLD_WHITE] = "\033[1;37m",
    [GK_GRAY] = "\033[1;30m",
};

void gk_color_start(struct gk_buf *out, bool on, enum gk_color color)
{
	GK_ASSERT(color < GK_COLOR_COUNT);
	if (on && color != GK_PLAIN)
		gk_buf_puts(out, sequences[color]);
}

void gk_color_end(struct gk_buf *out, bool on, enum gk_color color)
{
	if (on && color != GK_PLAIN)
		gk_buf_puts(out, RESET);
}

void gk_paint(struct gk_buf *out, bool on, enum gk_color color,
	      const char *text)
{
	gk_color_start(out, on, color);
	gk_buf_puts(out, text);
	gk_color_end(out, on, color);
}
