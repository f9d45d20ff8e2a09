/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draw.h - runs gnuplot on a script.
 */
#ifndef GK_PLOT_DRAW_H
#define GK_PLOT_DRAW_H

#include "base/str.h"

/*
 * Runs gnuplot on a script. `picture` receives the result. If it is NULL,
 * gnuplot shows a window, which remains open. Returns 0; GK_ERR_NOT_FOUND if
 * gnuplot is missing; GK_ERR_CORRUPT if gnuplot failed, with its message in
 * `complaint` (not NULL); or another gk_err.
 */
int gk_plot_draw(const struct gk_buf *script, struct gk_buf *picture,
		 struct gk_buf *complaint);

#endif
