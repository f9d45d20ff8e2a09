/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvml_snapshot_test.c - checks that a snapshot is made from readings of GPUs,
 * with each process read once.
 */
#include "core/context.h"
#include "core/scripted.h"

static void put(unsigned gpu, enum script_list which, unsigned pid,
		unsigned long long bytes)
{
	scripted_process(gpu, which,
			 (struct script_process){pid, bytes, SCRIPT_WITHOUT_GI,
						 SCRIPT_WITHOUT_GI});
}

static void check_age(uint64_t mono_ns, uint64_t read_ns, uint64_t age)
{
	struct gk_snapshot snap = {.mono_ns = mono_ns};
	struct gk_device dev = {.read_ns[GK_TIER_SLOW] = read_ns};

	assert_true(gk_device_age(&snap, &dev, GK_TIER_SLOW) == age);
	assert_true(gk_device_age(&snap, &dev, GK_TIER_FAST) == UINT64_MAX);
	assert_true(gk_device_age(&snap, &dev, GK_TIER_COUNT) == UINT64_MAX);
	assert_true(gk_device_age(&snap, &dev, (enum gk_tier) - 1) ==
		    UINT64_MAX);
}

static void the_age_is_since_the_last_answer(void **state)
{
	(void)state;
	check_age(100, 0, UINT64_MAX);
	check_age(100, 1, 99);
	check_age(100, 100, 0);
	/* Read while the snapshot was made. */
	check_age(100, 101, 0);
}

static void a_snapshot_says_when_and_of_what(void **state)
{
	uint64_t wall = gk_wall_ns(), mono = gk_mono_ns();

	(void)state;
	scripted_open();
	scripted_take();
	assert_in_range(t.snap->wall_ns, wall, gk_wall_ns());
	assert_in_range(t.snap->mono_ns, mono, gk_mono_ns());
	assert_string_equal(t.snap->driver_version, "580.65.06");
	assert_string_equal(t.snap->nvml_version, "13.580");
	assert_int_equal(t.snap->cuda_version, 13000);
	assert_null(t.snap->topology);
}

static void an_old_driver_tells_its_cuda_by_another_name(void **state)
{
	(void)state;
	scripted_load(OLD);
	scripted_reset(1);
	scripted_open();
	assert_int_equal(scripted_take()->cuda_version, 11000);
}

static void versions_that_are_refused_are_empty(void **state)
{
	(void)state;
	scripted_answer("nvmlSystemGetDriverVersion", NVML_ERROR_UNKNOWN);
	scripted_answer("nvmlSystemGetNVMLVersion", NVML_ERROR_UNKNOWN);
	scripted_open();
	scripted_take();
	assert_string_equal(t.snap->driver_version, "");
	assert_string_equal(t.snap->nvml_version, "");
}

/* Pid 50 is on both GPUs, 60 on one. */
static void put_processes(void)
{
	put(0, SCRIPT_COMPUTE, 60, 3 * GIB);
	put(0, SCRIPT_COMPUTE, 50, GIB);
	put(1, SCRIPT_GRAPHICS, 50, 2 * GIB);
	tree_stat(&t.tree, (struct tree_stat){50, "both", 'S', 7, 0, 0, 5, 9});
	tree_stat(&t.tree, (struct tree_stat){60, "one", 'R', 8, 0, 0, 5, 3});
	tree_text(&t.tree, "50/cmdline", "run both");
}

static void check_process(size_t at, pid_t pid, unsigned device, unsigned types,
			  uint64_t bytes)
{
	const struct gk_process *p = &t.snap->processes[at];

	assert_int_equal(p->pid, pid);
	assert_int_equal(p->device, device);
	assert_int_equal(p->types, types);
	assert_value(p->m[GK_PM_GPU_MEM], (int64_t)bytes);
}

