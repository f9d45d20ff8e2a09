/* SPDX-License-Identifier: Apache-2.0 */
/* read.h - reads recordings of any kind into a chart. */
#ifndef GK_CLI_PLOT_READ_H
#define GK_CLI_PLOT_READ_H

#include "plot/chart.h"

/* Prints what could not be done with a file, and why. Returns err. */
int plot_failure(const char *what, const char *name, int err);

/*
 * Reads all files; "-" is standard input. Skips damaged parts, with a message
 * on stderr. Returns 0, or a gk_err after a message.
 */
int gk_plot_read_all(const char *const *files, unsigned count,
		     struct gk_plot_chart *chart);

#endif
