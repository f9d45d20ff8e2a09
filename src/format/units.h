/*
 * units.h - integers in base units as people and as programs read them.
 *
 * Each function writes a NUL-terminated text to dst, which has room for
 * GK_UNITS_MAX bytes, and returns dst.
 */
#ifndef GK_FORMAT_UNITS_H
#define GK_FORMAT_UNITS_H

#include <gpukit/gpukit.h>

#define GK_UNITS_MAX 48

/*
 * Bytes with three or more digits that matter: 512B, 8KiB, 12.50MiB,
 * 15000MiB, 80.00GiB.
 */
char *gk_human_size(char *dst, int64_t bytes);

/* Bytes as whole numbers up to 9999 of a unit: 19MB, 1024MB, 12GB. */
char *gk_short_size(char *dst, int64_t bytes);

/* Nanoseconds as 4:22, 1:02:03, and from the given day on 4.2 days. */
char *gk_human_time(char *dst, int64_t ns, int days_from);

/* Milliwatts as whole watts, rounded: 68W. */
char *gk_human_watts(char *dst, int64_t milliwatts);

/*
 * A number in the unit that the name of a metric ends in: milliwatts as
 * watts with 3 decimals, nanoseconds as seconds with 3, hundredths of a
 * percent with 2, all others as they are. Exact for any int64_t (only
 * nanoseconds are cut).
 */
char *gk_number(char *dst, int64_t value, enum gk_unit unit);

/* A moment since 1970 in UTC: 2026-11-21T01:42:38.123456Z. */
char *gk_utc_time(char *dst, uint64_t wall_ns);

/* The same in local time, as the C locale writes dates. */
char *gk_local_time(char *dst, uint64_t wall_ns);

/* 13000 as 13.0, and N/A for 0. */
char *gk_cuda_version(char *dst, int version);

#endif
