/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - time, always in nanoseconds as uint64_t.
 */
#ifndef GK_BASE_CLOCK_H
#define GK_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define GK_NS_PER_S  1000000000ULL
#define GK_NS_PER_MS 1000000ULL
#define GK_NS_PER_US 1000ULL

static inline uint64_t gk_clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * GK_NS_PER_S + (uint64_t)t.tv_nsec;
}

/* Monotonic time, for intervals. */
static inline uint64_t gk_mono_ns(void)
{
	return gk_clock_ns(CLOCK_MONOTONIC);
}

/*
 * Time since boot, including suspends: the clock of the start times in /proc.
 */
static inline uint64_t gk_boot_ns(void)
{
	return gk_clock_ns(CLOCK_BOOTTIME);
}

/* Time since 1970, UTC. */
static inline uint64_t gk_wall_ns(void)
{
	return gk_clock_ns(CLOCK_REALTIME);
}

static inline struct timespec gk_timespec(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / GK_NS_PER_S),
				 .tv_nsec = (long)(ns % GK_NS_PER_S)};
}

/* Sleeps until a time of CLOCK_MONOTONIC; signals do not end it early. */
void gk_sleep_until(uint64_t mono_ns);

#endif
