/*
 * held.h - whether something holds back the clocks of a GPU, and how much.
 */
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

/* Percent below the highest clock from which on a power cap is noticed. */
#define GK_HELD_LEAST 10

/* How much below its highest clock a GPU runs, percent; -1: unknown. */
int gk_below_clock(const struct gk_device *device);

/* By heat, a brake or the hardware; by its power cap if that takes much. */
bool gk_held_back(const struct gk_device *device);

#endif
