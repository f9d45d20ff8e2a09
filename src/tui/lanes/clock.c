/* SPDX-License-Identifier: Apache-2.0 */
/* clock.c - formats moments in local time. */
#include "tui/lanes/part.h"

#include <time.h>

void lanes_clock(uint64_t wall_ns, bool seconds, char dst[16])
{
	time_t now = (time_t)(wall_ns / 1000000000U);
	struct tm tm;

	*dst = '\0';
	if (localtime_r(&now, &tm))
		strftime(dst, 16, seconds ? "%H:%M:%S" : "%H:%M", &tm);
}
