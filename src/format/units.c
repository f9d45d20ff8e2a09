/* SPDX-License-Identifier: Apache-2.0 */
/* units.c - formats numbers with their units. */
#include "format/units.h"

#include "base/clock.h"
#include "base/round.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define KI 1024LL
#define MI (1024 * KI)
#define GI (1024 * MI)
#define TI (1024 * GI)

/*
 * In ascending order of `below`. A size uses the first row whose `below` is
 * greater.
 */
static const struct {
	int64_t below;
	int64_t unit;
	int decimals;
	const char *name;
} sizes[] = {
    {KI, 1, 0, "B"},           {MI, KI, 0, "KiB"},
    {100 * MI, MI, 2, "MiB"},  {1000 * MI, MI, 1, "MiB"},
    {20 * GI, MI, 0, "MiB"},   {100 * GI, GI, 2, "GiB"},
    {1000 * GI, GI, 1, "GiB"}, {100 * TI, TI, 2, "TiB"},
    {INT64_MAX, TI, 1, "TiB"},
};

char *gk_human_size(char *dst, int64_t bytes)
{
	double size = (double)bytes;
	size_t i = 0;

	while (sizes[i].below != INT64_MAX && bytes >= sizes[i].below)
		i++;
	if (sizes[i].unit > 1)
		size = gk_half_up(size / (double)sizes[i].unit);
	snprintf(dst, GK_UNITS_MAX, "%.*f%s", sizes[i].decimals, size,
		 sizes[i].name);
	return dst;
}

char *gk_short_size(char *dst, int64_t bytes)
{
	static const char *const names[] = {"B",  "KB", "MB", "GB",
					    "TB", "PB", "EB"};
	size_t i = 0;

	for (; bytes > 9999 && i + 1 < sizeof names / sizeof *names; i++)
		bytes >>= 10;
	snprintf(dst, GK_UNITS_MAX, "%" PRId64 "%s", bytes, names[i]);
	return dst;
}

char *gk_human_time(char *dst, int64_t ns, int days_from)
{
	int64_t s = ns / (int64_t)GK_NS_PER_S;

	if (s >= days_from * 86400LL)
		snprintf(dst, GK_UNITS_MAX, "%.1f days",
			 gk_half_up((double)s / 86400.0));
	else if (s >= 3600)
		snprintf(dst, GK_UNITS_MAX, "%d:%02d:%02d", (int)(s / 3600),
			 (int)(s / 60 % 60), (int)(s % 60));
	else
		snprintf(dst, GK_UNITS_MAX, "%d:%02d", (int)(s / 60),
			 (int)(s % 60));
	return dst;
}

char *gk_human_watts(char *dst, int64_t milliwatts)
{
	snprintf(dst, GK_UNITS_MAX, "%.0fW",
		 gk_half_up((double)milliwatts / 1000.0));
	return dst;
}

/* Formats value / 10^decimals with exactly that many decimals. */
static char *write_fixed(char *dst, int64_t value, int decimals)
{
	uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;
	uint64_t scale = 1;

	for (int i = 0; i < decimals; i++)
		scale *= 10;
	snprintf(dst, GK_UNITS_MAX, "%s%" PRIu64 ".%0*" PRIu64,
		 value < 0 ? "-" : "", magnitude / scale, decimals,
		 magnitude % scale);
	return dst;
}

/*
 * Does not use printf(), since a frame of JSON contains many hundreds of
 * integers.
 */
static char *format_integer(char *dst, int64_t value)
{
	uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;
	char *p = dst + GK_UNITS_MAX - 1;

	*p = '\0';
	do
		*--p = (char)('0' + magnitude % 10);
	while (magnitude /= 10);
	if (value < 0)
		*--p = '-';
	return memmove(dst, p, (size_t)(dst + GK_UNITS_MAX - p));
}

char *gk_number(char *dst, int64_t value, enum gk_unit unit)
{
	if (unit == GK_UNIT_MILLIWATT || unit == GK_UNIT_MILLIJOULE)
		return write_fixed(dst, value, 3);
	if (unit == GK_UNIT_NANOSECOND)
		return write_fixed(dst, value / (int64_t)GK_NS_PER_MS, 3);
	if (unit == GK_UNIT_CENTIPERCENT)
		return write_fixed(dst, value, 2);
	return format_integer(dst, value);
}

char *gk_utc_time(char *dst, uint64_t wall_ns)
{
	time_t s = (time_t)(wall_ns / GK_NS_PER_S);
	struct tm tm;
	size_t n;

	gmtime_r(&s, &tm);
	n = strftime(dst, GK_UNITS_MAX, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(dst + n, GK_UNITS_MAX - n, ".%06uZ",
		 (unsigned)(wall_ns % GK_NS_PER_S / GK_NS_PER_US));
	return dst;
}

char *gk_local_time(char *dst, uint64_t wall_ns)
{
	time_t s = (time_t)(wall_ns / GK_NS_PER_S);
	struct tm tm;

	localtime_r(&s, &tm);
	if (!strftime(dst, GK_UNITS_MAX, "%a %b %e %H:%M:%S %Y", &tm))
		*dst = '\0';
	return dst;
}

char *gk_cuda_version(char *dst, int version)
{
	if (version)
		snprintf(dst, GK_UNITS_MAX, "%d.%d", version / 1000,
			 version % 1000 / 10);
	else
		snprintf(dst, GK_UNITS_MAX, "N/A");
	return dst;
}
