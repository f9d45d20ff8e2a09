/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvml_device_test.c - checks opening the driver library and the values of
 * GPUs, on a scripted driver.
 */
#include "core/scripted.h"

static void without_a_library_there_is_no_driver(void **state)
{
	int nvml = 77;

	(void)state;
	t.options.nvml_path = NVML_DIR "/no-such-library.so";
	assert_int_equal(gk_open(&t.options, &nvml, &t.gk), GK_ERR_NO_DRIVER);
	assert_int_equal(nvml, 77);
	assert_null(t.gk);
}

static void a_library_of_something_else_is_refused(void **state)
{
	int nvml = 77;

	(void)state;
	t.options.nvml_path = "libm.so.6";
	assert_int_equal(gk_open(&t.options, &nvml, &t.gk), GK_ERR_DRIVER);
	assert_int_equal(nvml, NVML_ERROR_FUNCTION_NOT_FOUND);
	assert_null(t.gk);
}

static void a_driver_that_does_not_start_says_why(void **state)
{
	static const nvmlReturn_t answers[] = {
	    NVML_ERROR_DRIVER_NOT_LOADED, NVML_ERROR_LIB_RM_VERSION_MISMATCH,
	    NVML_ERROR_NO_PERMISSION, NVML_ERROR_UNKNOWN};

	(void)state;
	for (size_t i = 0; i < COUNT(answers); i++) {
		int nvml = 77;

		SCRIPT(t.s->init = answers[i]);
		assert_int_equal(gk_open(&t.options, &nvml, &t.gk),
				 GK_ERR_DRIVER);
		assert_int_equal(nvml, answers[i]);
		assert_int_equal(gk_open(&t.options, NULL, &t.gk),
				 GK_ERR_DRIVER);
		assert_null(t.gk);
	}
}

static void a_driver_that_cannot_count_is_an_error(void **state)
{
	int nvml = 77;

	(void)state;
	scripted_answer("nvmlDeviceGetCount_v2", NVML_ERROR_UNKNOWN);
	assert_int_equal(gk_open(&t.options, &nvml, &t.gk), GK_ERR_DRIVER);
	assert_int_equal(nvml, NVML_ERROR_UNKNOWN);
	assert_int_equal(t.s->inits, 0);
	scripted_answer("nvmlDeviceGetCount_v2", NVML_SUCCESS);
	SCRIPT(t.s->gpu_count = 1000000);
	assert_int_equal(gk_open(&t.options, &nvml, &t.gk), GK_ERR_TOO_MANY);
	assert_null(t.gk);
}

static void no_gpus_are_no_error(void **state)
{
	const struct gk_snapshot *snap;

	(void)state;
	scripted_reset(0);
	scripted_open();
	snap = scripted_take();
	assert_int_equal(snap->device_count, 0);
	assert_int_equal(snap->process_count, 0);
	assert_non_null(snap->devices);
	assert_string_equal(snap->driver_version, "580.65.06");
	assert_string_equal(snap->nvml_version, "13.580");
	assert_int_equal(snap->cuda_version, 13000);
	assert_true(snap->mono_ns > 0 && snap->wall_ns > snap->mono_ns);
}

