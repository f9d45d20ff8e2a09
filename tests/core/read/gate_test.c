/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate_test.c - checks which numbers are possible: the tables, and a driver
 * that reports others.
 */
#include "core/read/collect.h"
#include "core/read/collect_row.h"
#include "core/read/gate.h"
#include "unit.h"

#include "base/array.h"

#include <string.h>

#define DEVICE ((nvmlDevice_t)(void *)&nvml)

static struct gk_nvml nvml;

static void check_table(const struct gk_metric_info *infos,
			const struct gk_range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct gk_range *range = &ranges[i];
		bool percent = infos[i].unit == GK_UNIT_PERCENT;

		if (range->least >= range->most ||
		    range->least == GK_TOLD_NO_NUMBER ||
		    range->least <= GK_TOLD_TOO_SMALL ||
		    range->most >= GK_TOLD_TOO_LARGE)
			fail_msg("no range: %s", infos[i].name);
		if (percent && (range->least || range->most > 200))
			fail_msg("no percentage: %s", infos[i].name);
	}
}

static void every_metric_has_a_range(void **state)
{
	(void)state;
	check_table(gk_metrics, gk_metric_ranges, GK_M_COUNT);
	check_table(gk_process_metrics, gk_process_metric_ranges, GK_PM_COUNT);
	check_table(gk_link_metrics, gk_link_metric_ranges, GK_L_COUNT);
}

/* Ranges are in the integers of the metric: watts are milliwatts. */
static void ranges_are_in_base_units(void **state)
{
	(void)state;
	assert_int_equal(gk_metric_range(GK_M_GPU_UTIL)->least, 0);
	assert_int_equal(gk_metric_range(GK_M_GPU_UTIL)->most, 100);
	assert_int_equal(gk_metric_range(GK_M_POWER)->most, 100000000);
	assert_int_equal(gk_process_metric_range(GK_PM_CPU)->most, 100000000);
	assert_int_equal(gk_process_metric_range(GK_PM_NICE)->least, -20);
	assert_int_equal(gk_process_metric_range(GK_PM_RUN_TIME)->most,
			 9000000000000000000);
	assert_int_equal(gk_link_metric_range(GK_L_ACTIVE)->most, 1);
	assert_null(gk_metric_range(GK_M_COUNT));
	assert_null(gk_metric_range((enum gk_metric) - 1));
	assert_null(gk_process_metric_range(GK_PM_COUNT));
	assert_null(gk_link_metric_range(GK_L_COUNT));
}

