/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvml_ask_test.c - checks that whoever asks a GPU that does not answer
 * continues at his deadline.
 */
#include "core/context.h"
#include "core/scripted.h"

#include <dirent.h>
#include <sched.h>
#include <sys/wait.h>

#define TIMEOUT (1000 * GK_NS_PER_MS) /* longer than a busy host stalls */
/* More than a loaded host needs for what waits for nothing. */
#define SLACK (5 * GK_NS_PER_S)

static int setup(void **state)
{
	scripted_setup(state);
	scripted_reset(3);
	t.options.timeout_ns = TIMEOUT;
	return 0;
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, scripted_teardown)

static void hang(unsigned gpu)
{
	SCRIPT(t.s->gpu[gpu].hang = true);
}

/* Lets a GPU answer again, and waits until nobody is stuck in it. */
static void release(unsigned gpu)
{
	SCRIPT(t.s->gpu[gpu].hang = false);
	while (t.gk && gk_silence(t.gk, gpu))
		sched_yield();
}

static struct gk_value read_one(unsigned gpu, enum gk_metric metric,
				int *ret_nvml)
{
	struct gk_value value = {0};

	assert_int_equal(gk_read(t.gk, gpu, -1, &metric, 1, &value, ret_nvml),
			 0);
	return value;
}

/* The number of threads in its calls. */
static unsigned stuck(unsigned gpu)
{
	unsigned inside;

	SCRIPT(inside = t.s->gpu[gpu].inside);
	return inside;
}

/* A value that is late on a busy host is asked for again. */
static void assert_answers(unsigned gpu)
{
	struct gk_value value;

	do {
		value = read_one(gpu, GK_M_GPU_UTIL, NULL);
	} while (value.why == GK_ABSENT_TIMEOUT);
	assert_value(value, gpu);
}

static unsigned threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	unsigned count = 0;

	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static void a_value_that_is_late_is_absent(void **state)
{
	uint64_t began;
	int nvml = 0;

	(void)state;
	scripted_open();
	assert_answers(1);
	hang(1);
	began = gk_mono_ns();
	assert_absent(read_one(1, GK_M_GPU_UTIL, &nvml), TIMEOUT);
	assert_true(gk_mono_ns() - began >= TIMEOUT);
	assert_int_equal(nvml, NVML_ERROR_TIMEOUT);
	assert_answers(0);
	assert_answers(2);
	release(1);
	assert_answers(1);
}

static void the_deadline_may_be_the_callers(void **state)
{
	const enum gk_metric metric = GK_M_TEMP;
	uint64_t began = gk_mono_ns();
	struct gk_value value;

	(void)state;
	t.options.timeout_ns = 1000 * GK_NS_PER_S;
	hang(0);
	scripted_open();
	assert_int_equal(gk_read_within(t.gk, 0, -1, &metric, 1,
					50 * GK_NS_PER_MS, &value, NULL),
			 0);
	assert_absent(value, TIMEOUT);
	gk_set_timeout(t.gk, 60 * GK_NS_PER_MS);
	assert_absent(read_one(0, GK_M_TEMP, NULL), TIMEOUT);
	assert_true(gk_mono_ns() - began < 100 * GK_NS_PER_S);
	release(0);
}

static uint64_t own_cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * GK_NS_PER_S + (uint64_t)used.tv_nsec;
}

static void who_waits_sleeps(void **state)
{
	uint64_t before;

	(void)state;
	scripted_open();
	assert_answers(1);
	hang(1);
	before = own_cpu_ns();
	assert_absent(read_one(1, GK_M_GPU_UTIL, NULL), TIMEOUT);
	assert_true(own_cpu_ns() - before < TIMEOUT / 10);
	release(1);
}

/* One thread stays with it, and only the first question waits. */
static void it_may_be_asked_ten_thousand_times(void **state)
{
	unsigned before;
	uint64_t began;

	(void)state;
	scripted_open();
	hang(0);
	assert_absent(read_one(0, GK_M_TEMP, NULL), TIMEOUT);
	assert_answers(1);
	before = threads();
	began = gk_mono_ns();
	for (int i = 0; i < 10000; i++)
		assert_absent(read_one(0, GK_M_TEMP, NULL), TIMEOUT);
	assert_true(gk_mono_ns() - began < SLACK);
	assert_int_equal(threads(), before);
	assert_int_equal(stuck(0), 1);
	release(0);
	assert_answers(0);
}

