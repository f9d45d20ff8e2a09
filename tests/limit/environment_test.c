/* SPDX-License-Identifier: Apache-2.0 */
/*
 * environment_test.c - checks HAMi's variables and ours in all valid and
 * invalid forms.
 */
#include "limit/environment.h"
#include "base/err.h"
#include "limit/fixture.h"

static struct gkl_environment e;

static int clear(void **state)
{
	(void)state;
	return clearenv();
}

/* Reads an environment with one more variable. */
static int read_with(const char *name, const char *value)
{
	memset(&e, 0xee, sizeof e);
	assert_int_equal(setenv(name, value, 1), 0);
	return gkl_environment_read(&e);
}

static void without_a_variable_nothing_is_limited(void **state)
{
	(void)state;
	assert_int_equal(gkl_environment_read(&e), 0);
	assert_null(e.group);
	assert_null(e.region);
	assert_true(gkl_environment_nvml());
}

static void sizes_are_hamis(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} rows[] = {
	    {"4096m", 4294967296},
	    {"4096M", 4294967296},
	    {"2G", 2147483648},
	    {"1g", 1073741824},
	    {"512k", 524288},
	    {"3K", 3072},
	    {"1073741824", 1073741824},
	    {"1", 1},
	    {"0", 0},
	    {"0m", 0},
	    {"1.5g", 1610612736},
	    {"24564MiB", 25757220864},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(
		    read_with("CUDA_DEVICE_MEMORY_LIMIT", rows[i].text), 0);
		for (int d = 0; d < GKL_DEVICES; d++)
			assert_int_equal(e.policy.memory[d], rows[i].bytes);
	}
}

static void a_limit_that_cannot_be_read_is_an_error(void **state)
{
	static const struct {
		const char *name, *text;
	} rows[] = {
	    {"CUDA_DEVICE_MEMORY_LIMIT", "much"},
	    {"CUDA_DEVICE_MEMORY_LIMIT", "-1"},
	    {"CUDA_DEVICE_MEMORY_LIMIT", "4096x"},
	    {"CUDA_DEVICE_MEMORY_LIMIT", "m"},
	    {"CUDA_DEVICE_MEMORY_LIMIT", "4 096m"},
	    {"CUDA_DEVICE_MEMORY_LIMIT", "99999999999999999999g"},
	    {"CUDA_DEVICE_MEMORY_LIMIT", "0.1"},
	    {"CUDA_DEVICE_MEMORY_LIMIT", "0x1000"},
	    {"CUDA_DEVICE_MEMORY_LIMIT_15", "?"},
	    {"CUDA_DEVICE_SM_LIMIT", "half"},
	    {"CUDA_DEVICE_SM_LIMIT", "-5"},
	    {"CUDA_DEVICE_SM_LIMIT", "50%"},
	    {"CUDA_DEVICE_SM_LIMIT_0", "5.5"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		clearenv();
		assert_int_equal(read_with(rows[i].name, rows[i].text),
				 GK_ERR_INVALID);
	}
}

static void a_devices_own_limit_goes_before_that_of_all(void **state)
{
	(void)state;
	setenv("CUDA_DEVICE_MEMORY_LIMIT", "1g", 1);
	setenv("CUDA_DEVICE_MEMORY_LIMIT_2", "3g", 1);
	/* No limit, in HAMi's notation. */
	setenv("CUDA_DEVICE_MEMORY_LIMIT_3", "0", 1);
	setenv("CUDA_DEVICE_MEMORY_LIMIT_4", "", 1);
	setenv("CUDA_DEVICE_SM_LIMIT_1", "30", 1);
	assert_int_equal(gkl_environment_read(&e), 0);
	assert_int_equal(e.policy.memory[0], GIB);
	assert_int_equal(e.policy.memory[2], 3 * GIB);
	assert_int_equal(e.policy.memory[3], GIB);
	assert_int_equal(e.policy.memory[4], GIB);
	assert_int_equal(e.policy.memory[15], GIB);
	assert_int_equal(e.policy.compute[0], 0);
	assert_int_equal(e.policy.compute[1], 30);
}

static void a_share_of_all_or_nothing_is_no_limit(void **state)
{
	static const struct {
		const char *text;
		uint64_t share;
	} rows[] = {{"0", 0}, {"1", 1}, {"99", 99}, {"100", 0}, {"150", 0}};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(
		    read_with("CUDA_DEVICE_SM_LIMIT", rows[i].text), 0);
		assert_int_equal(e.policy.compute[7], rows[i].share);
	}
}