static void reasons_are_read_again(void **state)
{
	static const struct {
		int64_t v;
		enum gk_unit unit;
		const char *text;
	} cases[] = {
	    {2000000000, GK_UNIT_PERCENT, "nonsense: 2000000000"},
	    {-1, GK_UNIT_BYTES, "nonsense: -1"},
	    {123456789, GK_UNIT_MILLIWATT, "nonsense: 123456.789"},
	    {-5, GK_UNIT_CENTIPERCENT, "nonsense: -0.05"},
	    {GK_TOLD_NO_NUMBER, GK_UNIT_CELSIUS, "nonsense: no number"},
	    {GK_TOLD_TOO_LARGE, GK_UNIT_HERTZ, "nonsense: beyond 9.2e18"},
	    {GK_TOLD_TOO_SMALL, GK_UNIT_NANOSECOND, "nonsense: beyond -9.2e18"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct gk_value value = {cases[i].v, GK_ABSENT_NONSENSE};
		char text[GK_REASON_MAX];

		assert_string_equal(gk_reason(text, value, cases[i].unit),
				    cases[i].text);
		value = gk_reason_read(text, cases[i].unit);
		assert_int_equal(value.why, GK_ABSENT_NONSENSE);
		assert_int_equal(value.v, cases[i].v);
	}
	assert_int_equal(gk_reason_read("permission denied", 0).why,
			 GK_ABSENT_PERMISSION);
	assert_int_equal(gk_reason_read("nonsense", 0).why, GK_ABSENT_NONSENSE);
	assert_int_equal(gk_reason_read("nonsense: ", 0).why,
			 GK_ABSENT_NONSENSE);
	assert_int_equal(gk_reason_read("nonsensical", 0).why,
			 GK_ABSENT_NOT_READ);
	assert_int_equal(gk_reason_read("", 0).why, GK_ABSENT_NOT_READ);
}

/* ---- a driver that lies ---- */

static nvmlReturn_t tell_utilization(nvmlDevice_t dev, nvmlUtilization_t *u)
{
	(void)dev;
	*u = (nvmlUtilization_t){.gpu = 2000000000, .memory = 100};
	return NVML_SUCCESS;
}

static nvmlReturn_t tell_memory(nvmlDevice_t dev, nvmlMemory_v2_t *m)
{
	(void)dev;
	m->used = 1ULL << 63;
	m->free = UINT64_MAX;
	m->reserved = 4096;
	m->total = 1ULL << 50;
	return NVML_SUCCESS;
}

static nvmlReturn_t tell_energy(nvmlDevice_t dev, unsigned long long *mj)
{
	(void)dev;
	*mj = UINT64_MAX;
	return NVML_SUCCESS;
}

static nvmlReturn_t tell_power(nvmlDevice_t dev, unsigned *mw)
{
	(void)dev;
	*mw = UINT32_MAX;
	return NVML_SUCCESS;
}

static void check(const struct gk_value *values, enum gk_metric metric,
		  enum gk_absence why, int64_t v)
{
	assert_int_equal(values[metric].why, why);
	assert_int_equal(values[metric].v, v);
}

static void a_driver_that_lies_is_not_believed(void **state)
{
	struct gk_value values[GK_M_COUNT] = {0};
	struct gk_metric_set only = {0};
	struct gk_row_set unsupported = {0};
	static const enum gk_metric asked[] = {GK_M_GPU_UTIL, GK_M_MEM_USED,
					       GK_M_ENERGY, GK_M_POWER};

	(void)state;
	nvml.nvmlDeviceGetUtilizationRates = tell_utilization;
	nvml.nvmlDeviceGetMemoryInfo_v2 = tell_memory;
	nvml.nvmlDeviceGetTotalEnergyConsumption = tell_energy;
	nvml.nvmlDeviceGetPowerUsage = tell_power;
	gk_metric_set_add_all(&only, asked, COUNT(asked));
	gk_collect(&nvml, DEVICE, GK_TIER_FAST, false, &only, &unsupported,
		   values);
	gk_collect(&nvml, DEVICE, GK_TIER_MEDIUM, false, &only, &unsupported,
		   values);
	check(values, GK_M_GPU_UTIL, GK_ABSENT_NONSENSE, 2000000000);
	check(values, GK_M_MEM_UTIL, GK_PRESENT, 100);
	check(values, GK_M_MEM_USED, GK_ABSENT_NONSENSE, GK_TOLD_TOO_LARGE);
	check(values, GK_M_MEM_FREE, GK_ABSENT_NONSENSE, GK_TOLD_TOO_LARGE);
	check(values, GK_M_MEM_RESERVED, GK_PRESENT, 4096);
	check(values, GK_M_MEM_TOTAL, GK_ABSENT_NONSENSE, 1LL << 50);
	check(values, GK_M_ENERGY, GK_ABSENT_NONSENSE, GK_TOLD_TOO_LARGE);
	check(values, GK_M_POWER, GK_ABSENT_NONSENSE, UINT32_MAX);
}

static nvmlPstates_t pstate;

static nvmlReturn_t tell_pstate(nvmlDevice_t dev, nvmlPstates_t *to)
{
	(void)dev;
	*to = pstate;
	return NVML_SUCCESS;
}

/* Drivers have a number of their own for an unknown P-state. */
static void a_pstate_that_is_not_known_is_no_nonsense(void **state)
{
	static const struct {
		int told;
		enum gk_absence why;
		int64_t v;
	} rows[] = {
	    {NVML_PSTATE_8, GK_PRESENT, 8},
	    {NVML_PSTATE_UNKNOWN, GK_ABSENT_NOT_SUPPORTED, 0},
	    {33, GK_ABSENT_NONSENSE, 33},
	};
	static const enum gk_metric asked = GK_M_PSTATE;
	struct gk_value values[GK_M_COUNT] = {0};
	struct gk_metric_set only = {0};
	struct gk_row_set unsupported = {0};

	(void)state;
	nvml.nvmlDeviceGetPerformanceState = tell_pstate;
	gk_metric_set_add_all(&only, &asked, 1);
	for (size_t i = 0; i < COUNT(rows); i++) {
		pstate = (nvmlPstates_t)rows[i].told;
		gk_collect(&nvml, DEVICE, GK_TIER_MEDIUM, false, &only,
			   &unsupported, values);
		check(values, GK_M_PSTATE, rows[i].why, rows[i].v);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_metric_has_a_range),
	    cmocka_unit_test(ranges_are_in_base_units),
	    cmocka_unit_test(reasons_are_read_again),
	    cmocka_unit_test(a_driver_that_lies_is_not_believed),
	    cmocka_unit_test(a_pstate_that_is_not_known_is_no_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
