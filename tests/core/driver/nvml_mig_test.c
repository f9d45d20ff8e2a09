/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvml_mig_test.c - checks MIG devices: gaps in their indices, coming and
 * going, processes.
 */
#include "core/scripted.h"

static int setup(void **state)
{
	scripted_setup(state);
	SCRIPT(t.s->gpu[0].mig_enabled = true; t.s->gpu[0].mig = 0x0b);
	return 0;
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, scripted_teardown)

/* Checks the devices of a snapshot: "0 0.0 0.1 1". */
static void check(const char *want)
{
	const struct gk_snapshot *snap = scripted_take();
	char text[256] = "";
	size_t len = 0;

	for (size_t i = 0; i < snap->device_count; i++) {
		const struct gk_device *dev = &snap->devices[i];

		len += (size_t)snprintf(text + len, sizeof text - len, "%s%u",
					i ? " " : "", dev->index);
		if (dev->mig_index >= 0)
			len += (size_t)snprintf(text + len, sizeof text - len,
						".%d", dev->mig_index);
	}
	assert_string_equal(text, want);
}

static void mig_devices_follow_their_gpu(void **state)
{
	const struct gk_device *dev;

	(void)state;
	scripted_open();
	check("0 0.0 0.1 0.3 1");
	dev = t.snap->devices;
	assert_value(dev[0].m[GK_M_MIG_MODE], 1);
	assert_string_equal(dev[3].name, "Scripted GPU 0 MIG");
	assert_string_equal(dev[3].uuid, "MIG-0-3");
	assert_int_equal(dev[3].parent, 0);
	assert_int_equal(dev[3].gpu_instance, 4);
	assert_int_equal(dev[3].compute_instance, 0);
	assert_string_equal(dev[3].bus_id, dev[0].bus_id);
	assert_int_equal(dev[3].minor, dev[0].minor);
	assert_int_equal(dev[3].compute_major, 8);
	assert_value(dev[3].m[GK_M_MEM_TOTAL], (int64_t)SCRIPT_TOTAL);
	assert_absent(dev[3].m[GK_M_GPU_UTIL], NOT_SUPPORTED);
	assert_int_equal(dev[4].parent, -1);
	assert_int_equal(dev[4].gpu_instance, -1);
}

/* The search ends, and the count is not passed on. */
static void more_mig_devices_than_can_be(void **state)
{
	unsigned slots;

	(void)state;
	SCRIPT(t.s->gpu[0].lie = 4000000000; t.s->gpu[0].util = 2000000000);
	scripted_open();
	check("0 0.0 0.1 0.3 1");
	assert_int_equal(t.snap->devices[0].minor, -1);
	assert_int_equal(t.snap->devices[0].compute_major, -1);
	assert_absent(t.snap->devices[0].m[GK_M_GPU_UTIL], NONSENSE);
	assert_int_equal(t.snap->devices[0].m[GK_M_GPU_UTIL].v, 2000000000);
	assert_int_equal(gk_mig_slots(t.gk, 0, &slots, NULL), 0);
	assert_int_equal(slots, 256);
}

static void a_gpu_that_is_not_split_is_not_searched(void **state)
{
	(void)state;
	SCRIPT(t.s->gpu[0].mig_enabled = false);
	scripted_open();
	check("0 1");
	assert_int_equal(scripted_calls("nvmlDeviceGetMigDeviceHandleByIndex"),
			 0);
}

static void mig_devices_come_and_go(void **state)
{
	static const struct {
		unsigned mig;
		const char *devices;
	} turns[] = {
	    {0x0b, "0 0.0 0.1 0.3 1"},
	    {0x0a, "0 0.1 0.3 1"},
	    {0x00, "0 1"},
	    {0x80, "0 0.7 1"},
	    {0xff, "0 0.0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 1"},
	};

	(void)state;
	scripted_open();
	for (size_t i = 0; i < COUNT(turns); i++) {
		SCRIPT(t.s->gpu[0].mig = turns[i].mig);
		check(turns[i].devices);
		/* New ones are read at once. */
		for (size_t d = 0; d < t.snap->device_count; d++) {
			assert_value(t.snap->devices[d].m[GK_M_MEM_TOTAL],
				     (int64_t)SCRIPT_TOTAL);
			assert_true(t.snap->devices[d].m[GK_M_FAN].why !=
				    GK_ABSENT_NOT_READ);
		}
	}
	SCRIPT(t.s->gpu[0].mig_enabled = false);
	check("0 1");
}

