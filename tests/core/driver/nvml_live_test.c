/* SPDX-License-Identifier: Apache-2.0 */
/* nvml_live_test.c - checks asking one device at once, on a scripted driver. */
#include "core/scripted.h"

static struct gk_value read_one(unsigned gpu, int mig, enum gk_metric metric,
				int *ret_nvml)
{
	struct gk_value value = {0};

	assert_int_equal(gk_read(t.gk, gpu, mig, &metric, 1, &value, ret_nvml),
			 0);
	return value;
}

static void it_costs_the_call_and_nothing_else(void **state)
{
	(void)state;
	scripted_open();
	for (int i = 0; i < 3; i++) {
		struct gk_value power = read_one(1, -1, GK_M_POWER, NULL);

		assert_value(power, 123456);
	}
	assert_int_equal(scripted_calls("nvmlDeviceGetPowerUsage"), 3);
	assert_int_equal(scripted_calls("nvmlDeviceGetHandleByIndex_v2"), 1);
	assert_int_equal(scripted_calls("nvmlDeviceGetName"), 0);
	assert_int_equal(scripted_calls("nvmlDeviceGetTemperatureV"), 0);
}

static void metrics_of_one_call_come_from_one_call(void **state)
{
	static const enum gk_metric metrics[] = {GK_M_MEM_FREE, GK_M_POWER,
						 GK_M_MEM_USED, GK_M_MEM_FREE,
						 GK_M_MEM_TOTAL};
	struct gk_value values[COUNT(metrics)];
	int nvml[COUNT(metrics)];

	(void)state;
	scripted_open();
	assert_int_equal(
	    gk_read(t.gk, 1, -1, metrics, COUNT(metrics), values, nvml), 0);
	assert_value(values[0], 78 * GIB);
	assert_value(values[1], 123456);
	assert_value(values[2], GIB);
	assert_value(values[3], 78 * GIB);
	assert_value(values[4], 80 * GIB);
	for (size_t i = 0; i < COUNT(metrics); i++)
		assert_int_equal(nvml[i], 0);
	assert_int_equal(scripted_calls("nvmlDeviceGetMemoryInfo_v2"), 1);
}

static void details_need_no_option(void **state)
{
	static const enum gk_metric metrics[] = {GK_M_CORES, GK_M_POWER_INSTANT,
						 GK_M_TEMP_MARGIN};
	struct gk_value values[COUNT(metrics)];

	(void)state;
	scripted_open();
	assert_int_equal(
	    gk_read(t.gk, 0, -1, metrics, COUNT(metrics), values, NULL), 0);
	assert_value(values[0], 6912);
	assert_true(values[1].why == GK_PRESENT ||
		    values[1].why == GK_ABSENT_NOT_SUPPORTED);
	assert_value(values[2], -2);
}

static void every_metric_is_that_of_the_snapshot(void **state)
{
	const struct gk_snapshot *snap;

	(void)state;
	t.options.with = GK_WITH_DETAIL | GK_WITH_PCIE;
	scripted_open();
	snap = scripted_take();
	for (int i = 0; i < GK_M_COUNT; i++) {
		struct gk_value live = read_one(1, -1, (enum gk_metric)i, NULL);

		assert_int_equal(live.why, snap->devices[1].m[i].why);
		assert_int_equal(live.v, snap->devices[1].m[i].v);
	}
}

static void an_absent_value_comes_with_the_answer(void **state)
{
	int nvml = 77;

	(void)state;
	scripted_open();
	scripted_answer("nvmlDeviceGetPowerUsage", NVML_ERROR_NO_PERMISSION);
	assert_absent(read_one(0, -1, GK_M_POWER, &nvml), PERMISSION);
	assert_int_equal(nvml, NVML_ERROR_NO_PERMISSION);
	scripted_answer("nvmlDeviceGetPowerUsage", NVML_ERROR_NOT_SUPPORTED);
	for (int i = 0; i < 2; i++)
		assert_absent(read_one(0, -1, GK_M_POWER, &nvml),
			      NOT_SUPPORTED);
	assert_int_equal(nvml, NVML_ERROR_NOT_SUPPORTED);
	scripted_answer("nvmlDeviceGetPowerUsage", NVML_SUCCESS);
	assert_value(read_one(0, -1, GK_M_POWER, &nvml), 123456);
	assert_int_equal(nvml, 0);
}

