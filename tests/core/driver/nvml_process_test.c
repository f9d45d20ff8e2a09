/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvml_process_test.c - checks process lists, how they are joined, and
 * per-process utilization.
 */
#include "core/scripted.h"

#define NO ~0U /* without MIG */

static const struct gk_process *find(const struct gk_snapshot *snap,
				     unsigned device, pid_t pid)
{
	for (size_t i = 0; i < snap->process_count; i++)
		if (snap->processes[i].pid == pid &&
		    snap->processes[i].device == device)
			return &snap->processes[i];
	fail_msg("no pid %d on %u", (int)pid, device);
	return NULL;
}

static void put(unsigned gpu, enum script_list which, unsigned pid,
		unsigned long long bytes)
{
	scripted_process(gpu, which,
			 (struct script_process){pid, bytes, NO, NO});
}

static void a_pid_in_three_lists_is_one_process(void **state)
{
	const struct gk_snapshot *snap;
	const struct gk_process *p;

	(void)state;
	put(0, SCRIPT_COMPUTE, 50, 3 * GIB);
	put(0, SCRIPT_GRAPHICS, 50, 3 * GIB);
	put(0, SCRIPT_MPS, 50, 2 * GIB);
	put(0, SCRIPT_GRAPHICS, 40, GIB);
	put(0, SCRIPT_MPS, 60, GIB);
	scripted_open();
	snap = scripted_take();
	assert_int_equal(snap->process_count, 3);
	assert_int_equal(snap->devices[0].process_count, 3);
	p = find(snap, 0, 50);
	assert_int_equal(p->types, GK_PROCESS_COMPUTE | GK_PROCESS_GRAPHICS |
				       GK_PROCESS_MPS);
	assert_value(p->m[GK_PM_GPU_MEM], (int64_t)(3 * GIB));
	assert_int_equal(find(snap, 0, 40)->types, GK_PROCESS_GRAPHICS);
	assert_int_equal(find(snap, 0, 60)->types, GK_PROCESS_MPS);
}

static void processes_come_by_device_then_pid(void **state)
{
	static const struct {
		unsigned device;
		pid_t pid;
	} want[] = {{0, 5}, {0, 70}, {0, 900}, {1, 6}, {1, 70}};
	const struct gk_snapshot *snap;

	(void)state;
	put(1, SCRIPT_COMPUTE, 70, GIB);
	put(0, SCRIPT_COMPUTE, 900, GIB);
	put(0, SCRIPT_GRAPHICS, 5, GIB);
	put(0, SCRIPT_COMPUTE, 70, 2 * GIB);
	put(1, SCRIPT_COMPUTE, 6, GIB);
	scripted_open();
	snap = scripted_take();
	assert_int_equal(snap->process_count, COUNT(want));
	for (size_t i = 0; i < COUNT(want); i++) {
		assert_int_equal(snap->processes[i].device, want[i].device);
		assert_int_equal(snap->processes[i].pid, want[i].pid);
	}
	assert_value(find(snap, 0, 70)->m[GK_PM_GPU_MEM], (int64_t)(2 * GIB));
	assert_value(find(snap, 1, 70)->m[GK_PM_GPU_MEM], (int64_t)GIB);
}

/* Processes are the same in every later snapshot. */
static void processes_stay_from_snapshot_to_snapshot(void **state)
{
	(void)state;
	put(0, SCRIPT_COMPUTE, 70, GIB);
	scripted_open();
	for (int i = 0; i < 4; i++)
		assert_int_equal(scripted_take()->process_count, 1);
	SCRIPT(t.s->gpu[0].process_count[SCRIPT_COMPUTE] = 0);
	assert_int_equal(scripted_take()->process_count, 0);
}

static void memory_that_the_driver_cannot_tell_is_absent(void **state)
{
	const struct gk_snapshot *snap;

	(void)state;
	put(0, SCRIPT_COMPUTE, 50, SCRIPT_NO_BYTES);
	put(0, SCRIPT_COMPUTE, 51, SCRIPT_NO_BYTES);
	put(0, SCRIPT_GRAPHICS, 51, GIB);
	put(0, SCRIPT_COMPUTE, 52, 0);
	scripted_open();
	snap = scripted_take();
	assert_absent(find(snap, 0, 50)->m[GK_PM_GPU_MEM], NOT_SUPPORTED);
	assert_value(find(snap, 0, 51)->m[GK_PM_GPU_MEM], (int64_t)GIB);
	assert_value(find(snap, 0, 52)->m[GK_PM_GPU_MEM], 0);
}