static void hamis_file_is_where_it_says_or_each_users_own(void **state)
{
	char own[64];

	(void)state;
	snprintf(own, sizeof own, "/tmp/cudevshr-%u.cache",
		 (unsigned)geteuid());
	assert_int_equal(read_with("CUDA_DEVICE_MEMORY_LIMIT_1", "1g"), 0);
	assert_string_equal(e.region, own);
	assert_int_equal(
	    read_with("CUDA_DEVICE_MEMORY_SHARED_CACHE", "/x/y.cache"), 0);
	assert_string_equal(e.region, "/x/y.cache");
	/*
	 * The region is made without a limit too, since the monitor reads it.
	 */
	unsetenv("CUDA_DEVICE_MEMORY_LIMIT_1");
	assert_int_equal(gkl_environment_read(&e), 0);
	assert_string_equal(e.region, "/x/y.cache");
}

static void the_rule_follows_the_monitor_unless_it_is_told(void **state)
{
	static const struct {
		const char *text;
		enum gkl_rule rule;
	} rows[] = {{"force", GKL_FIXED}, {"FORCE", GKL_FIXED},
		    {"disable", GKL_OFF}, {"default", GKL_MONITOR},
		    {"", GKL_MONITOR},    {"sometimes", GKL_MONITOR}};

	(void)state;
	assert_int_equal(gkl_environment_read(&e), 0);
	assert_int_equal(e.policy.rule, GKL_MONITOR);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(
		    read_with("GPU_CORE_UTILIZATION_POLICY", rows[i].text), 0);
		assert_int_equal(e.policy.rule, rows[i].rule);
	}
}

static void priority_is_low_unless_it_is_told(void **state)
{
	static const struct {
		const char *text;
		uint64_t priority;
	} rows[] = {{"0", 0}, {"1", 1}, {"high", 1}, {"-1", 1}, {"", 1}};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(read_with("CUDA_TASK_PRIORITY", rows[i].text),
				 0);
		assert_int_equal(e.policy.priority, rows[i].priority);
	}
}

static void switches_are_off_unless_they_are_on(void **state)
{
	(void)state;
	assert_int_equal(read_with("ACTIVE_OOM_KILLER", "maybe"), 0);
	assert_int_equal(e.policy.oom_killer, 0);
	assert_int_equal(read_with("ACTIVE_OOM_KILLER", "True"), 0);
	assert_int_equal(e.policy.oom_killer, 1);
	assert_int_equal(e.policy.oversubscribe, 0);
	assert_int_equal(read_with("CUDA_OVERSUBSCRIBE", "1"), 0);
	assert_int_equal(e.policy.oversubscribe, 1);
	assert_int_equal(setenv("HOOK_NVML_ENABLE", "0", 1), 0);
	assert_false(gkl_environment_nvml());
	assert_int_equal(setenv("HOOK_NVML_ENABLE", "perhaps", 1), 0);
	assert_true(gkl_environment_nvml());
}

static void control_is_disabled_by_a_clear_yes_alone(void **state)
{
	(void)state;
	setenv("CUDA_DEVICE_MEMORY_LIMIT", "1g", 1);
	assert_int_equal(read_with("CUDA_DISABLE_CONTROL", "perhaps"), 0);
	assert_non_null(e.region);
	assert_int_equal(read_with("CUDA_DISABLE_CONTROL", "false"), 0);
	assert_non_null(e.region);
	assert_int_equal(read_with("CUDA_DISABLE_CONTROL", "true"), 0);
	assert_null(e.region);
	/* A variable that is not read causes no error. */
	assert_int_equal(read_with("CUDA_DEVICE_MEMORY_LIMIT", "x"), 0);
	/* It is HAMi's switch, not one of our groups. */
	assert_int_equal(read_with("GPUKIT_LIMIT_GROUP", "/a/b"), 0);
	assert_string_equal(e.group, "/a/b");
}

static void our_group_goes_before_hamis_limits(void **state)
{
	(void)state;
	setenv("CUDA_DEVICE_MEMORY_LIMIT", "1g", 1);
	assert_int_equal(read_with("GPUKIT_LIMIT_GROUP", "/a/b"), 0);
	assert_string_equal(e.group, "/a/b");
	assert_null(e.region);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup(name, clear)
	const struct CMUnitTest tests[] = {
	    T(without_a_variable_nothing_is_limited),
	    T(sizes_are_hamis),
	    T(a_limit_that_cannot_be_read_is_an_error),
	    T(a_devices_own_limit_goes_before_that_of_all),
	    T(a_share_of_all_or_nothing_is_no_limit),
	    T(hamis_file_is_where_it_says_or_each_users_own),
	    T(the_rule_follows_the_monitor_unless_it_is_told),
	    T(priority_is_low_unless_it_is_told),
	    T(switches_are_off_unless_they_are_on),
	    T(control_is_disabled_by_a_clear_yes_alone),
	    T(our_group_goes_before_hamis_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
