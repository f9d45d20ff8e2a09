/* SPDX-License-Identifier: Apache-2.0 */
/* parse_test.c - checks numbers with units as a person types them. */
#include "unit.h"

#include "base/err.h"
#include "base/str.h"

#include <inttypes.h>

#define KI 1024ULL
#define S  1000000000ULL

struct row {
	const char *text;
	int err;
	uint64_t value;
};

static const struct row sizes[] = {
    {"0", 0, 0},
    {"1024", 0, 1024},
    {"7B", 0, 7},
    {"1K", 0, KI},
    {"1k", 0, KI},
    {"1Ki", 0, KI},
    {"1kib", 0, KI},
    {"1KB", 0, 1000},
    {"1kb", 0, 1000},
    {"512M", 0, 512 * KI *KI},
    {"512Mi", 0, 512 * KI *KI},
    {"512MB", 0, 512000000},
    {"4G", 0, 4 * KI *KI *KI},
    {"4g", 0, 4 * KI *KI *KI},
    {"4Gi", 0, 4 * KI *KI *KI},
    {"4GB", 0, 4000000000ULL},
    {"512MiB", 0, 512 * KI *KI},
    {"80GB", 0, 80000000000ULL},
    {"60GiB", 0, 60 * KI *KI *KI},
    {"1.5GiB", 0, 3 * KI *KI *KI / 2},
    {".5K", 0, 512},
    {"2T", 0, 2 * KI *KI *KI *KI},
    {"2Ti", 0, 2 * KI *KI *KI *KI},
    {"2TiB", 0, 2 * KI *KI *KI *KI},
    {"1TB", 0, 1000000000000ULL},
    {"1e3", 0, 1000},
    {"007", 0, 7},
    {"", GK_ERR_INVALID, 0},
    {".", GK_ERR_INVALID, 0},
    {"B", GK_ERR_INVALID, 0},
    {"GiB", GK_ERR_INVALID, 0},
    {"-1", GK_ERR_INVALID, 0},
    {"+1", GK_ERR_INVALID, 0},
    {" 1", GK_ERR_INVALID, 0},
    {"1 GiB", GK_ERR_INVALID, 0},
    {"1GiB ", GK_ERR_INVALID, 0},
    {"1GiBB", GK_ERR_INVALID, 0},
    {"1i", GK_ERR_INVALID, 0},
    {"1iB", GK_ERR_INVALID, 0},
    {"1P", GK_ERR_INVALID, 0},
    {"1,5G", GK_ERR_INVALID, 0},
    {"0x10", GK_ERR_INVALID, 0},
    {"0X10", GK_ERR_INVALID, 0},
    {"inf", GK_ERR_INVALID, 0},
    {"nan", GK_ERR_INVALID, 0},
    {"infinity", GK_ERR_INVALID, 0},
    {"1e", GK_ERR_INVALID, 0},
    {"1s", GK_ERR_INVALID, 0},
    {"1e400", GK_ERR_RANGE, 0},
    {"1e19", GK_ERR_RANGE, 0},
    {"99999999999T", GK_ERR_RANGE, 0},
};

static const struct row durations[] = {
    {"0", 0, 0},
    {"10", 0, 10 * S},
    {"30s", 0, 30 * S},
    {"0.01", 0, S / 100},
    {"200ms", 0, S / 5},
    {"5us", 0, 5000},
    {"17ns", 0, 17},
    {"1.5h", 0, 5400 * S},
    {"2m", 0, 120 * S},
    {"2min", 0, 120 * S},
    {"1d", 0, 86400 * S},
    {"1D", 0, 86400 * S},
    {"", GK_ERR_INVALID, 0},
    {"s", GK_ERR_INVALID, 0},
    {"-1s", GK_ERR_INVALID, 0},
    {"1 s", GK_ERR_INVALID, 0},
    {"1w", GK_ERR_INVALID, 0},
    {"inf", GK_ERR_INVALID, 0},
    {"0x1s", GK_ERR_INVALID, 0},
    {"1sec", GK_ERR_INVALID, 0},
    {"300y", GK_ERR_INVALID, 0},
    {"999999d", GK_ERR_RANGE, 0},
    {"1e300h", GK_ERR_RANGE, 0},
};

static void check(const struct row *rows, size_t count,
		  int (*parse)(const char *, uint64_t *))
{
	for (size_t i = 0; i < count; i++) {
		uint64_t value = 4711;
		int err = parse(rows[i].text, &value);
		uint64_t want = rows[i].err ? 4711 : rows[i].value;

		if (err != rows[i].err || value != want)
			fail_msg("\"%s\": %d, %" PRIu64, rows[i].text, err,
				 value);
	}
}

static void sizes_are_bytes(void **state)
{
	(void)state;
	check(sizes, COUNT(sizes), gk_parse_size);
}

static void durations_are_nanoseconds(void **state)
{
	(void)state;
	check(durations, COUNT(durations), gk_parse_duration);
}

static const struct {
	const char *text;
	int err;
	int64_t value;
} ints[] = {
    {"0", 0, 0},
    {"-0", 0, 0},
    {"42", 0, 42},
    {"-42", 0, -42},
    {"007", 0, 7},
    {"9223372036854775807", 0, INT64_MAX},
    {"-9223372036854775808", 0, INT64_MIN},
    {"9223372036854775808", GK_ERR_RANGE, 0},
    {"-9223372036854775809", GK_ERR_RANGE, 0},
    {"99999999999999999999999", GK_ERR_RANGE, 0},
    {"99999999999999999999999x", GK_ERR_INVALID, 0},
    {"", GK_ERR_INVALID, 0},
    {"-", GK_ERR_INVALID, 0},
    {"--1", GK_ERR_INVALID, 0},
    {"+1", GK_ERR_INVALID, 0},
    {" 1", GK_ERR_INVALID, 0},
    {"- 1", GK_ERR_INVALID, 0},
    {"1 ", GK_ERR_INVALID, 0},
    {"1.0", GK_ERR_INVALID, 0},
    {"0x10", GK_ERR_INVALID, 0},
    {"1e3", GK_ERR_INVALID, 0},
    {"inf", GK_ERR_INVALID, 0},
    {"abc", GK_ERR_INVALID, 0},
};

static void integers_are_whole_texts(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(ints); i++) {
		int64_t value = 4711;
		int err = gk_parse_int(ints[i].text, &value);
		int64_t want = ints[i].err ? 4711 : ints[i].value;

		if (err != ints[i].err || value != want)
			fail_msg("\"%s\": %d, %" PRId64, ints[i].text, err,
				 value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sizes_are_bytes),
	    cmocka_unit_test(durations_are_nanoseconds),
	    cmocka_unit_test(integers_are_whole_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
