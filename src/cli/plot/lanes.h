/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes.h - a picture in the terminal: the lanes of `gpukit top`.
 */
#ifndef GK_CLI_PLOT_LANES_H
#define GK_CLI_PLOT_LANES_H

#include "plot/picture.h"

/* Prints the picture at the terminal's width. Returns the command's status. */
int plot_lanes(const struct gk_plot_picture *picture);

#endif
