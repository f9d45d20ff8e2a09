/* SPDX-License-Identifier: Apache-2.0 */
/* parse.c - parses numbers with units, as people type them. */
#include "base/err.h"
#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct unit {
	const char *name;
	double factor;
};

#define KI 1024.0

/* A unit is decimal only if it ends in B without an i before it. */
static const struct unit size_units[] = {
    {"", 1},
    {"B", 1},
    {"K", KI},
    {"Ki", KI},
    {"KiB", KI},
    {"KB", 1e3},
    {"M", KI *KI},
    {"Mi", KI *KI},
    {"MiB", KI *KI},
    {"MB", 1e6},
    {"G", KI *KI *KI},
    {"Gi", KI *KI *KI},
    {"GiB", KI *KI *KI},
    {"GB", 1e9},
    {"T", KI *KI *KI *KI},
    {"Ti", KI *KI *KI *KI},
    {"TiB", KI *KI *KI *KI},
    {"TB", 1e12},
    {NULL, 0},
};

static const struct unit time_units[] = {
    {"", 1e9},   {"ns", 1},     {"us", 1e3},   {"ms", 1e6},    {"s", 1e9},
    {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}, {"d", 86400e9}, {NULL, 0},
};

int gk_parse_int(const char *text, int64_t *ret_value)
{
	char *end;
	long long value;

	if (!isdigit((unsigned char)text[*text == '-']))
		return GK_ERR_INVALID;
	errno = 0;
	value = strtoll(text, &end, 10);
	if (*end)
		return GK_ERR_INVALID;
	if (errno == ERANGE)
		return GK_ERR_RANGE;
	*ret_value = value;
	return 0;
}

static int parse_scaled(const char *text, const struct unit *units,
			uint64_t *ret_value)
{
	char *end;
	double value;

	/* strtod() would also accept "inf", "nan" and "0x10". */
	if (!isdigit((unsigned char)*text) && *text != '.')
		return GK_ERR_INVALID;
	if (text[0] == '0' && tolower((unsigned char)text[1]) == 'x')
		return GK_ERR_INVALID;
	value = strtod(text, &end);
	if (end == text)
		return GK_ERR_INVALID;
	while (units->name && strcasecmp(units->name, end))
		units++;
	if (!units->name)
		return GK_ERR_INVALID;
	value = value * units->factor + 0.5;
	if (!(value < 9.2e18))
		return GK_ERR_RANGE;
	*ret_value = (uint64_t)value;
	return 0;
}

int gk_parse_size(const char *text, uint64_t *ret_bytes)
{
	return parse_scaled(text, size_units, ret_bytes);
}

int gk_parse_duration(const char *text, uint64_t *ret_ns)
{
	return parse_scaled(text, time_units, ret_ns);
}
