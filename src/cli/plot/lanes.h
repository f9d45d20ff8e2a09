/*
 * lanes.h - a picture in the terminal: the lanes of `gpukit top`.
 */
#ifndef GK_CLI_PLOT_LANES_H
#define GK_CLI_PLOT_LANES_H

#include "plot/picture.h"

/* Prints it, as wide as the terminal. The status of the command. */
int plot_lanes(const struct gk_plot_picture *picture);

#endif
