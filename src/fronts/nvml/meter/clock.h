/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - clocks of the board and of its performance states, in MHz.
 */
#ifndef GKF_NVML_CLOCK_H
#define GKF_NVML_CLOCK_H

#include "fronts/nvml/front.h"

struct gkf_profile;

/*
 * The current clock and the highest clock; NOT_SUPPORTED: the board has no
 * clock of this type.
 */
nvmlReturn_t clock_now(const struct call *c, nvmlClockType_t type,
		       unsigned *ret_mhz);
nvmlReturn_t clock_highest(const struct call *c, nvmlClockType_t type,
			   unsigned *ret_mhz);

/* The boost clock. Server boards report one, for the graphics clock only. */
nvmlReturn_t clock_boost(const struct call *c, nvmlClockType_t type,
			 unsigned *ret_mhz);

/*
 * The applications clock in effect and the default one. DEPRECATED if
 * clock_apps_are_gone().
 */
nvmlReturn_t clock_app(const struct call *c, nvmlClockType_t type,
		       unsigned *ret_mhz);
nvmlReturn_t clock_app_default(const struct call *c, nvmlClockType_t type,
			       unsigned *ret_mhz);

/*
 * Since driver 590, applications clocks are reported as deprecated; source:
 * nvidia-smi -q of an H100 and of an RTX 4080 SUPER.
 */
static inline bool clock_apps_are_gone(void)
{
	return front_generation->level >= GKF_LEVEL(590, 0);
}

/* Whether the board has the state; 0 is the fastest, and the idle state the
 * slowest. */
bool clock_has_pstate(const struct gkf_profile *p, nvmlPstates_t pstate);

/* Whether this clock can be set. The possible graphics clocks depend on the
 * memory clock. */
bool clock_is_memory(const struct gkf_profile *p, unsigned mhz);
bool clock_is_graphics(const struct gkf_profile *p, unsigned mem_mhz,
		       unsigned mhz);

#endif
