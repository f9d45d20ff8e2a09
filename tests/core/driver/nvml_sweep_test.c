/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvml_sweep_test.c - checks that one thread reads the GPUs that answer at
 * once, and that no hang delays it.
 */
#include "core/scripted.h"

#include <sys/wait.h>
#include <unistd.h>

enum { GPUS = 4, LONG = 1000 };

/* Reads few metrics, so that readings are short under a sanitizer too. */
static int setup(void **state)
{
	static struct gk_metric_set only;

	scripted_setup(state);
	gk_metric_set_add(&only, GK_M_GPU_UTIL);
	t.options.only = &only;
	t.options.with = GK_WITHOUT_SLOW | GK_WITHOUT_BOARD |
			 GK_WITHOUT_PROCESSES | GK_WITHOUT_PROC;
	scripted_reset(GPUS);
	t.options.timeout_ns = 100 * GK_NS_PER_MS;
	return 0;
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, scripted_teardown)

/* The number of threads that have read the GPUs from `first` on. */
static unsigned readers(unsigned first)
{
	pthread_t reader[GPUS];
	unsigned count = 0;

	SCRIPT(for (unsigned i = 0; i < GPUS; i++) reader[i] =
		   t.s->gpu[i].caller);
	for (unsigned i = first; i < GPUS; i++) {
		bool known = false;

		for (unsigned k = first; k < i; k++)
			known |= pthread_equal(reader[i], reader[k]);
		count += !known;
	}
	return count;
}

/* Readings that take long on a busy host are not handed over. */
static void await_readers(unsigned first, unsigned count)
{
	unsigned tries = 0;

	if (!t.gk)
		scripted_open();
	while (scripted_take(), readers(first) != count)
		assert_true(++tries < LONG);
}

static void set_utils(unsigned from)
{
	SCRIPT(for (unsigned i = 0; i < GPUS; i++) t.s->gpu[i].util = from + i);
}

static void assert_utils(unsigned first, unsigned from)
{
	for (unsigned i = first; i < GPUS; i++) {
		assert_int_equal(t.snap->devices[i].health, GK_HEALTH_OK);
		assert_value(t.snap->devices[i].m[GK_M_GPU_UTIL], from + i);
	}
}

static void gpus_that_answer_at_once_share_a_thread(void **state)
{
	(void)state;
	await_readers(0, 1);
	set_utils(40);
	scripted_take();
	assert_utils(0, 40);
}

static void open_and_take(void)
{
	if (t.gk)
		assert_int_equal(gk_close(t.gk), 0);
	scripted_open();
	scripted_take();
}

/* On a busy host the first readings may take long. */
static void the_first_snapshot_needs_one_thread(void **state)
{
	unsigned tries = 0;

	(void)state;
	set_utils(30);
	open_and_take();
	while (readers(0) != 1) {
		assert_true(++tries < LONG);
		open_and_take();
	}
	assert_utils(0, 30);
}

/* Nobody has read any of them before. */
static void a_hang_at_first_holds_up_no_other_gpu(void **state)
{
	unsigned inside;

	(void)state;
	SCRIPT(t.s->gpu[0].hang = true);
	set_utils(20);
	scripted_open();
	scripted_take();
	assert_int_equal(t.snap->devices[0].health, GK_HEALTH_STALE);
	assert_utils(1, 20);
	scripted_take();
	SCRIPT(inside = t.s->gpu[0].inside);
	assert_int_equal(inside, 1);
	SCRIPT(t.s->gpu[0].hang = false);
	await_readers(0, 1);
	scripted_take();
	assert_utils(0, 20);
}

static void a_gpu_that_takes_its_time_has_its_own(void **state)
{
	(void)state;
	scripted_open();
	SCRIPT(t.s->gpu[0].delay_ms = 1);
	for (int i = 0; i < 5; i++) {
		scripted_take();
		assert_int_equal(readers(0), readers(1) + 1);
	}
	SCRIPT(t.s->gpu[0].delay_ms = 0);
	await_readers(0, 1);
}

/* The sweep is stuck in this GPU: the others' own threads read them. */
static void a_hang_holds_up_no_other_gpu(void **state)
{
	(void)state;
	await_readers(0, 1);
	SCRIPT(t.s->gpu[0].hang = true);
	for (unsigned from = 50; from < 55; from++) {
		set_utils(from);
		scripted_take();
		assert_int_equal(t.snap->devices[0].health, GK_HEALTH_STALE);
		assert_utils(1, from);
	}
	assert_int_equal(readers(1), GPUS - 1);
	SCRIPT(t.s->gpu[0].hang = false);
	await_readers(0, 1);
	scripted_take();
	assert_utils(0, 54);
}