static void a_field_value_comes_with_the_answer(void **state)
{
	int nvml = 77;

	(void)state;
	scripted_open();
	scripted_answer("nvmlDeviceGetFieldValues", NVML_ERROR_NO_PERMISSION);
	assert_absent(read_one(0, -1, GK_M_POWER_INSTANT, &nvml), PERMISSION);
	assert_int_equal(nvml, NVML_ERROR_NO_PERMISSION);
	scripted_answer("nvmlDeviceGetFieldValues", NVML_ERROR_GPU_IS_LOST);
	assert_absent(read_one(0, -1, GK_M_POWER_INSTANT, &nvml), LOST);
	assert_int_equal(nvml, NVML_ERROR_GPU_IS_LOST);
}

static void a_gpu_that_is_lost_is_opened_anew(void **state)
{
	struct gk_device device;
	int nvml = 77;

	(void)state;
	scripted_open();
	assert_value(read_one(0, -1, GK_M_POWER, NULL), 123456);
	SCRIPT(t.s->gpu[0].all = NVML_ERROR_GPU_IS_LOST);
	assert_absent(read_one(0, -1, GK_M_POWER, &nvml), LOST);
	assert_int_equal(nvml, NVML_ERROR_GPU_IS_LOST);
	SCRIPT(t.s->gpu[0].handle = NVML_ERROR_GPU_IS_LOST);
	assert_absent(read_one(0, -1, GK_M_POWER, &nvml), LOST);
	assert_int_equal(gk_identify(t.gk, 0, -1, &device, &nvml), GK_ERR_LOST);
	assert_int_equal(nvml, NVML_ERROR_GPU_IS_LOST);
	assert_value(read_one(1, -1, GK_M_POWER, NULL), 123456);
	SCRIPT(t.s->gpu[0].handle = t.s->gpu[0].all = NVML_SUCCESS);
	assert_value(read_one(0, -1, GK_M_POWER, NULL), 123456);
}

static void a_gpu_that_is_lost_has_no_name(void **state)
{
	struct gk_device device = {.index = 77};
	int nvml = 77;

	(void)state;
	scripted_open();
	assert_int_equal(gk_identify(t.gk, 0, -1, &device, &nvml), 0);
	assert_string_equal(device.uuid, "GPU-0");
	SCRIPT(t.s->gpu[0].all = NVML_ERROR_GPU_IS_LOST);
	device.index = 77;
	assert_int_equal(gk_identify(t.gk, 0, -1, &device, &nvml), GK_ERR_LOST);
	assert_int_equal(nvml, NVML_ERROR_GPU_IS_LOST);
	assert_int_equal(device.index, 77);
}

static void what_is_not_there_is_not_found(void **state)
{
	static const enum gk_metric metric = GK_M_POWER;
	static const enum gk_metric none = GK_M_COUNT;
	struct gk_value value = {.v = 77};
	struct gk_use *uses;
	struct gk_device device;
	size_t count;
	int nvml = 77;

	(void)state;
	scripted_open();
	assert_int_equal(gk_gpu_count(t.gk), 2);
	assert_int_equal(gk_read(t.gk, 2, -1, &metric, 1, &value, &nvml),
			 GK_ERR_NOT_FOUND);
	assert_int_equal(gk_read(t.gk, 0, 0, &metric, 1, &value, &nvml),
			 GK_ERR_NOT_FOUND);
	assert_int_equal(gk_read(t.gk, 0, -1, &none, 1, &value, &nvml),
			 GK_ERR_INVALID);
	assert_int_equal(value.v, 77);
	assert_int_equal(gk_identify(t.gk, 2, -1, &device, &nvml),
			 GK_ERR_NOT_FOUND);
	assert_int_equal(nvml, NVML_ERROR_INVALID_ARGUMENT);
	assert_int_equal(gk_read_processes(t.gk, 0, 5, &uses, &count, &nvml),
			 GK_ERR_NOT_FOUND);
	assert_int_equal(gk_read_processes(t.gk, 9, -1, &uses, &count, NULL),
			 GK_ERR_NOT_FOUND);
}