/* The driver's version and the stride that it writes: the bytes decide. */
static const struct {
	const char *driver;
	size_t stride;
} strides[] = {
    {"535.54.03", 32},  {"535.54.03", 24}, {"535.104.05", 24},
    {"535.104.05", 32}, {"580.65.06", 24}, {"580.65.06", 32},
    {"", 24},           {"", 32},
};

static void records_of_either_length_are_understood(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(strides); i++) {
		const struct gk_snapshot *snap;

		scripted_reset(1);
		SCRIPT(t.s->stride = strides[i].stride;
		       strcpy(t.s->driver, strides[i].driver));
		for (unsigned k = 0; k < 5; k++)
			put(0, SCRIPT_COMPUTE, 1000 + k, (k + 1) * GIB);
		scripted_open();
		snap = scripted_take();
		assert_int_equal(snap->process_count, 5);
		for (unsigned k = 0; k < 5; k++)
			assert_value(
			    find(snap, 0, 1000 + (int)k)->m[GK_PM_GPU_MEM],
			    (int64_t)((k + 1) * GIB));
		assert_int_equal(gk_close(t.gk), 0);
		t.gk = NULL;
	}
}

static void records_that_cannot_be_are_left_out(void **state)
{
	const struct gk_snapshot *snap;

	(void)state;
	put(0, SCRIPT_COMPUTE, 0, GIB);
	put(0, SCRIPT_COMPUTE, 4194305, GIB);
	put(0, SCRIPT_COMPUTE, 50, GIB);
	scripted_open();
	snap = scripted_take();
	assert_int_equal(snap->process_count, 1);
	assert_int_equal(snap->processes[0].pid, 50);
}

static void a_figure_above_all_memory_hides_no_process(void **state)
{
	(void)state;
	put(0, SCRIPT_COMPUTE, 50, 1ULL << 60);
	put(0, SCRIPT_COMPUTE, 51, GIB);
	scripted_open();
	assert_absent(find(scripted_take(), 0, 50)->m[GK_PM_GPU_MEM],
		      NOT_SUPPORTED);
}

static void a_refused_list_is_no_empty_one(void **state)
{
	const struct gk_snapshot *snap;

	(void)state;
	scripted_answer("nvmlDeviceGetComputeRunningProcesses_v3",
			NVML_ERROR_NO_PERMISSION);
	scripted_answer("nvmlDeviceGetGraphicsRunningProcesses_v3",
			NVML_ERROR_NO_PERMISSION);
	scripted_answer("nvmlDeviceGetMPSComputeRunningProcesses_v3",
			NVML_ERROR_NO_PERMISSION);
	scripted_open();
	snap = scripted_take();
	assert_int_equal(snap->devices[0].process_count, 0);
	assert_int_equal(snap->devices[0].processes_why, GK_ABSENT_PERMISSION);
	/* One list that answers is enough for the processes. */
	scripted_answer("nvmlDeviceGetGraphicsRunningProcesses_v3",
			NVML_SUCCESS);
	snap = scripted_take();
	assert_int_equal(snap->devices[0].processes_why, GK_PRESENT);
}

static void lists_that_grow_between_two_questions(void **state)
{
	const struct gk_snapshot *snap;

	(void)state;
	scripted_reset(1);
	put(0, SCRIPT_COMPUTE, 50, GIB);
	SCRIPT(t.s->gpu[0].growing = 3);
	scripted_open();
	snap = scripted_take();
	assert_true(snap->process_count > 80);
	assert_int_equal(snap->process_count,
			 t.s->gpu[0].process_count[SCRIPT_COMPUTE]);
	assert_true(scripted_calls("nvmlDeviceGetComputeRunningProcesses_v3") >
		    3);
	for (size_t i = 1; i < snap->process_count; i++)
		assert_true(snap->processes[i].pid >
			    snap->processes[i - 1].pid);
}