/* Each metric of GPU 1 as scripted, in base units. */
static const struct {
	enum gk_metric metric;
	int64_t value;
} values[] = {
    {GK_M_GPU_UTIL, 1},
    {GK_M_MEM_UTIL, 0},
    {GK_M_ENC_UTIL, 11},
    {GK_M_DEC_UTIL, 12},
    {GK_M_JPG_UTIL, 13},
    {GK_M_OFA_UTIL, 14},
    {GK_M_TEMP_MEM, 77},
    {GK_M_ROWS_CORRECTED, 3},
    {GK_M_ROWS_UNCORRECTED, 2},
    {GK_M_ROWS_PENDING, 1},
    {GK_M_ROWS_FAILED, 0},
    {GK_M_RECOVERY_ACTION, 1},
    {GK_M_RETIRED_PENDING, 1},
    {GK_M_REPAIR_CHANNEL, 0},
    {GK_M_REPAIR_TPC, 1},
    {GK_M_INFOROM_VALID, 1},
    {GK_M_GR_CLOCK_MAX, 2000000000},
    {GK_M_VIDEO_CLOCK_MAX, 2003000000},
    {GK_M_MEM_USED, (int64_t)GIB},
    {GK_M_MEM_FREE, (int64_t)(78 * GIB)},
    {GK_M_MEM_RESERVED, (int64_t)GIB},
    {GK_M_MEM_TOTAL, (int64_t)(80 * GIB)},
    {GK_M_POWER, 123456},
    {GK_M_TEMP, 70},
    {GK_M_GR_CLOCK, 1000000000},
    {GK_M_SM_CLOCK, 1001000000},
    {GK_M_MEM_CLOCK, 1002000000},
    {GK_M_VIDEO_CLOCK, 1003000000},
    {GK_M_FAN, 33},
    {GK_M_PSTATE, 2},
    {GK_M_THROTTLE, 0x24},
    {GK_M_ENERGY, 5000000000},
    {GK_M_POWER_LIMIT, 400000},
    {GK_M_POWER_ENFORCED, 390000},
    {GK_M_POWER_DEFAULT, 380000},
    {GK_M_POWER_MIN, 100000},
    {GK_M_POWER_MAX, 450000},
    {GK_M_TEMP_SHUTDOWN, 90},
    {GK_M_TEMP_SLOWDOWN, 91},
    {GK_M_SM_CLOCK_MAX, 2001000000},
    {GK_M_MEM_CLOCK_MAX, 2002000000},
    {GK_M_PERSISTENCE, 1},
    {GK_M_DISPLAY_ACTIVE, 1},
    {GK_M_DISPLAY_MODE, 1},
    {GK_M_COMPUTE_MODE, 2},
    {GK_M_MIG_MODE, 0},
    {GK_M_ECC_MODE, 1},
    {GK_M_ECC_CORRECTED, 31},
    {GK_M_ECC_UNCORRECTED, 32},
    {GK_M_PCIE_GEN, 3},
    {GK_M_PCIE_GEN_MAX, 4},
    {GK_M_PCIE_WIDTH, 8},
    {GK_M_PCIE_WIDTH_MAX, 16},
    {GK_M_BAR1_USED, 40},
    {GK_M_BAR1_TOTAL, 100},
    {GK_M_PCIE_TX, 500000},
    {GK_M_PCIE_RX, 501000},
};

static void every_metric_is_in_base_units(void **state)
{
	const struct gk_device *dev;
	size_t count = 0;

	(void)state;
	for (int m = 0; m < GK_M_COUNT; m++)
		count += everyday(m) || gk_metrics[m].tier == GK_TIER_ASKED;
	assert_int_equal(COUNT(values), count);
	t.options.with = GK_WITH_PCIE;
	scripted_open();
	dev = &scripted_take()->devices[1];
	for (size_t i = 0; i < COUNT(values); i++) {
		const struct gk_value *v = &dev->m[values[i].metric];

		if (v->why || v->v != values[i].value)
			fail_msg("%s: %d, %ld",
				 gk_metrics[values[i].metric].name, (int)v->why,
				 (long)v->v);
	}
}

static void a_gpu_has_its_identity(void **state)
{
	const struct gk_device *dev;

	(void)state;
	scripted_open();
	dev = &scripted_take()->devices[1];
	assert_int_equal(dev->index, 1);
	assert_int_equal(dev->mig_index, -1);
	assert_int_equal(dev->parent, -1);
	assert_int_equal(dev->gpu_instance, -1);
	assert_string_equal(dev->name, "Scripted GPU 1");
	assert_string_equal(dev->uuid, "GPU-1");
	assert_string_equal(dev->bus_id, "00000000:02:00.0");
	assert_string_equal(dev->serial, ""); /* "0" means none */
	assert_string_equal(dev->vbios, "90.00.01");
	assert_int_equal(dev->minor, 101);
	assert_int_equal(dev->compute_major, 8);
	assert_int_equal(dev->compute_minor, 6);
	assert_int_equal(dev->health, GK_HEALTH_OK);
}

