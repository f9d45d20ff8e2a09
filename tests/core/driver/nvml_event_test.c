/* SPDX-License-Identifier: Apache-2.0 */
/* nvml_event_test.c - checks Xid errors as the driver reports them. */
#include "core/scripted.h"

#include <sys/resource.h>

#define WAIT_MAX_MS 1000 /* the constant of events.c */

/* A driver that is left in its wait returns by itself. */
static int teardown(void **state)
{
	(void)state;
	SCRIPT(t.s->events.hang = false);
	gk_snapshot_free(t.snap);
	t.snap = NULL;
	if (t.gk)
		assert_int_equal(gk_close(t.gk), 0);
	t.gk = NULL;
	for (int i = 0; i < 300; i++) {
		bool ended;

		pthread_mutex_lock(&t.s->lock);
		ended = !t.s->inits && !t.s->events.sets;
		pthread_mutex_unlock(&t.s->lock);
		if (ended)
			break;
		gk_sleep_until(gk_mono_ns() + 10 * GK_NS_PER_MS);
	}
	return scripted_teardown(state);
}

static int setup(void **state)
{
	scripted_setup(state);
	t.options.with = GK_WITH_EVENTS;
	return 0;
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* Waits until a condition of the script holds; false: it never did. */
#define await(condition)                                                       \
	__extension__({                                                        \
		uint64_t end_ = gk_mono_ns() + 10 * GK_NS_PER_S;               \
		bool so_ = false;                                              \
                                                                               \
		while (!so_ && gk_mono_ns() < end_) {                          \
			pthread_mutex_lock(&t.s->lock);                        \
			so_ = (condition);                                     \
			pthread_mutex_unlock(&t.s->lock);                      \
			if (!so_)                                              \
				gk_sleep_until(gk_mono_ns() + GK_NS_PER_MS);   \
		}                                                              \
		so_;                                                           \
	})

static void open_and_listen(void)
{
	scripted_open();
	scripted_take();
	assert_true(
	    await(t.s->events.registered[0] && t.s->events.registered[1]));
}

static void raise_xid(unsigned gpu, unsigned xid)
{
	SCRIPT(t.s->events.xid[t.s->events.xids].gpu = gpu;
	       t.s->events.xid[t.s->events.xids++].xid = xid);
	assert_true(await(!t.s->events.xids));
}

/* Waits until a GPU has this count. */
static void await_count(unsigned gpu, int64_t count)
{
	for (int i = 0; i < 1000; i++) {
		if (scripted_take()->devices[gpu].m[GK_M_XID_COUNT].v == count)
			return;
		gk_sleep_until(gk_mono_ns() + GK_NS_PER_MS);
	}
	fail_msg("never %ld Xids", (long)count);
}

static void xids_are_counted(void **state)
{
	const struct gk_device *dev;
	uint64_t begin = gk_wall_ns();

	(void)state;
	open_and_listen();
	dev = &scripted_take()->devices[1];
	assert_value(dev->m[GK_M_XID_COUNT], 0);
	assert_value(dev->m[GK_M_XID_LAST], 0);
	assert_absent(dev->m[GK_M_XID_TIME], NONE);
	raise_xid(1, 79);
	raise_xid(1, 31);
	await_count(1, 2);
	dev = t.snap->devices;
	assert_value(dev[1].m[GK_M_XID_LAST], 31);
	assert_true(dev[1].m[GK_M_XID_TIME].v >= (int64_t)begin);
	assert_true(dev[1].m[GK_M_XID_TIME].v <= (int64_t)gk_wall_ns());
	assert_value(dev[0].m[GK_M_XID_COUNT], 0);
	assert_true(dev[1].read_ns[GK_TIER_EVENT] > 0);
}

static void one_wait_serves_all_gpus(void **state)
{
	(void)state;
	scripted_reset(16);
	scripted_open();
	scripted_take();
	assert_true(await(t.s->events.registrations == 16));
	assert_true(await(t.s->events.waiting == 1));
	assert_int_equal(t.s->events.sets, 1);
	raise_xid(15, 13);
	await_count(15, 1);
}

static uint64_t cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * GK_NS_PER_S + (uint64_t)time.tv_nsec;
}