/* It must end, and other lists must not suffer. */
static void a_list_that_always_grows_is_given_up(void **state)
{
	const struct gk_snapshot *snap;

	(void)state;
	scripted_reset(1);
	put(0, SCRIPT_GRAPHICS, 60, GIB);
	scripted_answer("nvmlDeviceGetComputeRunningProcesses_v3",
			NVML_ERROR_INSUFFICIENT_SIZE);
	scripted_open();
	snap = scripted_take();
	assert_int_equal(snap->process_count, 1);
	assert_int_equal(snap->processes[0].pid, 60);
	assert_in_range(
	    scripted_calls("nvmlDeviceGetComputeRunningProcesses_v3"), 2, 64);
}

static void many_processes_on_many_gpus(void **state)
{
	const struct gk_snapshot *snap;

	(void)state;
	scripted_reset(8);
	for (unsigned g = 0; g < 8; g++)
		for (unsigned i = 0; i < 300; i++)
			put(g, SCRIPT_COMPUTE, 1 + i, g * 1000 + i);
	scripted_open();
	snap = scripted_take();
	assert_int_equal(snap->process_count, 8 * 300);
	for (unsigned i = 0; i < snap->process_count; i++) {
		const struct gk_process *p = &snap->processes[i];

		assert_int_equal(p->device, i / 300);
		assert_int_equal(p->pid, 1 + i % 300);
		assert_value(p->m[GK_PM_GPU_MEM],
			     p->device * 1000 + p->pid - 1);
	}
}

/* A process that only the driver lists, and one that /proc has too. */
static void proc_adds_what_it_knows(void **state)
{
	const struct gk_snapshot *snap;

	(void)state;
	put(0, SCRIPT_COMPUTE, 50, GIB);
	put(0, SCRIPT_COMPUTE, 51, GIB);
	put(1, SCRIPT_COMPUTE, 51, 2 * GIB);
	tree_stat(&t.tree, (struct tree_stat){51, "train", 'R', 1, 5, 5, 9, 3});
	tree_write(&t.tree, "51/cmdline", "./train\0-x", 11);
	scripted_open();
	snap = scripted_take();
	assert_int_equal(find(snap, 0, 50)->state, GK_PROCESS_GONE);
	assert_absent(find(snap, 0, 50)->m[GK_PM_RSS], HIDDEN);
	assert_value(find(snap, 0, 50)->m[GK_PM_GPU_MEM], (int64_t)GIB);
	for (unsigned device = 0; device < 2; device++) {
		const struct gk_process *p = find(snap, device, 51);

		assert_string_equal(p->name, "train");
		assert_string_equal(p->command, "./train -x");
		assert_int_equal(p->start_ticks, 9);
		assert_value(p->m[GK_PM_GPU_MEM],
			     (int64_t)((device + 1) * GIB));
	}
}

static void sample(unsigned pid, unsigned sm, unsigned long long ago_us)
{
	struct script_gpu *g = &t.s->gpu[0];

	SCRIPT(g->sample[g->sample_count++] = (nvmlProcessUtilizationSample_t){
		   pid, ago_us, sm, sm / 2, 3, 4});
}

static void samples_give_the_utilisation_of_a_process(void **state)
{
	const struct gk_snapshot *snap;

	(void)state;
	put(0, SCRIPT_COMPUTE, 50, GIB);
	put(0, SCRIPT_COMPUTE, 51, GIB);
	sample(50, 20, 300000);
	sample(50, 40, 100000); /* the newest counts */
	sample(50, 30, 200000);
	scripted_open();
	snap = scripted_take();
	assert_value(find(snap, 0, 50)->m[GK_PM_SM_UTIL], 40);
	assert_value(find(snap, 0, 50)->m[GK_PM_MEM_UTIL], 20);
	assert_value(find(snap, 0, 50)->m[GK_PM_ENC_UTIL], 3);
	assert_value(find(snap, 0, 50)->m[GK_PM_DEC_UTIL], 4);
	/* Without a sample it is idle. */
	assert_value(find(snap, 0, 51)->m[GK_PM_SM_UTIL], 0);
}