static void tiers_that_are_not_wanted_are_not_read(void **state)
{
	const struct gk_snapshot *snap;

	(void)state;
	t.options.with = GK_WITHOUT_SLOW | GK_WITHOUT_PROCESSES;
	scripted_open();
	snap = scripted_take();
	assert_absent(snap->devices[0].m[GK_M_POWER_LIMIT], NOT_READ);
	assert_absent(snap->devices[0].m[GK_M_PCIE_TX], NOT_READ);
	assert_value(snap->devices[0].m[GK_M_FAN], 33);
	assert_int_equal(scripted_calls("nvmlDeviceGetPcieThroughput"), 0);
	assert_int_equal(scripted_calls("nvmlDeviceGetPowerManagementLimit"),
			 0);
	assert_int_equal(
	    scripted_calls("nvmlDeviceGetComputeRunningProcesses_v3"), 0);
	assert_true(gk_device_age(snap, &snap->devices[0], GK_TIER_SLOW) ==
		    UINT64_MAX);
	assert_true(gk_device_age(snap, &snap->devices[0], GK_TIER_FAST) <
		    10 * GK_NS_PER_S);
}

static const struct {
	nvmlReturn_t answer;
	enum gk_absence why;
} reasons[] = {
    {NVML_ERROR_NOT_SUPPORTED, GK_ABSENT_NOT_SUPPORTED},
    {NVML_ERROR_DEPRECATED, GK_ABSENT_NOT_SUPPORTED},
    {NVML_ERROR_ARGUMENT_VERSION_MISMATCH, GK_ABSENT_NOT_SUPPORTED},
    {NVML_ERROR_FUNCTION_NOT_FOUND, GK_ABSENT_NO_FUNCTION},
    {NVML_ERROR_NO_PERMISSION, GK_ABSENT_PERMISSION},
    {NVML_ERROR_TIMEOUT, GK_ABSENT_TIMEOUT},
    {NVML_ERROR_UNKNOWN, GK_ABSENT_ERROR},
    {NVML_ERROR_INVALID_ARGUMENT, GK_ABSENT_ERROR},
};

static void an_error_is_the_reason_of_an_absent_value(void **state)
{
	(void)state;
	scripted_open();
	for (size_t i = 0; i < COUNT(reasons); i++) {
		const struct gk_device *dev;

		scripted_answer("nvmlDeviceGetPowerUsage", reasons[i].answer);
		scripted_answer("nvmlDeviceGetFanSpeed", reasons[i].answer);
		dev = &scripted_take()->devices[0];
		assert_int_equal(dev->m[GK_M_POWER].why, reasons[i].why);
		assert_int_equal(dev->m[GK_M_POWER].v, 0);
		assert_int_equal(dev->m[GK_M_FAN].why, reasons[i].why);
		assert_int_equal(dev->health, GK_HEALTH_OK);
		assert_value(dev->m[GK_M_TEMP], 70);
		/* The slow tier clears the remembered refusals. */
		scripted_take();
	}
}

static void the_older_call_stands_in_for_the_newer(void **state)
{
	const struct gk_device *dev;

	(void)state;
	scripted_answer("nvmlDeviceGetMemoryInfo_v2", NVML_ERROR_NOT_SUPPORTED);
	scripted_answer("nvmlDeviceGetTemperatureV", NVML_ERROR_NOT_SUPPORTED);
	scripted_open();
	dev = &scripted_take()->devices[1];
	assert_value(dev->m[GK_M_MEM_USED], (int64_t)(2 * GIB));
	assert_value(dev->m[GK_M_MEM_FREE], (int64_t)(78 * GIB));
	assert_value(dev->m[GK_M_MEM_TOTAL], (int64_t)(80 * GIB));
	assert_absent(dev->m[GK_M_MEM_RESERVED], NOT_SUPPORTED);
	assert_value(dev->m[GK_M_TEMP], 60);
}

