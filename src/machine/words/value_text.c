/* SPDX-License-Identifier: Apache-2.0 */
/* value_text.c - parses numbers with units; see spec.h. */
#include "base/err.h"
#include "base/str.h"
#include "machine/file/clock_state.h"
#include "machine/words/spec.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Suffixes allowed after a number, by the unit of the value. */
static const struct {
	const char *unit, *suffix;
	double factor;
} suffixes[] = {
    {"mW", "W", 1e3},      {"mW", "kW", 1e6},   {"mJ", "J", 1e3},
    {"mJ", "kJ", 1e6},     {"MHz", "GHz", 1e3}, {"KB/s", "MB/s", 1e3},
    {"KB/s", "GB/s", 1e6},
};

static int parse_with_unit(const char *text, const char *unit,
			   int64_t *ret_value)
{
	char *end;
	double number = strtod(text, &end);

	if (end == text || !strspn(text, "-.0123456789"))
		return GK_ERR_INVALID;
	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
		if (strcmp(suffixes[i].unit, unit) ||
		    strcasecmp(suffixes[i].suffix, end))
			continue;
		number *= suffixes[i].factor;
		if (!(number > -9e18 && number < 9e18))
			return GK_ERR_RANGE;
		*ret_value = (int64_t)(number + (number < 0 ? -0.5 : 0.5));
		return 0;
	}
	return GK_ERR_INVALID;
}

/*
 * A number without a unit is in KiB, as in `show`; other texts are sizes in
 * bytes, such as "1MiB".
 */
static int parse_kib(const char *text, int64_t *ret_value)
{
	uint64_t bytes;
	int err;

	if (!gk_parse_int(text, ret_value))
		return 0;
	err = gk_parse_size(text, &bytes);
	if (!err && bytes % 1024)
		return GK_ERR_INVALID;
	if (!err)
		*ret_value = (int64_t)(bytes / 1024);
	return err;
}

static int parse_hexadecimal(const char *text, int64_t *ret_value)
{
	char *end;
	long long value;

	if (!isxdigit((unsigned char)text[2]))
		return GK_ERR_INVALID;
	errno = 0;
	value = strtoll(text, &end, 16);
	if (*end)
		return GK_ERR_INVALID;
	if (errno)
		return GK_ERR_RANGE;
	*ret_value = value;
	return 0;
}

int gkf_spec_value(const char *text, const char *unit, int64_t *ret_value)
{
	size_t len = strlen(text), tail = strlen(unit);
	char number[64];
	uint64_t bytes;

	if (!strcmp(unit, "B")) {
		int err = gk_parse_size(text, &bytes);

		if (!err)
			*ret_value = (int64_t)bytes;
		return err;
	}
	if (!strcmp(unit, "KiB"))
		return parse_kib(text, ret_value);
	if (!strncmp(text, "0x", 2) && !*unit)
		return parse_hexadecimal(text, ret_value);
	if (len >= sizeof number)
		return GK_ERR_INVALID;
	memcpy(number, text, len + 1);
	if (tail && len > tail && !strcasecmp(number + len - tail, unit))
		number[len - tail] = '\0';
	return gk_parse_int(number, ret_value)
		   ? parse_with_unit(text, unit, ret_value)
		   : 0;
}

int gkf_speed_parse(const char *text, uint64_t *ret_permille)
{
	char *end;
	double speed = strtod(text, &end);

	if (end == text || *end || strspn(text, ".0123456789") != strlen(text))
		return GK_ERR_INVALID;
	speed = speed * 1000 + 0.5;
	if (!(speed >= 1 && speed < GKF_SPEED_MAX + 1))
		return GK_ERR_RANGE;
	*ret_permille = (uint64_t)speed;
	return 0;
}