/* The MIG device on which a pid must be shown. */
static unsigned device_of(const struct gk_snapshot *snap, pid_t pid)
{
	unsigned found = ~0U;

	for (size_t i = 0; i < snap->process_count; i++)
		if (snap->processes[i].pid == pid) {
			assert_int_equal(found, ~0U); /* on one device only */
			found = snap->processes[i].device;
		}
	return found;
}

static void processes_are_on_their_mig_device_once(void **state)
{
	(void)state;
	scripted_process(0, SCRIPT_COMPUTE,
			 (struct script_process){70, GIB, 4, 0});
	scripted_process(0, SCRIPT_COMPUTE,
			 (struct script_process){71, GIB, 2, 0});
	scripted_process(0, SCRIPT_COMPUTE,
			 (struct script_process){72, GIB, 1, 0});
	scripted_process(0, SCRIPT_COMPUTE,
			 (struct script_process){73, GIB, ~0U, ~0U});
	scripted_process(1, SCRIPT_COMPUTE,
			 (struct script_process){74, GIB, ~0U, ~0U});
	scripted_open();
	for (int i = 0; i < 3; i++) {
		const struct gk_snapshot *snap = scripted_take();

		assert_int_equal(snap->process_count, 5);
		assert_int_equal(device_of(snap, 70), 3);
		assert_int_equal(device_of(snap, 71), 2);
		assert_int_equal(device_of(snap, 72), 1);
		assert_int_equal(device_of(snap, 73), 0);
		assert_int_equal(device_of(snap, 74), 4);
		assert_int_equal(snap->devices[3].process_count, 1);
		/* Its own processes, and those of its three MIG devices. */
		assert_int_equal(snap->devices[0].process_count, 4);
		assert_int_equal(snap->devices[4].process_count, 1);
	}
}

/* Positions shift when a device before them goes, and processes follow. */
static void processes_follow_when_a_device_goes(void **state)
{
	const struct gk_snapshot *snap;

	(void)state;
	scripted_process(0, SCRIPT_COMPUTE,
			 (struct script_process){70, GIB, 4, 0});
	scripted_open();
	assert_int_equal(device_of(scripted_take(), 70), 3);
	SCRIPT(t.s->gpu[0].mig = 0x08);
	snap = scripted_take();
	assert_int_equal(snap->process_count, 1);
	assert_int_equal(device_of(snap, 70), 1);
	assert_int_equal(snap->devices[1].mig_index, 3);
}

static void a_lost_gpu_takes_its_mig_devices_along(void **state)
{
	(void)state;
	scripted_open();
	check("0 0.0 0.1 0.3 1");
	SCRIPT(t.s->gpu[0].all = t.s->gpu[0].handle = NVML_ERROR_GPU_IS_LOST);
	check("0 0.0 0.1 0.3 1");
	for (int i = 0; i < 4; i++) {
		assert_int_equal(t.snap->devices[i].health, GK_HEALTH_LOST);
		assert_absent(t.snap->devices[i].m[GK_M_MEM_TOTAL], LOST);
	}
	/* It comes back with other MIG devices. */
	SCRIPT(t.s->gpu[0].all = t.s->gpu[0].handle = NVML_SUCCESS;
	       t.s->gpu[0].mig = 0x04);
	check("0 0.2 1");
	assert_int_equal(t.snap->devices[1].health, GK_HEALTH_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(mig_devices_follow_their_gpu),
	    T(more_mig_devices_than_can_be),
	    T(a_gpu_that_is_not_split_is_not_searched),
	    T(mig_devices_come_and_go),
	    T(processes_are_on_their_mig_device_once),
	    T(processes_follow_when_a_device_goes),
	    T(a_lost_gpu_takes_its_mig_devices_along),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