static void its_silence_is_told(void **state)
{
	uint64_t first;

	(void)state;
	scripted_open();
	assert_answers(0);
	assert_int_equal(gk_silence(t.gk, 0), 0);
	hang(0);
	read_one(0, GK_M_TEMP, NULL);
	first = gk_silence(t.gk, 0);
	assert_true(first >= TIMEOUT);
	assert_true(gk_silence(t.gk, 0) > first);
	assert_int_equal(gk_silence(t.gk, 1), 0);
	assert_int_equal(gk_silence(t.gk, 99), 0);
	release(0);
	assert_answers(0);
}

static void all_functions_have_the_deadline(void **state)
{
	struct gk_link links[GK_LINKS_MAX];
	struct gk_device device = {.index = 77};
	struct gk_use *uses = NULL;
	size_t count = 0;
	unsigned slots = 77;
	void *handle = NULL;
	int nvml = 0;

	(void)state;
	scripted_open();
	hang(0);
	assert_int_equal(gk_nvml_handle(t.gk, 0, -1, &handle, &nvml),
			 GK_ERR_TIMEOUT);
	assert_int_equal(nvml, NVML_ERROR_TIMEOUT);
	assert_int_equal(gk_identify(t.gk, 0, -1, &device, NULL),
			 GK_ERR_TIMEOUT);
	assert_int_equal(device.index, 77);
	assert_int_equal(gk_mig_slots(t.gk, 0, &slots, NULL), GK_ERR_TIMEOUT);
	assert_int_equal(slots, 77);
	assert_int_equal(gk_read_links(t.gk, 0, links, &count, NULL),
			 GK_ERR_TIMEOUT);
	assert_int_equal(gk_read_processes(t.gk, 0, -1, &uses, &count, NULL),
			 GK_ERR_TIMEOUT);
	assert_null(uses);
	release(0);
}

/* A late list has no recipient and is freed. */
static void a_list_that_is_late_is_thrown_away(void **state)
{
	struct gk_use *uses = NULL;
	size_t count = 0;

	(void)state;
	scripted_process(0, SCRIPT_COMPUTE,
			 (struct script_process){70, GIB, ~0U, ~0U});
	scripted_open();
	hang(0);
	assert_int_equal(gk_read_processes(t.gk, 0, -1, &uses, &count, NULL),
			 GK_ERR_TIMEOUT);
	release(0);
	while (gk_read_processes(t.gk, 0, -1, &uses, &count, NULL))
		;
	assert_int_equal(count, 1);
	free(uses);
}

static void who_it_was_is_known(void **state)
{
	struct gk_device device = {0};

	(void)state;
	scripted_open();
	while (gk_identify(t.gk, 0, -1, &device, NULL))
		;
	hang(0);
	device.uuid[0] = '\0';
	assert_int_equal(gk_identify(t.gk, 0, -1, &device, NULL), 0);
	assert_string_equal(device.uuid, "GPU-0");
	release(0);
}

/* All that hang cost one timeout together. */
static void all_are_identified_at_once(void **state)
{
	enum { GPUS = 64 };
	static struct gk_device devices[GPUS];
	int errors[GPUS], nvml[GPUS];
	uint64_t began;

	(void)state;
	scripted_reset(GPUS);
	for (unsigned i = 0; i < GPUS; i += 2)
		hang(i);
	scripted_open();
	began = gk_mono_ns();
	gk_identify_all(t.gk, devices, errors, nvml);
	assert_true(gk_mono_ns() - began < GPUS / 4 * TIMEOUT);
	for (unsigned i = 0; i < GPUS; i++) {
		assert_int_equal(errors[i], i % 2 ? 0 : GK_ERR_TIMEOUT);
		assert_int_equal(nvml[i], i % 2 ? 0 : NVML_ERROR_TIMEOUT);
		if (i % 2)
			assert_int_equal(devices[i].index, i);
	}
	for (unsigned i = 0; i < GPUS; i += 2)
		release(i);
}

/* A GPU that was waited for in vain is not waited for again. */
static void a_snapshot_waits_once(void **state)
{
	uint64_t began;

	(void)state;
	t.options.timeout_ns = 2 * GK_NS_PER_S;
	scripted_open();
	hang(1);
	scripted_take();
	began = gk_mono_ns();
	for (int i = 0; i < 20; i++) {
		scripted_take();
		assert_int_equal(t.snap->devices[1].health, GK_HEALTH_STALE);
	}
	assert_true(gk_mono_ns() - began < 20 * GK_NS_PER_S);
	assert_true(gk_silence(t.gk, 1) >= t.options.timeout_ns);
	release(1);
	do {
		scripted_take();
	} while (t.snap->devices[1].health != GK_HEALTH_OK);
}