static void a_process_on_two_gpus_is_read_once(void **state)
{
	(void)state;
	put_processes();
	scripted_open();
	scripted_take();
	assert_int_equal(t.snap->process_count, 3);
	check_process(0, 50, 0, GK_PROCESS_COMPUTE, GIB);
	check_process(1, 60, 0, GK_PROCESS_COMPUTE, 3 * GIB);
	check_process(2, 50, 1, GK_PROCESS_GRAPHICS, 2 * GIB);
	assert_int_equal(t.snap->devices[0].process_count, 2);
	assert_int_equal(t.snap->devices[1].process_count, 1);
	for (size_t i = 0; i < 3; i += 2) {
		assert_string_equal(t.snap->processes[i].name, "both");
		assert_string_equal(t.snap->processes[i].command, "run both");
		assert_int_equal(t.snap->processes[i].parent, 7);
		assert_value(t.snap->processes[i].m[GK_PM_RSS],
			     9 * sysconf(_SC_PAGESIZE));
	}
	/* The same strings, since the process was read once. */
	assert_ptr_equal(t.snap->processes[0].name, t.snap->processes[2].name);
	assert_string_equal(t.snap->processes[1].name, "one");
	assert_int_equal(t.snap->processes[1].parent, 8);
}

static void without_the_host_its_name_is_read(void **state)
{
	char name[GK_NAME_MAX] = "";

	(void)state;
	put_processes();
	assert_int_equal(gethostname(name, sizeof name - 1), 0);
	t.options.with = GK_WITHOUT_HOST;
	scripted_open();
	scripted_take();
	assert_string_equal(t.snap->host.hostname, name);
	assert_absent(t.snap->host.load_centi[0], NOT_READ);
	assert_absent(t.snap->host.mem_total, NOT_READ);
	assert_string_equal(t.snap->processes[0].name, "both");
}

static void without_proc_nothing_is_read_there(void **state)
{
	(void)state;
	put_processes();
	t.options.with = GK_WITHOUT_PROC | GK_WITH_THREADS;
	scripted_open();
	scripted_take();
	assert_int_equal(t.snap->process_count, 3);
	check_process(2, 50, 1, GK_PROCESS_GRAPHICS, 2 * GIB);
	for (size_t i = 0; i < 3; i++) {
		const struct gk_process *p = &t.snap->processes[i];

		assert_int_equal(p->uid, (uid_t)-1);
		assert_string_equal(p->user, "");
		assert_string_equal(p->name, "");
		assert_string_equal(p->command, "");
		assert_string_equal(p->container, "");
		assert_string_equal(p->pod, "");
		assert_string_equal(p->args, "");
		assert_string_equal(p->cwd, "");
		assert_absent(p->m[GK_PM_CPU], NOT_READ);
		assert_absent(p->m[GK_PM_RSS], NOT_READ);
		assert_absent(p->m[GK_PM_RUN_TIME], NOT_READ);
		assert_absent(p->m[GK_PM_THREADS], NOT_READ);
	}
	assert_absent(t.snap->host.cpu_centipercent, NOT_READ);
	assert_absent(t.snap->host.mem_total, NOT_READ);
	assert_string_equal(t.snap->host.hostname, "");
}

/* When a GPU is late, only values that were never read change their reason. */
static void a_late_gpu_keeps_its_reasons(void **state)
{
	static const bool late[] = {false, true};
	const struct gk_device *dev;

	(void)state;
	scripted_answer("nvmlDeviceGetFanSpeed", NVML_ERROR_NOT_SUPPORTED);
	put_processes();
	scripted_open();
	scripted_take();
	gk_snapshot_free(t.snap);
	assert_int_equal(gk_compose(t.gk, late, &t.snap), 0);
	dev = t.snap->devices;
	assert_int_equal(dev[0].health, GK_HEALTH_OK);
	assert_int_equal(dev[1].health, GK_HEALTH_STALE);
	assert_value(dev[1].m[GK_M_GPU_UTIL], 1);
	assert_absent(dev[1].m[GK_M_FAN], NOT_SUPPORTED);
	assert_absent(dev[1].m[GK_M_POWER_INSTANT], NOT_READ);
	assert_int_equal(dev[1].processes_why, GK_PRESENT);
	assert_int_equal(t.snap->process_count, 3);
}