/* A call that is not supported is not made again before the slow tier. */
static void what_is_not_supported_is_not_asked_again(void **state)
{
	(void)state;
	scripted_reset(1);
	t.options.with = GK_WITHOUT_SLOW;
	scripted_answer("nvmlDeviceGetPowerUsage", NVML_ERROR_NOT_SUPPORTED);
	scripted_answer("nvmlDeviceGetGraphicsRunningProcesses_v3",
			NVML_ERROR_NOT_SUPPORTED);
	scripted_open();
	for (int i = 0; i < 10; i++)
		assert_absent(scripted_take()->devices[0].m[GK_M_POWER],
			      NOT_SUPPORTED);
	assert_int_equal(scripted_calls("nvmlDeviceGetPowerUsage"), 1);
	assert_int_equal(
	    scripted_calls("nvmlDeviceGetGraphicsRunningProcesses_v3"), 1);
	assert_int_equal(scripted_calls("nvmlDeviceGetUtilizationRates"), 10);
}

/* A call that failed once may work the next time. */
static void other_errors_are_asked_again(void **state)
{
	(void)state;
	scripted_reset(1);
	t.options.with = GK_WITHOUT_SLOW;
	scripted_answer("nvmlDeviceGetPowerUsage", NVML_ERROR_UNKNOWN);
	scripted_open();
	for (int i = 0; i < 3; i++)
		assert_absent(scripted_take()->devices[0].m[GK_M_POWER], ERROR);
	scripted_answer("nvmlDeviceGetPowerUsage", NVML_SUCCESS);
	assert_value(scripted_take()->devices[0].m[GK_M_POWER], 123456);
}

static void the_slow_tier_asks_anew_for_what_was_refused(void **state)
{
	(void)state;
	scripted_reset(1);
	scripted_answer("nvmlDeviceGetPowerUsage", NVML_ERROR_NOT_SUPPORTED);
	scripted_open();
	scripted_take();
	scripted_answer("nvmlDeviceGetPowerUsage", NVML_SUCCESS);
	scripted_take();
	assert_value(scripted_take()->devices[0].m[GK_M_POWER], 123456);
}

static void an_old_library_lacks_metrics_not_more(void **state)
{
	const struct gk_snapshot *snap;
	const struct gk_device *dev;

	(void)state;
	scripted_load(OLD);
	scripted_reset(1);
	strcpy(t.s->driver, "450.80.02");
	scripted_process(0, SCRIPT_COMPUTE,
			 (struct script_process){4242, GIB, 0, 0});
	scripted_open();
	snap = scripted_take();
	dev = &snap->devices[0];
	assert_int_equal(snap->cuda_version, 11000);
	assert_absent(dev->m[GK_M_FAN], NO_FUNCTION);
	assert_absent(dev->m[GK_M_ENERGY], NO_FUNCTION);
	assert_absent(dev->m[GK_M_MIG_MODE], NO_FUNCTION);
	assert_absent(dev->m[GK_M_MEM_RESERVED], NOT_SUPPORTED);
	assert_value(dev->m[GK_M_MEM_TOTAL], (int64_t)(80 * GIB));
	assert_value(dev->m[GK_M_TEMP], 60);
	assert_value(dev->m[GK_M_THROTTLE], 4);
	assert_int_equal(snap->process_count, 1);
	assert_int_equal(snap->processes[0].pid, 4242);
	assert_value(snap->processes[0].m[GK_PM_GPU_MEM], (int64_t)GIB);
}

