/* SPDX-License-Identifier: Apache-2.0 */
/* units_test.c - checks numbers as people and programs read them. */
#include "base/array.h"
#include "format/fixture.h"
#include "format/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define KI 1024LL
#define MI (1024 * KI)
#define GI (1024 * MI)

static void sizes_have_the_digits_that_matter(void **state)
{
	static const struct {
		int64_t bytes;
		const char *text;
	} rows[] = {
	    {0, "0B"},
	    {1023, "1023B"},
	    {KI, "1KiB"},
	    {MI - 1, "1024KiB"},
	    {MI, "1.00MiB"},
	    {12 * MI + MI / 2, "12.50MiB"},
	    {100 * MI, "100.0MiB"},
	    {1000 * MI, "1000MiB"},
	    {15000 * MI, "15000MiB"},
	    {20 * GI - 1, "20480MiB"},
	    {20 * GI, "20.00GiB"},
	    {80 * GI, "80.00GiB"},
	    {100 * GI, "100.0GiB"},
	    {1000 * GI, "0.98TiB"},
	    {INT64_MAX, "8388608.0TiB"},
	    {INT64_MIN, "-9223372036854775808B"},
	};
	char text[GK_UNITS_MAX];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_string_equal(gk_human_size(text, rows[i].bytes),
				    rows[i].text);
	assert_string_equal(gk_short_size(text, 19 * MI), "19MB");
	assert_string_equal(gk_short_size(text, 9999), "9999B");
	assert_string_equal(gk_short_size(text, 10000), "9KB");
	assert_string_equal(gk_short_size(text, INT64_MAX), "8191PB");
}

static void times_grow_from_minutes_to_days(void **state)
{
	static const struct {
		int64_t seconds;
		int days_from;
		const char *text;
	} rows[] = {
	    {0, 4, "0:00"},          {262, 4, "4:22"},
	    {3599, 4, "59:59"},      {3723, 4, "1:02:03"},
	    {86400, 4, "24:00:00"},  {86400, 1, "1.0 days"},
	    {362880, 4, "4.2 days"}, {345599, 4, "95:59:59"},
	};
	char text[GK_UNITS_MAX];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_string_equal(gk_human_time(text,
						  rows[i].seconds * 1000000000,
						  rows[i].days_from),
				    rows[i].text);
}

static void numbers_are_exact(void **state)
{
	static const struct {
		int64_t value;
		enum gk_unit unit;
		const char *text;
	} rows[] = {
	    {0, GK_UNIT_NONE, "0"},
	    {INT64_MAX, GK_UNIT_BYTES, "9223372036854775807"},
	    {INT64_MIN, GK_UNIT_BYTES, "-9223372036854775808"},
	    {68123, GK_UNIT_MILLIWATT, "68.123"},
	    {5, GK_UNIT_MILLIJOULE, "0.005"},
	    {-5, GK_UNIT_MILLIJOULE, "-0.005"},
	    {INT64_MAX, GK_UNIT_MILLIJOULE, "9223372036854775.807"},
	    {INT64_MIN, GK_UNIT_MILLIJOULE, "-9223372036854775.808"},
	    {1234, GK_UNIT_CENTIPERCENT, "12.34"},
	    {1999999, GK_UNIT_NANOSECOND, "0.001"},
	    {1410000000, GK_UNIT_HERTZ, "1410000000"},
	};
	char text[GK_UNITS_MAX];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_string_equal(
		    gk_number(text, rows[i].value, rows[i].unit), rows[i].text);
}

static void moments_and_versions(void **state)
{
	char text[GK_UNITS_MAX];

	(void)state;
	assert_string_equal(gk_utc_time(text, 1795225358123456789),
			    "2026-11-21T01:42:38.123456Z");
	assert_string_equal(gk_local_time(text, 1795225358123456789),
			    "Sat Nov 21 01:42:38 2026");
	assert_string_equal(gk_cuda_version(text, 13000), "13.0");
	assert_string_equal(gk_cuda_version(text, 12040), "12.4");
	assert_string_equal(gk_cuda_version(text, 0), "N/A");
	assert_string_equal(gk_human_watts(text, 67500), "68W");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sizes_have_the_digits_that_matter),
	    cmocka_unit_test(times_grow_from_minutes_to_days),
	    cmocka_unit_test(numbers_are_exact),
	    cmocka_unit_test(moments_and_versions),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
