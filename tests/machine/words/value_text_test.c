/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_text_test.c - checks numbers with units: their values, and what is no
 * number.
 */
#include "unit.h"

#include <errno.h>

#include "base/err.h"
#include "machine/words/spec.h"

#define UNTOUCHED 4711

static void numbers_have_the_unit_of_their_value(void **state)
{
	static const struct {
		const char *text, *unit;
		int64_t value;
	} cases[] = {
	    {"250000", "mW", 250000},
	    {"250000mW", "mW", 250000},
	    {"900mhz", "MHz", 900},
	    {"2w", "mW", 2000},
	    {"250W", "mW", 250000},
	    {"0.25kW", "mW", 250000},
	    {"70.0006W", "mW", 70001},
	    {"70.0004W", "mW", 70000},
	    {"-1.5W", "mW", -1500},
	    {"-0.0006W", "mW", -1},
	    {"-0.0004W", "mW", 0},
	    {"3J", "mJ", 3000},
	    {"2.5kJ", "mJ", 2500000},
	    {"1.41GHz", "MHz", 1410},
	    {"900MHz", "MHz", 900},
	    {"12MB/s", "KB/s", 12000},
	    {"1.5GB/s", "KB/s", 1500000},
	    {"8000000000000kW", "mW", 8000000000000000000},
	    {"-8000000000000kW", "mW", -8000000000000000000},
	    {"-5", "C", -5},
	    {"90C", "C", 90},
	    {"7%", "%", 7},
	    {"7", "", 7},
	    {"-7", "", -7},
	    {"0x14", "", 20},
	    {"0x7fffffffffffffff", "", INT64_MAX},
	    {"0", "", 0},
	    {"1GiB", "B", 1073741824},
	    {"5", "B", 5},
	    {"5", "KiB", 5},
	    {"5KiB", "KiB", 5},
	    {"2MiB", "KiB", 2048},
	    {"1024B", "KiB", 1},
	    {"000000000000000000000000000000000000000000000000000000000000007",
	     "", 7},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		int64_t value = UNTOUCHED;

		assert_int_equal(
		    gkf_spec_value(cases[i].text, cases[i].unit, &value), 0);
		assert_int_equal(value, cases[i].value);
	}
}

static void what_is_no_number_leaves_the_value_alone(void **state)
{
	static const struct {
		const char *text, *unit;
		int err;
	} cases[] = {
	    {"", "mW", GK_ERR_INVALID},
	    {"W", "mW", GK_ERR_INVALID},
	    {"mW", "mW", GK_ERR_INVALID},
	    {"infW", "mW", GK_ERR_INVALID},
	    {"nanW", "mW", GK_ERR_INVALID},
	    {"-infW", "mW", GK_ERR_RANGE},
	    {"9000000000000kW", "mW", GK_ERR_RANGE},
	    {"-9000000000000kW", "mW", GK_ERR_RANGE},
	    {"250C", "mW", GK_ERR_INVALID},
	    {"250WW", "mW", GK_ERR_INVALID},
	    {"1.5", "mW", GK_ERR_INVALID},
	    {"3W", "MHz", GK_ERR_INVALID},
	    {"3GHz", "mW", GK_ERR_INVALID},
	    {"3W", "", GK_ERR_INVALID},
	    {"0x14", "mW", GK_ERR_INVALID},
	    {"0x", "", GK_ERR_INVALID},
	    {"0x1g", "", GK_ERR_INVALID},
	    {"0x8000000000000000", "", GK_ERR_RANGE},
	    {"one", "B", GK_ERR_INVALID},
	    {"-1", "B", GK_ERR_INVALID},
	    {"99999999TiB", "B", GK_ERR_RANGE},
	    {"one", "KiB", GK_ERR_INVALID},
	    {"1025B", "KiB", GK_ERR_INVALID},
	    {"99999999TiB", "KiB", GK_ERR_RANGE},
	    {"0000000000000000000000000000000000000000000000000000000000000007",
	     "", GK_ERR_INVALID},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		int64_t value = UNTOUCHED;

		assert_int_equal(
		    gkf_spec_value(cases[i].text, cases[i].unit, &value),
		    cases[i].err);
		assert_int_equal(value, UNTOUCHED);
	}
}

/* Nor does it depend on what failed before. */
static void an_old_error_spoils_no_number(void **state)
{
	int64_t value = UNTOUCHED;

	(void)state;
	errno = ERANGE;
	assert_int_equal(gkf_spec_value("0x1f", "", &value), 0);
	assert_int_equal(value, 0x1f);
	errno = ERANGE;
	assert_int_equal(gkf_spec_value("31", "", &value), 0);
	assert_int_equal(value, 31);
}

static void speeds_are_permille(void **state)
{
	static const struct {
		const char *text;
		int err;
		uint64_t permille;
	} cases[] = {
	    {"1", 0, 1000},
	    {"0.001", 0, 1},
	    {"0.0005", 0, 1},
	    {"0.0004", GK_ERR_RANGE, 0},
	    {"0", GK_ERR_RANGE, 0},
	    {"1000", 0, 1000000},
	    {"1000.0004", 0, 1000000},
	    {"1000.001", GK_ERR_RANGE, 0},
	    {"2.5", 0, 2500},
	    {".5", 0, 500},
	    {"1.2346", 0, 1235},
	    {"", GK_ERR_INVALID, 0},
	    {"1x", GK_ERR_INVALID, 0},
	    {"1.2.3", GK_ERR_INVALID, 0},
	    {"-1", GK_ERR_INVALID, 0},
	    {"1e2", GK_ERR_INVALID, 0},
	    {"inf", GK_ERR_INVALID, 0},
	    {" 1", GK_ERR_INVALID, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint64_t permille = UNTOUCHED;

		assert_int_equal(gkf_speed_parse(cases[i].text, &permille),
				 cases[i].err);
		assert_int_equal(permille,
				 cases[i].err ? UNTOUCHED : cases[i].permille);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(numbers_have_the_unit_of_their_value),
	    cmocka_unit_test(what_is_no_number_leaves_the_value_alone),
	    cmocka_unit_test(an_old_error_spoils_no_number),
	    cmocka_unit_test(speeds_are_permille),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
