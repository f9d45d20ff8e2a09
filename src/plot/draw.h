/*
 * draw.h - runs gnuplot on a script.
 */
#ifndef GK_PLOT_DRAW_H
#define GK_PLOT_DRAW_H

#include "base/str.h"

/*
 * Runs gnuplot on a script. picture not NULL: takes what it draws; NULL: that
 * goes into a window that stays. 0; GK_ERR_NOT_FOUND:
 * there is no gnuplot; GK_ERR_CORRUPT: it could not draw, and complaint (not
 * NULL) has what it said; another gk_err.
 */
int gk_plot_draw(const struct gk_buf *script, struct gk_buf *picture,
		 struct gk_buf *complaint);

#endif
