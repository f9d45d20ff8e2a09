/*
 * read.h - recordings of any kind into a chart.
 */
#ifndef GK_CLI_PLOT_READ_H
#define GK_CLI_PLOT_READ_H

#include "plot/chart.h"

/*
 * Reads all files, "-" for standard input; what is damaged is told on stderr
 * and passed over. 0, or a gk_err that has been told.
 */
int gk_plot_read_all(char *const *files, unsigned count,
		     struct gk_plot_chart *chart);

#endif
