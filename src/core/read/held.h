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

/* A power cap counts as a limit only if it lowers the clock by this
 * percentage. */
#define GK_HELD_LEAST 10

/* By what percentage a GPU runs below its highest clock; -1: unknown. */
int gk_below_clock(const struct gk_device *device);

/* Whether the clocks are limited by heat, a power brake or the hardware, or
 * lowered by a power cap by at least GK_HELD_LEAST. */
bool gk_held_back(const struct gk_device *device);

#endif
