/* SPDX-License-Identifier: Apache-2.0 */
/* nvlinks_test.c - checks rates of NVLink between readings of its counters. */
#include "base/clock.h"
#include "export/nvlinks.h"
#include "unit.h"

#include <string.h>

static struct gk_device devices[2];
static const struct gk_snapshot snap = {.devices = devices, .device_count = 2};
static struct gk_nvlinks links;

static int setup(void **state)
{
	(void)state;
	memset(devices, 0, sizeof devices);
	for (int i = 0; i < 2; i++) {
		devices[i].mig_index = -1;
		memcpy(devices[i].uuid, i ? "GPU-b" : "GPU-a", 6);
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	gk_nvlinks_free(&links);
	return 0;
}

/* A reading of a GPU's counters at a second. */
static void reads(int gpu, unsigned second, int64_t tx, int64_t rx)
{
	devices[gpu].read_ns[GK_TIER_DETAIL] = second * GK_NS_PER_S;
	devices[gpu].m[GK_M_NVLINK_TX] = (struct gk_value){.v = tx};
	devices[gpu].m[GK_M_NVLINK_RX] = (struct gk_value){.v = rx};
}

static void takes(enum gk_absence why, int64_t rate)
{
	gk_nvlinks_take(&links, &snap);
	assert_non_null(links.rates);
	assert_int_equal(links.rates[0].why, why);
	assert_int_equal(links.rates[0].v, rate);
}

static void a_rate_is_that_of_two_readings(void **state)
{
	(void)state;
	reads(0, 100, 1000, 500);
	takes(GK_ABSENT_ONE_SNAPSHOT, 0);
	takes(GK_ABSENT_ONE_SNAPSHOT, 0); /* the same reading */
	reads(0, 110, 5000, 1500);
	takes(GK_PRESENT, 500);
	reads(1, 115, 1, 1); /* the other GPU's turn */
	takes(GK_PRESENT, 500);
	reads(0, 120, 5000, 1500);
	takes(GK_PRESENT, 0);
}

static void a_counter_that_begins_anew_has_no_rate(void **state)
{
	(void)state;
	reads(0, 100, 1000, 0);
	takes(GK_ABSENT_ONE_SNAPSHOT, 0);
	reads(0, 110, 10, 0);
	takes(GK_ABSENT_ONE_SNAPSHOT, 0);
	reads(0, 111, 17, 0);
	takes(GK_PRESENT, 7);
}

static void an_absent_counter_has_no_rate(void **state)
{
	(void)state;
	reads(0, 100, 0, 0);
	devices[0].m[GK_M_NVLINK_RX].why = GK_ABSENT_NOT_SUPPORTED;
	takes(GK_ABSENT_NOT_SUPPORTED, 0);
	reads(0, 100, 0, 0);
	devices[0].uuid[0] = '\0';
	takes(GK_ABSENT_NOT_SUPPORTED, 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(a_rate_is_that_of_two_readings),
	    T(a_counter_that_begins_anew_has_no_rate),
	    T(an_absent_counter_has_no_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
