/* SPDX-License-Identifier: Apache-2.0 */
/* held.c - decides whether the clocks are limited, from their event reasons. */
#include "core/read/held.h"

int gk_below_clock(const struct gk_device *d)
{
	struct gk_value now = d->m[GK_M_SM_CLOCK];
	struct gk_value most = d->m[GK_M_SM_CLOCK_MAX];
	double share;

	if (now.why != GK_PRESENT || most.why != GK_PRESENT || most.v <= 0)
		return -1;
	share = (double)now.v / (double)most.v;
	return share >= 1 ? 0 : (int)(100 * (1 - share) + 0.5);
}

bool gk_held_back(const struct gk_device *d)
{
	struct gk_value why = d->m[GK_M_THROTTLE];

	if (why.why != GK_PRESENT)
		return false;
	return why.v & (GK_BY_HEAT | GK_BY_BRAKE | GK_BY_HARDWARE) ||
	       (why.v & GK_BY_POWER && gk_below_clock(d) >= GK_HELD_LEAST);
}