static void a_mig_device_is_the_one_of_now(void **state)
{
	struct gk_device device;

	(void)state;
	SCRIPT(t.s->gpu[0].mig_enabled = true; t.s->gpu[0].mig = 1U << 2);
	scripted_open();
	assert_int_equal(gk_identify(t.gk, 0, 2, &device, NULL), 0);
	assert_string_equal(device.uuid, "MIG-0-2");
	assert_int_equal(device.mig_index, 2);
	assert_int_equal(device.gpu_instance, 3);
	assert_value(read_one(0, 2, GK_M_MEM_TOTAL, NULL), SCRIPT_TOTAL);
	assert_absent(read_one(0, 2, GK_M_POWER, NULL), NOT_SUPPORTED);
	SCRIPT(t.s->gpu[0].mig = 1U << 1);
	assert_int_equal(gk_identify(t.gk, 0, 2, &device, NULL),
			 GK_ERR_NOT_FOUND);
	assert_int_equal(gk_identify(t.gk, 0, 1, &device, NULL), 0);
	assert_string_equal(device.uuid, "MIG-0-1");
}

static void processes_are_those_of_the_device(void **state)
{
	struct gk_use *uses;
	size_t count;

	(void)state;
	SCRIPT(t.s->gpu[0].mig_enabled = true; t.s->gpu[0].mig = 3);
	scripted_process(0, SCRIPT_COMPUTE,
			 (struct script_process){10, GIB, 1, 0});
	scripted_process(0, SCRIPT_COMPUTE,
			 (struct script_process){11, 2 * GIB, 2, 0});
	scripted_process(0, SCRIPT_GRAPHICS,
			 (struct script_process){11, 2 * GIB, 2, 0});
	scripted_process(1, SCRIPT_COMPUTE,
			 (struct script_process){12, GIB, SCRIPT_WITHOUT_GI,
						 SCRIPT_WITHOUT_GI});
	scripted_open();
	assert_int_equal(gk_read_processes(t.gk, 0, -1, &uses, &count, NULL),
			 0);
	assert_int_equal(count, 2);
	free(uses);
	assert_int_equal(gk_read_processes(t.gk, 0, 1, &uses, &count, NULL), 0);
	assert_int_equal(count, 1);
	assert_int_equal(uses[0].pid, 11);
	assert_int_equal(uses[0].mig_index, 1);
	assert_int_equal(uses[0].types,
			 GK_PROCESS_COMPUTE | GK_PROCESS_GRAPHICS);
	assert_value(uses[0].m[GK_PM_GPU_MEM], 2 * GIB);
	assert_absent(uses[0].m[GK_PM_RSS], NOT_READ);
	free(uses);
	assert_int_equal(gk_read_processes(t.gk, 1, -1, &uses, &count, NULL),
			 0);
	assert_int_equal(count, 1);
	assert_int_equal(uses[0].pid, 12);
	assert_int_equal(uses[0].mig_index, -1);
	free(uses);
}

static void mig_devices_may_be_others_in_the_next_list(void **state)
{
	struct gk_use *uses;
	size_t count;

	(void)state;
	SCRIPT(t.s->gpu[0].mig_enabled = true; t.s->gpu[0].mig = 1);
	scripted_process(0, SCRIPT_COMPUTE,
			 (struct script_process){10, GIB, 2, 0});
	scripted_open();
	assert_int_equal(gk_read_processes(t.gk, 0, 1, &uses, &count, NULL),
			 GK_ERR_NOT_FOUND);
	SCRIPT(t.s->gpu[0].mig = 3);
	assert_int_equal(gk_read_processes(t.gk, 0, 1, &uses, &count, NULL), 0);
	assert_int_equal(count, 1);
	free(uses);
}

