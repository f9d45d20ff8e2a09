/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvml_hang_test.c - checks that a GPU whose driver does not answer delays
 * nobody.
 */
#include "core/scripted.h"

#include <sys/wait.h>

/* Healthy GPUs answer within it even on a loaded host. */
#define TIMEOUT GK_NS_PER_S
/* More than a loaded host needs, and less than a second timeout. */
#define SLACK (900 * GK_NS_PER_MS)

static int setup(void **state)
{
	scripted_setup(state);
	scripted_reset(3);
	t.options.timeout_ns = TIMEOUT;
	return 0;
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, scripted_teardown)

/* Takes a snapshot and returns the time that it took. */
static uint64_t timed_take(void)
{
	uint64_t begin = gk_mono_ns();

	scripted_take();
	return gk_mono_ns() - begin;
}

static void release(unsigned gpu)
{
	SCRIPT(t.s->gpu[gpu].hang = false);
}

static void a_gpu_that_hangs_keeps_its_last_values(void **state)
{
	const struct gk_device *dev;
	uint64_t took, age;

	(void)state;
	scripted_open();
	scripted_take();
	SCRIPT(t.s->gpu[1].hang = true; t.s->gpu[0].util = 77;
	       t.s->gpu[1].util = 88; t.s->gpu[2].util = 99);
	took = timed_take();
	assert_true(took >= TIMEOUT && took < TIMEOUT + SLACK);
	dev = t.snap->devices;
	assert_int_equal(t.snap->device_count, 3);
	assert_int_equal(dev[0].health, GK_HEALTH_OK);
	assert_int_equal(dev[1].health, GK_HEALTH_STALE);
	assert_int_equal(dev[2].health, GK_HEALTH_OK);
	assert_value(dev[0].m[GK_M_GPU_UTIL], 77);
	assert_value(dev[1].m[GK_M_GPU_UTIL], 1);
	assert_value(dev[2].m[GK_M_GPU_UTIL], 99);
	assert_string_equal(dev[1].name, "Scripted GPU 1");
	age = gk_device_age(t.snap, &dev[1], GK_TIER_FAST);
	assert_true(age >= TIMEOUT && age < 10 * GK_NS_PER_S);
	assert_true(gk_device_age(t.snap, &dev[0], GK_TIER_FAST) < age);
	release(1);
}

static void the_age_grows_while_it_hangs_and_ends_with_it(void **state)
{
	uint64_t age = 0;

	(void)state;
	scripted_open();
	scripted_take();
	SCRIPT(t.s->gpu[1].hang = true);
	for (int i = 0; i < 3; i++) {
		uint64_t now;

		timed_take();
		now = gk_device_age(t.snap, &t.snap->devices[1], GK_TIER_FAST);
		assert_true(now > age);
		age = now;
	}
	SCRIPT(t.s->gpu[1].hang = false; t.s->gpu[1].util = 44);
	/* The first answer may be to the question that hung. */
	do {
		scripted_take();
	} while (t.snap->devices[1].health == GK_HEALTH_STALE);
	scripted_take();
	assert_value(t.snap->devices[1].m[GK_M_GPU_UTIL], 44);
	assert_true(gk_device_age(t.snap, &t.snap->devices[1], GK_TIER_FAST) <
		    age);
}

/* From the first call on nothing is known, and the reason is given. */
static void a_gpu_that_never_answered_has_no_values(void **state)
{
	const struct gk_device *dev;

	(void)state;
	SCRIPT(t.s->gpu[0].hang = true);
	scripted_open();
	assert_true(timed_take() < TIMEOUT + SLACK);
	dev = &t.snap->devices[0];
	assert_int_equal(t.snap->device_count, 3);
	assert_int_equal(dev->health, GK_HEALTH_STALE);
	assert_string_equal(dev->uuid, "");
	for (int m = 0; m < GK_M_COUNT; m++)
		assert_int_equal(dev->m[m].why, everyday(m)
						    ? GK_ABSENT_TIMEOUT
						    : GK_ABSENT_NOT_READ);
	assert_true(gk_device_age(t.snap, dev, GK_TIER_FAST) == UINT64_MAX);
	assert_value(t.snap->devices[1].m[GK_M_TEMP], 70);
	release(0);
}

