/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings_test.c - checks the settings of a machine as a whole and of a
 * device, and the listed devices.
 */
#include "base/err.h"
#include "machine/file/file.h"
#include "machine/file/value.h"
#include "machine/fixture.h"
#include "machine/model/model.h"
#include "machine/store/hostname.h"
#include "machine/store/flag.h"
#include "machine/store/listed.h"
#include "machine/store/locks.h"
#include "machine/store/settings.h"
#include "machine/store/view.h"

static struct fixture fx;

static int open_four(void **state)
{
	(void)state;
	fixture_open(&fx, 4);
	return 0;
}

static int close_it(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

static void each_setting_is_a_word_of_its_own(void **state)
{
	static const enum gkf_setting all[] = {GKF_PERMISSION, GKF_LATENCY,
					       GKF_CONF_COMPUTE, GKF_CONF_READY,
					       GKF_CONF_ADVANTAGE};

	(void)state;
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(gkf_setting(fx.m, all[i]), 0);
	for (unsigned i = 0; i < 5; i++)
		gkf_setting_put(fx.m, all[i], 10 + i);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(gkf_setting(fx.m, all[i]), 10 + i);
	assert_int_equal(atomic_load(&fx.file->permission), 10);
	assert_int_equal(atomic_load(&fx.file->latency), 11);
	assert_int_equal(atomic_load(&fx.file->system.conf_compute), 12);
	assert_int_equal(atomic_load(&fx.file->system.conf_ready), 13);
	assert_int_equal(atomic_load(&fx.file->system.conf_advantage), 14);
}

static void the_driver_is_that_of_the_file(void **state)
{
	const struct gkf_driver *driver = gkf_driver(fx.m);

	(void)state;
	assert_string_equal(driver->version, "580.95.05");
	assert_string_equal(driver->nvml_version, "13.580.95.05");
	assert_int_equal(driver->cuda_version, 13000);
	assert_int_equal(gkf_machine_seed(fx.m), 7);
}

static void a_host_name_is_that_of_its_device(void **state)
{
	char name[GKF_TEXT_MAX], full[GKF_TEXT_MAX + 1];

	(void)state;
	gkf_hostname(fx.m, 1, name);
	assert_string_equal(name, "");
	assert_int_equal(gkf_hostname_set(fx.m, 1, "first"), 0);
	assert_int_equal(gkf_hostname_set(fx.m, 2, "a longer one"), 0);
	assert_int_equal(gkf_hostname_set(fx.m, 1, "one"), 0);
	gkf_hostname(fx.m, 1, name);
	assert_string_equal(name, "one");
	gkf_hostname(fx.m, 2, name);
	assert_string_equal(name, "a longer one");
	gkf_hostname(fx.m, 0, name);
	assert_string_equal(name, "");
	/* The longest, and one byte more, which changes nothing. */
	memset(full, 'h', sizeof full);
	full[GKF_TEXT_MAX] = '\0';
	assert_int_equal(gkf_hostname_set(fx.m, 1, full), GK_ERR_RANGE);
	gkf_hostname(fx.m, 1, name);
	assert_string_equal(name, "one");
	assert_int_equal(gkf_hostname_set(fx.m, 1, full + 1), 0);
	gkf_hostname(fx.m, 1, name);
	assert_string_equal(name, full + 1);
}

static void a_host_name_that_was_written_over_ends(void **state)
{
	struct gkf_text *text = &fx.file->device[0].hostname;
	char name[GKF_TEXT_MAX];

	(void)state;
	for (int i = 0; i < GKF_TEXT_MAX / 8; i++)
		atomic_store(&text->word[0][i], 0x6e6e6e6e6e6e6e6eULL);
	gkf_hostname(fx.m, 0, name);
	assert_int_equal(strlen(name), GKF_TEXT_MAX - 1);
	assert_int_equal(name[GKF_TEXT_MAX - 2], 'n');
}

static void a_host_name_stays_where_nobody_may_write(void **state)
{
	char name[GKF_TEXT_MAX];

	(void)state;
	/* Nobody can take the lock any more. */
	atomic_store(gkf_locks_word(fx.m->locks, GKF_LOCK_WRITERS), 0x35353535);
	assert_int_equal(gkf_hostname_set(fx.m, 0, "late"), GK_ERR_CORRUPT);
	gkf_hostname(fx.m, 0, name);
	assert_string_equal(name, "");
}

static void assert_listed(const int *devices, unsigned count)
{
	assert_int_equal(gkf_listed_count(fx.m), count);
	for (unsigned i = 0; i < count; i++) {
		assert_int_equal(gkf_listed(fx.m, i), devices[i]);
		assert_true(gkf_is_listed(fx.m, (unsigned)devices[i]));
		assert_int_equal(gkf_listed_before(fx.m, (unsigned)devices[i]),
				 i);
	}
	assert_int_equal(gkf_listed(fx.m, count), -1);
}

static void removed_and_excluded_devices_are_not_listed(void **state)
{
	(void)state;
	assert_listed((int[]){0, 1, 2, 3}, 4);
	gkf_value_set(fx.m, 1, GKF_V_REMOVED, 1);
	assert_listed((int[]){0, 2, 3}, 3);
	gkf_value_set(fx.m, 3, GKF_V_EXCLUDED, 1);
	gkf_value_set(fx.m, 0, GKF_V_REMOVED, 0);
	assert_listed((int[]){0, 2}, 2);
	assert_false(gkf_is_listed(fx.m, 1));
	assert_false(gkf_is_listed(fx.m, 3));
	assert_int_equal(gkf_listed_before(fx.m, 3), 2);
	assert_true(gkf_is_set(fx.m, 1, GKF_V_REMOVED));
	assert_false(gkf_is_set(fx.m, 1, GKF_V_EXCLUDED));
	assert_false(gkf_is_set(fx.m, 0, GKF_V_REMOVED));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_four, close_it)
	const struct CMUnitTest tests[] = {
	    T(each_setting_is_a_word_of_its_own),
	    T(the_driver_is_that_of_the_file),
	    T(a_host_name_is_that_of_its_device),
	    T(a_host_name_that_was_written_over_ends),
	    T(a_host_name_stays_where_nobody_may_write),
	    T(removed_and_excluded_devices_are_not_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