static void a_lost_gpu_is_shown_and_comes_back(void **state)
{
	static const struct {
		nvmlReturn_t answer;
		enum gk_health health;
		enum gk_absence why;
	} losses[] = {
	    {NVML_ERROR_GPU_IS_LOST, GK_HEALTH_LOST, GK_ABSENT_LOST},
	    {NVML_ERROR_RESET_REQUIRED, GK_HEALTH_ERROR, GK_ABSENT_RESET},
	    {NVML_ERROR_GPU_NOT_FOUND, GK_HEALTH_LOST, GK_ABSENT_LOST},
	    {NVML_ERROR_UNKNOWN, GK_HEALTH_ERROR, GK_ABSENT_ERROR},
	    {NVML_ERROR_NO_PERMISSION, GK_HEALTH_ERROR, GK_ABSENT_PERMISSION},
	    {NVML_ERROR_TIMEOUT, GK_HEALTH_ERROR, GK_ABSENT_TIMEOUT},
	};

	(void)state;
	scripted_process(0, SCRIPT_COMPUTE,
			 (struct script_process){4242, GIB, ~0U, ~0U});
	scripted_open();
	for (size_t i = 0; i < COUNT(losses); i++) {
		const struct gk_snapshot *snap;

		SCRIPT(t.s->gpu[0].all = losses[i].answer;
		       t.s->gpu[0].handle = losses[i].answer);
		for (int again = 0; again < 2; again++) {
			snap = scripted_take();
			assert_int_equal(snap->device_count, 2);
			assert_int_equal(snap->devices[0].health,
					 losses[i].health);
			assert_int_equal(snap->devices[0].nvml_error,
					 losses[i].answer);
			for (int m = 0; m < GK_M_COUNT; m++)
				assert_int_equal(snap->devices[0].m[m].why,
						 everyday(m)
						     ? losses[i].why
						     : GK_ABSENT_NOT_READ);
			assert_int_equal(snap->process_count, 0);
			assert_value(snap->devices[1].m[GK_M_GPU_UTIL], 1);
		}
		if (i) /* not lost from the beginning: its name is known */
			assert_string_equal(snap->devices[0].uuid, "GPU-0");
		SCRIPT(t.s->gpu[0].all = t.s->gpu[0].handle = NVML_SUCCESS);
		snap = scripted_take();
		assert_int_equal(snap->devices[0].health, GK_HEALTH_OK);
		assert_int_equal(snap->devices[0].nvml_error, 0);
		assert_value(snap->devices[0].m[GK_M_TEMP], 70);
		assert_value(snap->devices[0].m[GK_M_FAN], 33);
		assert_value(snap->devices[0].m[GK_M_POWER_LIMIT], 400000);
		assert_string_equal(snap->devices[0].name, "Scripted GPU 0");
		assert_int_equal(snap->process_count, 1);
	}
}

/* A GPU that comes back may be another board: everything is asked again. */
static void what_was_refused_is_asked_of_who_comes_back(void **state)
{
	(void)state;
	t.options.with = GK_WITHOUT_SLOW;
	scripted_process(0, SCRIPT_GRAPHICS,
			 (struct script_process){4242, GIB, ~0U, ~0U});
	scripted_answer("nvmlDeviceGetFanSpeed", NVML_ERROR_NOT_SUPPORTED);
	scripted_answer("nvmlDeviceGetGraphicsRunningProcesses_v3",
			NVML_ERROR_NOT_SUPPORTED);
	scripted_open();
	scripted_take();
	scripted_answer("nvmlDeviceGetFanSpeed", NVML_SUCCESS);
	scripted_answer("nvmlDeviceGetGraphicsRunningProcesses_v3",
			NVML_SUCCESS);
	assert_absent(scripted_take()->devices[0].m[GK_M_FAN], NOT_SUPPORTED);
	assert_int_equal(t.snap->process_count, 0);
	SCRIPT(t.s->gpu[0].all = t.s->gpu[0].handle = NVML_ERROR_GPU_IS_LOST);
	scripted_take();
	SCRIPT(t.s->gpu[0].all = t.s->gpu[0].handle = NVML_SUCCESS);
	assert_value(scripted_take()->devices[0].m[GK_M_FAN], 33);
	assert_int_equal(t.snap->process_count, 1);
	assert_absent(t.snap->devices[1].m[GK_M_FAN], NOT_SUPPORTED);
}

/*
 * Lost in the middle of a tier: nothing that was read may stay and look valid.
 */
static void a_loss_while_reading_clears_what_was_read(void **state)
{
	const struct gk_device *dev;

	(void)state;
	scripted_open();
	scripted_take();
	scripted_answer("nvmlDeviceGetPersistenceMode", NVML_ERROR_GPU_IS_LOST);
	dev = &scripted_take()->devices[0];
	assert_int_equal(dev->health, GK_HEALTH_LOST);
	assert_absent(dev->m[GK_M_GPU_UTIL], LOST);
	assert_absent(dev->m[GK_M_PERSISTENCE], LOST);
}

