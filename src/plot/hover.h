/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hover.h - shows the values at the pointer, in SVG.
 */
#ifndef GK_PLOT_HOVER_H
#define GK_PLOT_HOVER_H

#include "plot/page.h"

/* Draws invisible marks over a cell. Changes gnuplot's margins and tics. */
void gk_plot_hover(struct gk_plot_page *page, const struct gk_plot_cell *cell);

#endif