/* Its worker is stuck in the driver: no second thread follows it. */
static void a_worker_that_is_stuck_is_enough(void **state)
{
	(void)state;
	scripted_open();
	hang(0);
	scripted_take();
	scripted_take(); /* until it has waited that long */
	assert_absent(read_one(0, GK_M_TEMP, NULL), TIMEOUT);
	assert_int_equal(stuck(0), 1);
	release(0);
}

struct asking {
	pthread_t thread;
	unsigned gpu;
	bool well;
};

static void *keep_asking(void *arg)
{
	const enum gk_metric metrics[] = {GK_M_GPU_UTIL, GK_M_POWER};
	struct asking *a = arg;

	a->well = true;
	for (int i = 0; i < 2000 && a->well; i++) {
		struct gk_value v[2];

		a->well = !gk_read_within(t.gk, a->gpu, -1, metrics, 2,
					  100 * GK_NS_PER_S, v, NULL) &&
			  !v[0].why && v[0].v == a->gpu && v[1].v == 123456;
	}
	return NULL;
}

static void many_may_ask_at_the_same_time(void **state)
{
	struct asking all[9];

	(void)state;
	scripted_open();
	for (unsigned i = 0; i < COUNT(all); i++) {
		all[i].gpu = i % 3;
		pthread_create(&all[i].thread, NULL, keep_asking, &all[i]);
	}
	for (unsigned i = 0; i < COUNT(all); i++) {
		pthread_join(all[i].thread, NULL);
		assert_true(all[i].well);
	}
}

/* Some metrics twice, and others than before: each value is in its place. */
static void each_value_has_its_place(void **state)
{
	const enum gk_metric twice[] = {GK_M_POWER, GK_M_GPU_UTIL, GK_M_POWER};
	const enum gk_metric other[] = {GK_M_GPU_UTIL, GK_M_POWER};
	struct gk_value v[3];

	(void)state;
	scripted_open();
	for (int i = 0; i < 100; i++) {
		assert_int_equal(gk_read_within(t.gk, 1, -1, twice, 3,
						100 * GK_NS_PER_S, v, NULL),
				 0);
		assert_value(v[0], 123456);
		assert_value(v[1], 1);
		assert_value(v[2], 123456);
		assert_int_equal(gk_read_within(t.gk, 1, -1, other, 2,
						100 * GK_NS_PER_S, v, NULL),
				 0);
		assert_value(v[0], 1);
		assert_value(v[1], 123456);
	}
}

/* One thread for each GPU, and one for where another cannot run. */
static void threads_are_few(void **state)
{
	struct asking all[12];
	unsigned before;

	(void)state;
	scripted_open();
	before = threads();
	for (unsigned i = 0; i < COUNT(all); i++) {
		all[i].gpu = i % 3;
		pthread_create(&all[i].thread, NULL, keep_asking, &all[i]);
	}
	for (unsigned i = 0; i < COUNT(all); i++)
		pthread_join(all[i].thread, NULL);
	assert_true(threads() <= before + 3 + 1);
}

/* Nobody polls that long for a question. */
static void who_is_not_asked_sleeps(void **state)
{
	uint64_t began;

	(void)state;
	scripted_open();
	for (unsigned gpu = 0; gpu < 3; gpu++)
		assert_answers(gpu);
	began = gk_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	gk_sleep_until(gk_mono_ns() + 300 * GK_NS_PER_MS);
	assert_true(gk_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - began <
		    30 * GK_NS_PER_MS);
}

/* On one processor nobody can run while another thread polls. */
static void one_processor_is_enough(void **state)
{
	cpu_set_t may, one;
	int cpu = 0;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof may, &may), 0);
	while (!CPU_ISSET((size_t)cpu, &may))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
	scripted_open();
	for (int i = 0; i < 1000; i++)
		assert_answers((unsigned)i % 3);
	assert_int_equal(sched_setaffinity(0, sizeof may, &may), 0);
}

/* A thread that moved to another processor may move back. */
static void threads_may_run_anywhere(void **state)
{
	cpu_set_t may, its;
	struct dirent *entry;
	DIR *dir;

	(void)state;
	scripted_open();
	for (int i = 0; i < 3000; i++)
		assert_answers((unsigned)i % 3);
	gk_sleep_until(gk_mono_ns() + 50 * GK_NS_PER_MS);
	assert_int_equal(sched_getaffinity(0, sizeof may, &may), 0);
	dir = opendir("/proc/self/task");
	while ((entry = readdir(dir)))
		if (atoi(entry->d_name) &&
		    !sched_getaffinity(atoi(entry->d_name), sizeof its, &its))
			assert_true(CPU_EQUAL(&its, &may));
	closedir(dir);
}

