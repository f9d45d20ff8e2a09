/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tape.h - reads snapshots of `gpukit record --snapshots` as rows of a chart.
 */
#ifndef GK_CLI_PLOT_TAPE_H
#define GK_CLI_PLOT_TAPE_H

#include "plot/chart.h"

/* The part of a tape that could not be read. */
struct gk_plot_losses {
	uint64_t bytes, snapshots;
};

/*
 * Adds all readable snapshots of a tape. Returns GK_ERR_INVALID if the file is
 * not a tape; other gk_err as gk_tape_open().
 */
int gk_plot_tape(const char *path, struct gk_plot_chart *chart,
		 struct gk_plot_losses *ret_losses);

#endif
