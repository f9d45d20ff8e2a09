/* SPDX-License-Identifier: Apache-2.0 */
/* clock.c - sleeps until a given time. */
#include "base/clock.h"

#include <errno.h>

void gk_sleep_until(uint64_t mono_ns)
{
	struct timespec t = gk_timespec(mono_ns);

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) ==
	       EINTR)
		;
}
