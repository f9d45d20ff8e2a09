/*
 * tape.h - snapshots of `gpukit record --snapshots` as rows of a chart.
 */
#ifndef GK_CLI_PLOT_TAPE_H
#define GK_CLI_PLOT_TAPE_H

#include "plot/chart.h"

/* The part of a tape that could not be read. */
struct gk_plot_losses {
	uint64_t bytes, snapshots;
};

/*
 * Adds all snapshots of a tape that can be read. GK_ERR_INVALID: the file is no
 * tape. Other gk_err as gk_tape_open() has.
 */
int gk_plot_tape(const char *path, struct gk_plot_chart *chart,
		 struct gk_plot_losses *ret_losses);

#endif
