/* SPDX-License-Identifier: Apache-2.0 */
/* missing_test.c - checks which functions a fake driver library lacks. */
#include "core/context.h"
#include "unit.h"

#include <string.h>

static struct gk_nvml nvml;
static struct gk gk = {.nvml = &nvml};

static void put_function(const char *name, bool there)
{
	void *address = there ? &nvml : NULL;

	for (size_t i = 0; i < GK_NVML_SYMBOLS; i++) {
		if (strcmp(gk_nvml_symbols[i].name, name))
			continue;
		memcpy((char *)&nvml + gk_nvml_symbols[i].offset, &address,
		       sizeof address);
		return;
	}
	fail_msg("no %s", name);
}

/* A library that has everything. */
static int setup(void **state)
{
	(void)state;
	for (size_t i = 0; i < GK_NVML_SYMBOLS; i++)
		put_function(gk_nvml_symbols[i].name, true);
	nvml.more = true;
	return 0;
}

static void lack(const char *name)
{
	put_function(name, false);
}

/* Checks that only this one is missing; NULL: none is. */
static void only_missing(const char *name)
{
	const char *names[2] = {NULL, NULL};

	assert_int_equal(gk_missing_functions(&gk, names, 2), name ? 1 : 0);
	if (name)
		assert_string_equal(names[0], name);
	else
		assert_null(names[0]);
	assert_null(names[1]);
}

static void a_new_driver_lacks_nothing(void **state)
{
	(void)state;
	only_missing(NULL);
}

static void what_it_lacks_is_named_in_order(void **state)
{
	const char *names[4] = {NULL, NULL, NULL, NULL};

	(void)state;
	lack("nvmlDeviceGetFanSpeed");
	only_missing("nvmlDeviceGetFanSpeed");
	lack("nvmlDeviceGetName");
	lack("nvmlDeviceGetBrand");
	/* All are counted, however few fit. */
	assert_int_equal(gk_missing_functions(&gk, names, 2), 3);
	assert_string_equal(names[0], "nvmlDeviceGetBrand");
	assert_string_equal(names[1], "nvmlDeviceGetFanSpeed");
	assert_null(names[2]);
	assert_int_equal(gk_missing_functions(&gk, NULL, 0), 3);
	assert_int_equal(gk_missing_functions(&gk, names, 3), 3);
	assert_string_equal(names[2], "nvmlDeviceGetName");
	lack("nvmlInit_v2");
	assert_int_equal(gk_missing_functions(&gk, names, 4), 4);
	assert_string_equal(names[3], "nvmlInit_v2");
}

static void what_is_not_wanted_is_not_missing(void **state)
{
	(void)state;
	lack("nvmlDeviceGetBrand");
	lack("nvmlDeviceGetSerial");
	nvml.more = false;
	only_missing("nvmlDeviceGetSerial");
}

/* Their absence tells how a driver lays out its lists. */
static void signs_are_never_missing(void **state)
{
	(void)state;
	lack("nvmlDeviceGetConfComputeMemSizeInfo");
	lack("nvmlDeviceGetRunningProcessDetailList");
	only_missing(NULL);
}

static void one_version_is_enough(void **state)
{
	(void)state;
	lack("nvmlDeviceGetComputeRunningProcesses_v3");
	lack("nvmlDeviceGetComputeRunningProcesses");
	only_missing(NULL);
	lack("nvmlDeviceGetComputeRunningProcesses_v2");
	only_missing("nvmlDeviceGetComputeRunningProcesses_v3");
	put_function("nvmlDeviceGetComputeRunningProcesses", true);
	only_missing(NULL);
}

static void either_name_is_enough(void **state)
{
	static const char *const pairs[][2] = {
	    {"nvmlDeviceGetCurrentClocksEventReasons",
	     "nvmlDeviceGetCurrentClocksThrottleReasons"},
	    {"nvmlDeviceGetTemperatureV", "nvmlDeviceGetTemperature"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(pairs); i++) {
		lack(pairs[i][0]);
		only_missing(NULL);
		lack(pairs[i][1]);
		only_missing(pairs[i][0]);
		put_function(pairs[i][0], true);
		only_missing(NULL);
		put_function(pairs[i][1], true);
	}
}

/* A name that begins like another one is another function. */
static void a_longer_name_is_no_version(void **state)
{
	(void)state;
	lack("nvmlDeviceGetTemperatureThreshold");
	only_missing("nvmlDeviceGetTemperatureThreshold");
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(a_new_driver_lacks_nothing),
	    TEST(what_it_lacks_is_named_in_order),
	    TEST(what_is_not_wanted_is_not_missing),
	    TEST(signs_are_never_missing),
	    TEST(one_version_is_enough),
	    TEST(either_name_is_enough),
	    TEST(a_longer_name_is_no_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