static void a_lost_gpu_has_no_list(void **state)
{
	struct gk_use *uses;
	size_t count;
	int nvml = 0;

	(void)state;
	SCRIPT(t.s->gpu[0].handle = NVML_ERROR_GPU_IS_LOST);
	scripted_open();
	assert_int_equal(gk_read_processes(t.gk, 0, -1, &uses, &count, &nvml),
			 GK_ERR_LOST);
	assert_int_equal(nvml, NVML_ERROR_GPU_IS_LOST);
	SCRIPT(t.s->gpu[0].handle = NVML_SUCCESS);
	assert_int_equal(gk_read_processes(t.gk, 0, -1, &uses, &count, &nvml),
			 0);
	assert_int_equal(count, 0);
	free(uses);
}

/* GPU 1 answers while GPU 0 hangs in the driver, in a thread of its own. */
static void *read_gpu_0(void *arg)
{
	struct gk_value *value = arg;

	*value = read_one(0, -1, GK_M_POWER, NULL);
	return NULL;
}

static void a_gpu_that_hangs_holds_up_its_own_reader_alone(void **state)
{
	struct gk_value late = {0};
	pthread_t thread;

	(void)state;
	scripted_open();
	SCRIPT(t.s->gpu[0].hang = true);
	pthread_create(&thread, NULL, read_gpu_0, &late);
	scripted_await_hang(0);
	assert_value(read_one(1, -1, GK_M_POWER, NULL), 123456);
	SCRIPT(t.s->gpu[0].hang = false);
	pthread_join(thread, NULL);
	assert_value(late, 123456);
}

static void *read_often(void *arg)
{
	enum gk_metric metric = GK_M_POWER;
	struct gk_value value;

	(void)arg;
	for (int i = 0; i < 1000; i++) {
		gk_read_within(t.gk, 1, -1, &metric, 1, UINT64_MAX, &value,
			       NULL);
		assert_value(value, 123456);
	}
	return NULL;
}

/* Waiters for the driver, for its GPUs, and for others who ask the same GPU. */
static void who_waits_for_ever_is_not_late(void **state)
{
	pthread_t threads[3];

	(void)state;
	t.options.timeout_ns = UINT64_MAX;
	assert_int_equal(gk_open_within(&t.options, UINT64_MAX, NULL, &t.gk),
			 0);
	assert_int_equal(gk_snapshot_within(t.gk, UINT64_MAX, &t.snap), 0);
	assert_int_equal(t.snap->devices[1].health, GK_HEALTH_OK);
	for (size_t i = 0; i < COUNT(threads); i++)
		pthread_create(&threads[i], NULL, read_often, NULL);
	for (size_t i = 0; i < COUNT(threads); i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(gk_close(t.gk), 0);
	t.gk = NULL;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    SCRIPTED_TEST(it_costs_the_call_and_nothing_else),
	    SCRIPTED_TEST(metrics_of_one_call_come_from_one_call),
	    SCRIPTED_TEST(details_need_no_option),
	    SCRIPTED_TEST(every_metric_is_that_of_the_snapshot),
	    SCRIPTED_TEST(an_absent_value_comes_with_the_answer),
	    SCRIPTED_TEST(a_field_value_comes_with_the_answer),
	    SCRIPTED_TEST(a_gpu_that_is_lost_is_opened_anew),
	    SCRIPTED_TEST(a_gpu_that_is_lost_has_no_name),
	    SCRIPTED_TEST(what_is_not_there_is_not_found),
	    SCRIPTED_TEST(a_mig_device_is_the_one_of_now),
	    SCRIPTED_TEST(processes_are_those_of_the_device),
	    SCRIPTED_TEST(mig_devices_may_be_others_in_the_next_list),
	    SCRIPTED_TEST(a_lost_gpu_has_no_list),
	    SCRIPTED_TEST(a_gpu_that_hangs_holds_up_its_own_reader_alone),
	    SCRIPTED_TEST(who_waits_for_ever_is_not_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