/* Whole GPUs have no parent; a MIG device has its GPU's position. */
static void parents_are_places_in_the_snapshot(void **state)
{
	static const int parents[] = {-1, -1, 1, 1, -1};

	(void)state;
	scripted_reset(3);
	SCRIPT(t.s->gpu[1].mig_enabled = true; t.s->gpu[1].mig = 5);
	scripted_process(1, SCRIPT_COMPUTE,
			 (struct script_process){70, GIB, 3, 0});
	put(2, SCRIPT_COMPUTE, 71, GIB);
	scripted_open();
	scripted_take();
	assert_int_equal(t.snap->device_count, 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(t.snap->devices[i].parent, parents[i]);
	assert_int_equal(t.snap->process_count, 2);
	check_process(0, 70, 3, GK_PROCESS_COMPUTE, GIB);
	check_process(1, 71, 4, GK_PROCESS_COMPUTE, GIB);
}

static void no_gpu_is_no_error(void **state)
{
	(void)state;
	scripted_reset(0);
	t.options.with = GK_WITH_TOPOLOGY;
	scripted_open();
	scripted_take();
	assert_int_equal(t.snap->device_count, 0);
	assert_int_equal(t.snap->process_count, 0);
	assert_non_null(t.snap->devices);
	assert_non_null(t.snap->processes);
	assert_int_equal(t.snap->topology->count, 0);
}

static void refuses_to_open(int err, int nvml)
{
	int ret_nvml = 4711;

	assert_int_equal(gk_open(&t.options, &ret_nvml, &t.gk), err);
	assert_int_equal(ret_nvml, nvml);
	assert_null(t.gk);
	assert_int_equal(gk_open(&t.options, NULL, &t.gk), err);
	assert_int_equal(t.s->inits, 0);
}

static void a_driver_that_refuses_is_not_opened(void **state)
{
	(void)state;
	SCRIPT(t.s->init = NVML_ERROR_DRIVER_NOT_LOADED);
	refuses_to_open(GK_ERR_DRIVER, NVML_ERROR_DRIVER_NOT_LOADED);
	SCRIPT(t.s->init = NVML_SUCCESS);
	scripted_answer("nvmlDeviceGetCount_v2", NVML_ERROR_NO_PERMISSION);
	refuses_to_open(GK_ERR_DRIVER, NVML_ERROR_NO_PERMISSION);
	scripted_answer("nvmlDeviceGetCount_v2", NVML_SUCCESS);
	SCRIPT(t.s->gpu_count = 1025);
	refuses_to_open(GK_ERR_TOO_MANY, 4711);
	t.options.nvml_path = "/nowhere/libnvml.so";
	refuses_to_open(GK_ERR_NO_DRIVER, 4711);
	assert_int_equal(gk_close(NULL), 0);
}

/* libc has none of the required functions. */
static void another_library_is_no_driver(void **state)
{
	(void)state;
	t.options.nvml_path = "libc.so.6";
	refuses_to_open(GK_ERR_DRIVER, NVML_ERROR_FUNCTION_NOT_FOUND);
}

static void what_is_read_of_processes_can_be_changed(void **state)
{
	(void)state;
	put_processes();
	t.options.with = GK_WITH_THREADS;
	scripted_open();
	scripted_take();
	assert_value(t.snap->processes[0].m[GK_PM_THREADS], 1);
	assert_int_equal(t.snap->processes[0].cwd_why, GK_ABSENT_NOT_READ);
	/* Bits that do not concern processes are left as they are. */
	gk_read_of_processes(t.gk, GK_WITH_CWD | GK_WITHOUT_PROC);
	scripted_take();
	assert_absent(t.snap->processes[0].m[GK_PM_THREADS], NOT_READ);
	assert_int_equal(t.snap->processes[0].cwd_why, GK_ABSENT_HIDDEN);
	assert_string_equal(t.snap->processes[0].name, "both");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SCRIPTED_TEST(the_age_is_since_the_last_answer),
	    SCRIPTED_TEST(a_snapshot_says_when_and_of_what),
	    SCRIPTED_TEST(an_old_driver_tells_its_cuda_by_another_name),
	    SCRIPTED_TEST(versions_that_are_refused_are_empty),
	    SCRIPTED_TEST(a_process_on_two_gpus_is_read_once),
	    SCRIPTED_TEST(without_the_host_its_name_is_read),
	    SCRIPTED_TEST(without_proc_nothing_is_read_there),
	    SCRIPTED_TEST(a_late_gpu_keeps_its_reasons),
	    SCRIPTED_TEST(parents_are_places_in_the_snapshot),
	    SCRIPTED_TEST(no_gpu_is_no_error),
	    SCRIPTED_TEST(a_driver_that_refuses_is_not_opened),
	    SCRIPTED_TEST(another_library_is_no_driver),
	    SCRIPTED_TEST(what_is_read_of_processes_can_be_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