static void a_gpu_that_cannot_be_opened_tells_the_error(void **state)
{
	const struct gk_snapshot *snap;

	(void)state;
	SCRIPT(t.s->gpu[0].handle = NVML_ERROR_NO_PERMISSION);
	scripted_open();
	snap = scripted_take();
	assert_int_equal(snap->devices[0].health, GK_HEALTH_ERROR);
	assert_int_equal(snap->devices[0].nvml_error, NVML_ERROR_NO_PERMISSION);
	assert_absent(snap->devices[0].m[GK_M_POWER], PERMISSION);
	assert_int_equal(snap->devices[1].health, GK_HEALTH_OK);
}

static void as_many_gpus_as_a_machine_has(void **state)
{
	const struct gk_snapshot *snap;

	(void)state;
	scripted_reset(64);
	scripted_open();
	for (int again = 0; again < 3; again++) {
		snap = scripted_take();
		assert_int_equal(snap->device_count, 64);
		for (unsigned i = 0; i < 64; i++) {
			assert_int_equal(snap->devices[i].index, i);
			assert_value(snap->devices[i].m[GK_M_GPU_UTIL], i);
		}
	}
}

static void machines_are_opened_again_and_again(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		scripted_open();
		if (i % 2)
			scripted_take();
		assert_int_equal(t.s->inits, 1);
		assert_int_equal(gk_close(t.gk), 0);
		t.gk = NULL;
		assert_int_equal(t.s->inits, 0);
	}
	assert_int_equal(gk_close(NULL), 0);
	gk_snapshot_free(NULL);
}

/* Two opens at once, as in two threads of a program. */
static void two_opens_do_not_disturb_each_other(void **state)
{
	struct gk *other;
	struct gk_snapshot *snap;

	(void)state;
	scripted_open();
	assert_int_equal(gk_open(&t.options, NULL, &other), 0);
	assert_int_equal(gk_snapshot_take(other, &snap), 0);
	scripted_take();
	assert_int_equal(gk_close(other), 0);
	assert_value(scripted_take()->devices[1].m[GK_M_GPU_UTIL], 1);
	/* A snapshot outlives the library that it was taken from. */
	assert_value(snap->devices[1].m[GK_M_GPU_UTIL], 1);
	gk_snapshot_free(snap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SCRIPTED_TEST(without_a_library_there_is_no_driver),
	    SCRIPTED_TEST(a_library_of_something_else_is_refused),
	    SCRIPTED_TEST(a_driver_that_does_not_start_says_why),
	    SCRIPTED_TEST(a_driver_that_cannot_count_is_an_error),
	    SCRIPTED_TEST(no_gpus_are_no_error),
	    SCRIPTED_TEST(every_metric_is_in_base_units),
	    SCRIPTED_TEST(a_gpu_has_its_identity),
	    SCRIPTED_TEST(tiers_that_are_not_wanted_are_not_read),
	    SCRIPTED_TEST(an_error_is_the_reason_of_an_absent_value),
	    SCRIPTED_TEST(the_older_call_stands_in_for_the_newer),
	    SCRIPTED_TEST(what_is_not_supported_is_not_asked_again),
	    SCRIPTED_TEST(other_errors_are_asked_again),
	    SCRIPTED_TEST(the_slow_tier_asks_anew_for_what_was_refused),
	    SCRIPTED_TEST(an_old_library_lacks_metrics_not_more),
	    SCRIPTED_TEST(a_lost_gpu_is_shown_and_comes_back),
	    SCRIPTED_TEST(what_was_refused_is_asked_of_who_comes_back),
	    SCRIPTED_TEST(a_loss_while_reading_clears_what_was_read),
	    SCRIPTED_TEST(a_gpu_that_cannot_be_opened_tells_the_error),
	    SCRIPTED_TEST(as_many_gpus_as_a_machine_has),
	    SCRIPTED_TEST(machines_are_opened_again_and_again),
	    SCRIPTED_TEST(two_opens_do_not_disturb_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
