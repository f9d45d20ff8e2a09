/* SPDX-License-Identifier: Apache-2.0 */
/* held.h - whether something limits the clocks of a GPU, and by how much. */
#ifndef GK_CORE_HELD_H
#define GK_CORE_HELD_H

#include <gpukit/gpukit.h>

/* Bits of nvmlClocksEventReasons. */
enum gk_held_by {
	GK_BY_POWER = 0x4,
	GK_BY_HARDWARE = 0x8,
	GK_BY_HEAT = 0x20 | 0x40,
	GK_BY_BRAKE = 0x80,
};

/* A power cap counts only if it lowers the clock by this many percent. */
#define GK_HELD_LEAST 10

/* How far below its highest clock a GPU runs, percent; -1: unknown. */
int gk_below_clock(const struct gk_device *device);

/* Whether heat, a power brake or the hardware limits the clocks, or the power
 * cap lowers them by at least GK_HELD_LEAST. */
bool gk_held_back(const struct gk_device *device);

#endif
