/*
 * summary.h - figures of each GPU and process: what people tune jobs by.
 */
#ifndef GK_CLI_PLOT_SUMMARY_H
#define GK_CLI_PLOT_SUMMARY_H

#include "plot/chart.h"

/* Prints them as text or JSON. The status of the command. */
int plot_summary(const struct gk_plot_chart *chart, bool json);

#endif