static void an_idle_machine_costs_nothing(void **state)
{
	uint64_t cpu;
	unsigned waits;

	(void)state;
	open_and_listen();
	/* Lets the waits become long first. */
	gk_sleep_until(gk_mono_ns() + 2 * WAIT_MAX_MS * GK_NS_PER_MS);
	waits = scripted_calls("nvmlEventSetWait_v2");
	cpu = cpu_ns();
	gk_sleep_until(gk_mono_ns() + 2 * WAIT_MAX_MS * GK_NS_PER_MS);
	assert_true(scripted_calls("nvmlEventSetWait_v2") - waits <= 3);
	assert_true(cpu_ns() - cpu < 20 * GK_NS_PER_MS);
	assert_int_equal(scripted_calls("nvmlDeviceRegisterEvents"), 2);
}

static void closing_does_not_wait_for_the_driver(void **state)
{
	uint64_t begin;

	(void)state;
	open_and_listen();
	SCRIPT(t.s->events.hang = true);
	assert_true(await(t.s->events.waiting));
	begin = gk_mono_ns();
	assert_int_equal(gk_close(t.gk), 0);
	assert_true(gk_mono_ns() - begin < 10 * GK_NS_PER_S);
	t.gk = NULL;
	/* The library stays in use until the wait ends, and no longer. */
	assert_int_equal(t.s->inits, 1);
	SCRIPT(t.s->events.hang = false);
	assert_true(await(!t.s->inits && !t.s->events.sets));
}

static void a_wait_that_hangs_disturbs_nobody(void **state)
{
	uint64_t heard;

	(void)state;
	open_and_listen();
	SCRIPT(t.s->events.hang = true);
	assert_true(await(t.s->events.waiting));
	SCRIPT(t.s->gpu[0].util = 55);
	heard = scripted_take()->devices[0].read_ns[GK_TIER_EVENT];
	gk_sleep_until(gk_mono_ns() + 5 * GK_NS_PER_MS);
	scripted_take();
	/* Its age shows that nothing is known about the time since. */
	assert_true(t.snap->devices[0].read_ns[GK_TIER_EVENT] == heard);
	assert_int_equal(t.snap->devices[0].health, GK_HEALTH_OK);
	assert_value(t.snap->devices[0].m[GK_M_GPU_UTIL], 55);
	assert_value(t.snap->devices[0].m[GK_M_XID_COUNT], 0);
}

static void a_gpu_that_hangs_is_listened_to_later(void **state)
{
	(void)state;
	t.options.timeout_ns = 50 * GK_NS_PER_MS;
	SCRIPT(t.s->gpu[0].hang = true);
	scripted_open();
	scripted_take();
	assert_true(await(t.s->events.registered[1]));
	assert_absent(t.snap->devices[0].m[GK_M_XID_COUNT], TIMEOUT);
	raise_xid(1, 48);
	await_count(1, 1);
	SCRIPT(t.s->gpu[0].hang = false);
	assert_true(await(t.s->events.registered[0]));
	raise_xid(0, 48);
	await_count(0, 1);
}

static void lose(unsigned gpu, nvmlReturn_t answer)
{
	SCRIPT(t.s->gpu[gpu].all = t.s->gpu[gpu].handle = answer;
	       t.s->events.wait = answer);
	assert_true(await(!t.s->events.registered[gpu]));
	SCRIPT(t.s->events.wait = NVML_SUCCESS);
}

static void a_gpu_that_comes_back_is_listened_to_anew(void **state)
{
	(void)state;
	open_and_listen();
	raise_xid(0, 31);
	await_count(0, 1);
	lose(0, NVML_ERROR_GPU_IS_LOST);
	/* The other GPU is not lost. */
	assert_true(await(t.s->events.registered[1]));
	raise_xid(1, 94);
	await_count(1, 1);
	/* The known counts stay. */
	assert_value(t.snap->devices[0].m[GK_M_XID_COUNT], 1);
	assert_int_equal(t.snap->devices[0].health, GK_HEALTH_LOST);
	assert_true(t.snap->devices[0].read_ns[GK_TIER_EVENT] <
		    t.snap->devices[1].read_ns[GK_TIER_EVENT]);
	SCRIPT(t.s->gpu[0].all = t.s->gpu[0].handle = NVML_SUCCESS);
	scripted_take();
	assert_true(await(t.s->events.registered[0]));
	raise_xid(0, 79);
	await_count(0, 2);
	assert_value(t.snap->devices[0].m[GK_M_XID_LAST], 79);
	await_count(1, 1);
}

