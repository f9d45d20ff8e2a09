/* SPDX-License-Identifier: Apache-2.0 */
/*
 * units.h - formats integers in base units, for people and for programs. Each
 * function writes a NUL-terminated text to dst, which must have GK_UNITS_MAX
 * bytes, and returns dst.
 */
#ifndef GK_FORMAT_UNITS_H
#define GK_FORMAT_UNITS_H

#include <gpukit/gpukit.h>

#define GK_UNITS_MAX 48

/*
 * Formats bytes with at least three significant digits: 512B, 8KiB, 12.50MiB,
 * 15000MiB, 80.00GiB.
 */
char *gk_human_size(char *dst, int64_t bytes);

/*
 * Formats bytes as a whole number of at most 9999 of a unit: 19MB, 1024MB,
 * 12GB.
 */
char *gk_short_size(char *dst, int64_t bytes);

/*
 * Formats nanoseconds as 4:22 or 1:02:03; if they are at least days_from days,
 * as 4.2 days.
 */
char *gk_human_time(char *dst, int64_t ns, int days_from);

/* Formats milliwatts as whole watts, rounded: 68W. */
char *gk_human_watts(char *dst, int64_t milliwatts);

/*
 * Formats a number in the unit that ends the metric's name: milliwatts as watts
 * with 3 decimals, nanoseconds as seconds with 3 decimals, hundredths of a
 * percent as percent with 2 decimals, all others unchanged. Exact for any
 * int64_t, except that nanoseconds are truncated.
 */
char *gk_number(char *dst, int64_t value, enum gk_unit unit);

/* Formats a time since 1970 in UTC: 2026-11-21T01:42:38.123456Z. */
char *gk_utc_time(char *dst, uint64_t wall_ns);

/* Formats a time since 1970 in local time, in the C locale's format. */
char *gk_local_time(char *dst, uint64_t wall_ns);

/* Formats CUDA's version: 13000 as 13.0, 0 as N/A. */
char *gk_cuda_version(char *dst, int version);

#endif
