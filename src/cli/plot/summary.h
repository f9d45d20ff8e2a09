/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary.h - prints figures of each GPU and process, for people who tune jobs.
 */
#ifndef GK_CLI_PLOT_SUMMARY_H
#define GK_CLI_PLOT_SUMMARY_H

#include "plot/chart.h"

/*
 * Prints the figures of a chart as text or JSON. Returns the command's status.
 */
int plot_summary(const struct gk_plot_chart *chart, bool json);

#endif
