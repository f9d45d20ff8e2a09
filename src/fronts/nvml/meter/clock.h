/*
 * clock.h - clocks of the board and of its performance states, in MHz, for
 * those who tell them and those who set them.
 */
#ifndef GKF_NVML_CLOCK_H
#define GKF_NVML_CLOCK_H

#include "fronts/nvml/front.h"

struct gkf_profile;

/* The clock now, and the highest one; NOT_SUPPORTED: the board has none. */
nvmlReturn_t clock_now(const struct call *c, nvmlClockType_t type,
		       unsigned *ret_mhz);
nvmlReturn_t clock_highest(const struct call *c, nvmlClockType_t type,
			   unsigned *ret_mhz);

/*
 * The applications clock that is asked for, and the one without asking;
 * DEPRECATED where clock_apps_are_gone().
 */
nvmlReturn_t clock_app(const struct call *c, nvmlClockType_t type,
		       unsigned *ret_mhz);
nvmlReturn_t clock_app_default(const struct call *c, nvmlClockType_t type,
			       unsigned *ret_mhz);

/*
 * Drivers since 590 say that applications clocks are a thing of the past:
 * nvidia-smi -q of an H100 and of an RTX 4080 SUPER.
 */
static inline bool clock_apps_are_gone(void)
{
	return front_generation->level >= GKF_LEVEL(590, 0);
}

/* Does the board have the state? The fastest is 0, the slowest that at rest. */
bool clock_has_pstate(const struct gkf_profile *p, nvmlPstates_t pstate);

/* May these be chosen? Graphics clocks come with a memory clock. */
bool clock_is_memory(const struct gkf_profile *p, unsigned mhz);
bool clock_is_graphics(const struct gkf_profile *p, unsigned mem_mhz,
		       unsigned mhz);

#endif
