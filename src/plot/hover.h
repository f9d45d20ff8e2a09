/*
 * hover.h - values under the pointer, in SVG.
 */
#ifndef GK_PLOT_HOVER_H
#define GK_PLOT_HOVER_H

#include "plot/page.h"

/* Adds a plot over that of the cell, which it spoils margins and tics of. */
void gk_plot_hover(struct gk_plot_page *page, const struct gk_plot_cell *cell);

#endif