static void what_came_in_time_is_told(void **state)
{
	const enum gk_metric metrics[] = {GK_M_GPU_UTIL, GK_M_POWER};
	struct gk_value values[2];
	int nvml[2];

	(void)state;
	scripted_open();
	assert_answers(0);
	/* The first call succeeds, and the second hangs. */
	SCRIPT(t.s->gpu[0].hang_at = 2);
	assert_int_equal(gk_read(t.gk, 0, -1, metrics, 2, values, nvml), 0);
	assert_value(values[0], 0);
	assert_int_equal(nvml[0], 0);
	assert_absent(values[1], TIMEOUT);
	assert_int_equal(nvml[1], NVML_ERROR_TIMEOUT);
	release(0);
}

/* Runs in a child: a stuck thread can only be left behind. */
static int leave_it(void)
{
	const enum gk_metric metric = GK_M_TEMP;
	struct gk_value value;

	if (gk_open(&t.options, NULL, &t.gk))
		return 1;
	hang(0);
	if (gk_read(t.gk, 0, -1, &metric, 1, &value, NULL) ||
	    value.why != GK_ABSENT_TIMEOUT)
		return 2;
	if (gk_close(t.gk) != GK_ERR_TIMEOUT)
		return 3;
	t.gk = NULL;
	release(0);
	return 0;
}

static void closing_leaves_it_behind(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	if (!pid)
		_exit(leave_it());
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

/* ---- opening ---- */

static void opening_has_a_deadline(void **state)
{
	unsigned before;
	int nvml = 0;

	(void)state;
	SCRIPT(t.s->init_hangs = true);
	assert_int_equal(gk_open_within(&t.options, TIMEOUT, &nvml, &t.gk),
			 GK_ERR_TIMEOUT);
	assert_int_equal(nvml, NVML_ERROR_TIMEOUT);
	before = threads();
	for (int i = 0; i < 1000; i++)
		assert_int_equal(
		    gk_open_within(&t.options, TIMEOUT, &nvml, &t.gk),
		    GK_ERR_TIMEOUT);
	assert_int_equal(threads(), before);
	assert_null(t.gk);
	/* A library that opened too late serves the next attempt. */
	SCRIPT(t.s->init_hangs = false);
	while (gk_open(&t.options, NULL, &t.gk))
		sched_yield();
	assert_int_equal(t.s->inits, 1);
	assert_answers(1);
}

/* The number of threads once those of earlier tests have ended. */
static unsigned settled_threads(void)
{
	unsigned now = threads(), last;

	do {
		last = now;
		gk_sleep_until(gk_mono_ns() + 300 * GK_NS_PER_MS);
		now = threads();
	} while (now != last);
	return now;
}

/* A caller who never waits long would else not hear why it fails. */
static void a_late_failure_is_told_once(void **state)
{
	unsigned before = settled_threads();
	int nvml = 0;

	(void)state;
	SCRIPT(t.s->init_hangs = true);
	assert_int_equal(gk_open_within(&t.options, TIMEOUT, &nvml, &t.gk),
			 GK_ERR_TIMEOUT);
	SCRIPT(t.s->init_hangs = false;
	       t.s->init = NVML_ERROR_DRIVER_NOT_LOADED);
	while (threads() > before)
		sched_yield();
	SCRIPT(t.s->init_hangs = true);
	assert_int_equal(gk_open_within(&t.options, TIMEOUT, &nvml, &t.gk),
			 GK_ERR_DRIVER);
	assert_int_equal(nvml, NVML_ERROR_DRIVER_NOT_LOADED);
	assert_int_equal(gk_open_within(&t.options, TIMEOUT, &nvml, &t.gk),
			 GK_ERR_TIMEOUT);
	SCRIPT(t.s->init_hangs = false);
	while (threads() > before)
		sched_yield();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(a_value_that_is_late_is_absent),
	    T(who_waits_sleeps),
	    T(the_deadline_may_be_the_callers),
	    T(it_may_be_asked_ten_thousand_times),
	    T(its_silence_is_told),
	    T(all_functions_have_the_deadline),
	    T(a_list_that_is_late_is_thrown_away),
	    T(who_it_was_is_known),
	    T(all_are_identified_at_once),
	    T(a_snapshot_waits_once),
	    T(a_worker_that_is_stuck_is_enough),
	    T(many_may_ask_at_the_same_time),
	    T(each_value_has_its_place),
	    T(threads_are_few),
	    T(who_is_not_asked_sleeps),
	    T(one_processor_is_enough),
	    T(threads_may_run_anywhere),
	    T(what_came_in_time_is_told),
	    T(closing_leaves_it_behind),
	    T(opening_has_a_deadline),
	    T(a_late_failure_is_told_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