/* A driver that only returns errors is not called all the time. */
static void errors_do_not_spin(void **state)
{
	uint64_t begin = gk_mono_ns();
	unsigned waits;

	(void)state;
	SCRIPT(t.s->events.wait = NVML_ERROR_UNKNOWN);
	scripted_open();
	scripted_take();
	assert_true(await(scripted_calls_locked("nvmlEventSetWait_v2") > 0));
	gk_sleep_until(gk_mono_ns() + GK_NS_PER_S);
	waits = scripted_calls("nvmlEventSetWait_v2");
	/* Six in the first second, then one a second. */
	assert_true(waits <= 6 + (gk_mono_ns() - begin) / GK_NS_PER_S);
}

static void who_cannot_tell_says_so(void **state)
{
	(void)state;
	scripted_answer("nvmlDeviceGetSupportedEventTypes",
			NVML_ERROR_NOT_SUPPORTED);
	scripted_open();
	scripted_take();
	assert_true(await(
	    scripted_calls_locked("nvmlDeviceGetSupportedEventTypes") == 2));
	gk_sleep_until(gk_mono_ns() + 50 * GK_NS_PER_MS);
	scripted_take();
	assert_absent(t.snap->devices[0].m[GK_M_XID_COUNT], NOT_SUPPORTED);
	assert_int_equal(scripted_calls("nvmlEventSetWait_v2"), 0);
	/* It stays that way. */
	gk_sleep_until(gk_mono_ns() + 300 * GK_NS_PER_MS);
	assert_int_equal(scripted_calls("nvmlDeviceGetSupportedEventTypes"), 2);
}

static void an_old_driver_has_no_events(void **state)
{
	(void)state;
	scripted_load(OLD);
	scripted_reset(1);
	scripted_open();
	for (int i = 0; i < 1000; i++) {
		scripted_take();
		if (t.snap->devices[0].m[GK_M_XID_COUNT].why !=
		    GK_ABSENT_NOT_READ)
			break;
		gk_sleep_until(gk_mono_ns() + GK_NS_PER_MS);
	}
	assert_absent(t.snap->devices[0].m[GK_M_XID_COUNT], NO_FUNCTION);
}

static void mig_devices_have_no_xids(void **state)
{
	(void)state;
	SCRIPT(t.s->gpu[0].mig_enabled = true; t.s->gpu[0].mig = 1);
	open_and_listen();
	raise_xid(0, 43);
	await_count(0, 1);
	assert_int_equal(t.snap->devices[1].parent, 0);
	assert_absent(t.snap->devices[1].m[GK_M_XID_COUNT], NOT_SUPPORTED);
}

static void machines_are_opened_again_and_again(void **state)
{
	(void)state;
	for (int i = 0; i < 50; i++) {
		scripted_open();
		if (i % 2)
			scripted_take();
		assert_int_equal(gk_close(t.gk), 0);
		t.gk = NULL;
	}
	assert_true(await(!t.s->inits && !t.s->events.sets));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(xids_are_counted),
	    T(one_wait_serves_all_gpus),
	    T(an_idle_machine_costs_nothing),
	    T(closing_does_not_wait_for_the_driver),
	    T(a_wait_that_hangs_disturbs_nobody),
	    T(a_gpu_that_hangs_is_listened_to_later),
	    T(a_gpu_that_comes_back_is_listened_to_anew),
	    T(errors_do_not_spin),
	    T(who_cannot_tell_says_so),
	    T(an_old_driver_has_no_events),
	    T(mig_devices_have_no_xids),
	    T(machines_are_opened_again_and_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