static void next_frame(void)
{
	gk_snapshot_free(t.snap);
	t.snap = NULL;
	assert_int_equal(gk_watch_next(t.gk, &t.snap), 0);
}

/* Whether the first frame after GPU 0 hung has new values of all others. */
static bool is_next_frame_fresh(unsigned from)
{
	unsigned seen = 0;

	SCRIPT(t.s->gpu[0].hang = true);
	set_utils(from);
	next_frame();
	for (unsigned i = 1; i < GPUS; i++)
		seen += t.snap->devices[i].m[GK_M_GPU_UTIL].v == from + i;
	while (t.snap->devices[0].health != GK_HEALTH_STALE)
		next_frame();
	SCRIPT(t.s->gpu[0].hang = false);
	while (t.snap->devices[0].health != GK_HEALTH_OK || readers(0) != 1)
		next_frame();
	return seen == GPUS - 1;
}

static void hang_outer_gpus(bool hang)
{
	SCRIPT(t.s->gpu[0].hang = t.s->gpu[GPUS - 1].hang = hang);
}

static void assert_inner_utils(unsigned from)
{
	for (unsigned i = 1; i < GPUS - 1; i++) {
		assert_int_equal(t.snap->devices[i].health, GK_HEALTH_OK);
		assert_value(t.snap->devices[i].m[GK_M_GPU_UTIL], from + i);
	}
	assert_int_equal(t.snap->devices[0].health, GK_HEALTH_STALE);
	assert_int_equal(t.snap->devices[GPUS - 1].health, GK_HEALTH_STALE);
}

/* The caller waits for the last GPU, which hangs as well as the sweep. */
static void two_hangs_hold_up_no_other_gpu(void **state)
{
	(void)state;
	await_readers(0, 1);
	hang_outer_gpus(true);
	set_utils(70);
	scripted_take();
	assert_inner_utils(70);
	hang_outer_gpus(false);
}

static void two_hangs_at_first_hold_up_no_other_gpu(void **state)
{
	(void)state;
	for (unsigned from = 0; from < 30; from++) {
		hang_outer_gpus(true);
		set_utils(from);
		open_and_take();
		assert_inner_utils(from);
		hang_outer_gpus(false);
		await_readers(0, 1);
	}
}

/* Threads on a busy host are late now and then, but not always. */
static void a_hang_costs_the_others_no_frame(void **state)
{
	unsigned tries = 0;

	(void)state;
	await_readers(0, 1);
	assert_int_equal(gk_watch_start(t.gk, 200 * GK_NS_PER_MS), 0);
	next_frame();
	while (!is_next_frame_fresh(60 + tries))
		assert_true(++tries < 10);
}

/* Runs in a process of its own, since a stuck thread is left behind. */
static int close_while_stuck(void)
{
	await_readers(0, 1);
	SCRIPT(t.s->gpu[2].hang = true);
	scripted_take();
	if (gk_close(t.gk) != GK_ERR_TIMEOUT)
		return 1;
	pthread_mutex_lock(&t.s->lock);
	t.s->gpu[2].hang = false;
	pthread_cond_broadcast(&t.s->changed);
	while (t.s->gpu[2].inside)
		pthread_cond_wait(&t.s->changed, &t.s->lock);
	pthread_mutex_unlock(&t.s->lock);
	return t.s->inits == 1 ? 0 : 2; /* it is still open */
}

static void it_is_left_behind_when_it_is_stuck(void **state)
{
	int status;
	pid_t child = fork();

	(void)state;
	assert_true(child >= 0);
	if (!child) {
		_exit(close_while_stuck());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(gpus_that_answer_at_once_share_a_thread),
	    T(the_first_snapshot_needs_one_thread),
	    T(a_hang_at_first_holds_up_no_other_gpu),
	    T(a_gpu_that_takes_its_time_has_its_own),
	    T(a_hang_holds_up_no_other_gpu),
	    T(two_hangs_hold_up_no_other_gpu),
	    T(two_hangs_at_first_hold_up_no_other_gpu),
	    T(a_hang_costs_the_others_no_frame),
	    T(it_is_left_behind_when_it_is_stuck),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