/* The timeout is for all together, not for one after the other. */
static void many_hanging_gpus_cost_one_timeout(void **state)
{
	(void)state;
	scripted_reset(16);
	scripted_open();
	scripted_take();
	for (unsigned i = 0; i < 15; i++)
		SCRIPT(t.s->gpu[i].hang = true);
	assert_true(timed_take() < 10 * TIMEOUT);
	for (unsigned i = 0; i < 15; i++)
		assert_int_equal(t.snap->devices[i].health, GK_HEALTH_STALE);
	assert_int_equal(t.snap->devices[15].health, GK_HEALTH_OK);
	for (unsigned i = 0; i < 15; i++)
		release(i);
}

static void a_slow_gpu_is_stale_until_it_has_answered(void **state)
{
	uint64_t fast;

	(void)state;
	scripted_reset(1);
	t.options.with = GK_WITHOUT_SLOW;
	scripted_process(0, SCRIPT_COMPUTE,
			 (struct script_process){70, GIB, ~0U, ~0U});
	scripted_open();
	scripted_take();
	SCRIPT(t.s->gpu[0].delay_ms = 150);
	/* Every call takes 150 ms, and the fast tier has ten. */
	timed_take();
	assert_int_equal(t.snap->devices[0].health, GK_HEALTH_STALE);
	assert_int_equal(t.snap->process_count, 1);
	fast = t.snap->devices[0].read_ns[GK_TIER_FAST];
	SCRIPT(t.s->gpu[0].delay_ms = 0);
	do {
		scripted_take();
	} while (t.snap->devices[0].health != GK_HEALTH_OK);
	assert_true(t.snap->devices[0].read_ns[GK_TIER_FAST] > fast);
}

/*
 * A worker that is left behind still uses what it was given when all else is
 * freed and the driver continues. Runs in a child, which ends by _exit().
 */
static int abandon(void)
{
	if (gk_open(&t.options, NULL, &t.gk) || gk_snapshot_take(t.gk, &t.snap))
		return 1;
	SCRIPT(t.s->gpu[1].hang = true);
	gk_snapshot_free(t.snap);
	if (gk_snapshot_take(t.gk, &t.snap))
		return 2;
	scripted_await_hang(1);
	if (gk_close(t.gk) != GK_ERR_TIMEOUT)
		return 3;
	if (t.s->inits != 1) /* not shut down while it is in use */
		return 4;
	/*
	 * The last snapshot belongs to the caller, whatever happened to the
	 * rest.
	 */
	if (t.snap->devices[1].health != GK_HEALTH_STALE)
		return 5;
	gk_snapshot_free(t.snap);
	release(1);
	pthread_mutex_lock(&t.s->lock);
	while (t.s->gpu[1].inside)
		pthread_cond_wait(&t.s->changed, &t.s->lock);
	pthread_mutex_unlock(&t.s->lock);
	/* Another open works while the worker winds down. */
	if (gk_open(&t.options, NULL, &t.gk) || gk_snapshot_take(t.gk, &t.snap))
		return 6;
	gk_snapshot_free(t.snap);
	return gk_close(t.gk) ? 7 : 0;
}

static void closing_leaves_a_hanging_worker_behind(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	if (!pid)
		_exit(abandon());
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

/* The other workers end, and those that are merely busy are waited for. */
static void closing_waits_for_a_call_under_way(void **state)
{
	int r;

	(void)state;
	scripted_reset(1);
	t.options.timeout_ns = 10 * GK_NS_PER_S;
	scripted_open();
	SCRIPT(t.s->gpu[0].delay_ms = 5);
	assert_int_equal(gk_watch_begin(t.gk, GK_NS_PER_S), 0);
	/* Waits for the first call of a reading. */
	while (!scripted_calls("nvmlDeviceGetUtilizationRates"))
		gk_sleep_until(gk_mono_ns() + GK_NS_PER_MS);
	r = gk_close(t.gk);
	t.gk = NULL;
	assert_int_equal(r, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(a_gpu_that_hangs_keeps_its_last_values),
	    T(the_age_grows_while_it_hangs_and_ends_with_it),
	    T(a_gpu_that_never_answered_has_no_values),
	    T(many_hanging_gpus_cost_one_timeout),
	    T(a_slow_gpu_is_stale_until_it_has_answered),
	    T(closing_leaves_a_hanging_worker_behind),
	    T(closing_waits_for_a_call_under_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