static void leftovers_among_samples_are_no_utilisation(void **state)
{
	const struct gk_snapshot *snap;

	(void)state;
	put(0, SCRIPT_COMPUTE, 50, GIB);
	put(0, SCRIPT_COMPUTE, 51, GIB);
	put(0, SCRIPT_COMPUTE, 52, GIB);
	sample(50, 101, 1000);           /* above 100 % */
	sample(51, 50, 60ULL * 1000000); /* a minute ago */
	sample(0, 50, 1000);
	sample(52, 4000000000U, 1000);
	sample(52, 70, 2000);
	scripted_open();
	snap = scripted_take();
	assert_value(find(snap, 0, 50)->m[GK_PM_SM_UTIL], 0);
	assert_value(find(snap, 0, 51)->m[GK_PM_SM_UTIL], 0);
	assert_value(find(snap, 0, 52)->m[GK_PM_SM_UTIL], 70);
}

static void no_sample_at_all_is_idle_not_unknown(void **state)
{
	(void)state;
	put(0, SCRIPT_COMPUTE, 50, GIB);
	scripted_open();
	assert_value(find(scripted_take(), 0, 50)->m[GK_PM_SM_UTIL], 0);
	scripted_answer("nvmlDeviceGetProcessUtilization",
			NVML_ERROR_NOT_SUPPORTED);
	assert_absent(find(scripted_take(), 0, 50)->m[GK_PM_SM_UTIL],
		      NOT_SUPPORTED);
	scripted_answer("nvmlDeviceGetProcessUtilization",
			NVML_ERROR_NO_PERMISSION);
	assert_absent(find(scripted_take(), 0, 50)->m[GK_PM_SM_UTIL],
		      PERMISSION);
}

/* The buffer is read in steps: each call begins where the last one ended. */
static void samples_are_asked_for_since_the_last_one(void **state)
{
	unsigned long long first, second, now;

	(void)state;
	put(0, SCRIPT_COMPUTE, 50, GIB);
	scripted_open();
	now = gk_wall_ns() / 1000;
	scripted_take();
	first = t.s->gpu[0].asked_since;
	assert_true(first >= now - 1000000 && first <= now);
	sample(50, 40, 1000);
	now = gk_wall_ns() / 1000;
	scripted_take();
	scripted_take();
	second = t.s->gpu[0].asked_since;
	assert_true(second >= now - 1000);
	/* Between two of the driver's samples the last one stays valid. */
	SCRIPT(t.s->gpu[0].sample_count = 0);
	assert_value(find(scripted_take(), 0, 50)->m[GK_PM_SM_UTIL], 40);
}

static void a_gpu_without_processes_is_not_asked_for_samples(void **state)
{
	(void)state;
	scripted_open();
	scripted_take();
	assert_int_equal(scripted_calls("nvmlDeviceGetProcessUtilization"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SCRIPTED_TEST(a_pid_in_three_lists_is_one_process),
	    SCRIPTED_TEST(processes_come_by_device_then_pid),
	    SCRIPTED_TEST(processes_stay_from_snapshot_to_snapshot),
	    SCRIPTED_TEST(memory_that_the_driver_cannot_tell_is_absent),
	    SCRIPTED_TEST(records_of_either_length_are_understood),
	    SCRIPTED_TEST(records_that_cannot_be_are_left_out),
	    SCRIPTED_TEST(a_figure_above_all_memory_hides_no_process),
	    SCRIPTED_TEST(a_refused_list_is_no_empty_one),
	    SCRIPTED_TEST(lists_that_grow_between_two_questions),
	    SCRIPTED_TEST(a_list_that_always_grows_is_given_up),
	    SCRIPTED_TEST(many_processes_on_many_gpus),
	    SCRIPTED_TEST(proc_adds_what_it_knows),
	    SCRIPTED_TEST(samples_give_the_utilisation_of_a_process),
	    SCRIPTED_TEST(leftovers_among_samples_are_no_utilisation),
	    SCRIPTED_TEST(no_sample_at_all_is_idle_not_unknown),
	    SCRIPTED_TEST(samples_are_asked_for_since_the_last_one),
	    SCRIPTED_TEST(a_gpu_without_processes_is_not_asked_for_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
