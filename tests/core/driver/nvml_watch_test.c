/* SPDX-License-Identifier: Apache-2.0 */
/* nvml_watch_test.c - checks that frames come at absolute deadlines. */
#include "core/scripted.h"

#include <poll.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#define PERIOD (10 * GK_NS_PER_MS)

static void start(uint64_t period_ns)
{
	scripted_open();
	assert_int_equal(gk_watch_start(t.gk, period_ns), 0);
}

static const struct gk_snapshot *next(void)
{
	int r;

	gk_snapshot_free(t.snap);
	t.snap = NULL;
	do {
		r = gk_watch_next(t.gk, &t.snap);
	} while (r == GK_ERR_TIMEOUT);
	assert_int_equal(r, 0);
	return t.snap;
}

enum { WINDOW = 50, WINDOWS = 5, FRAMES = WINDOW * WINDOWS };

/* The distance of a moment from the nearest point of the grid. */
static uint64_t off_grid(uint64_t moment, uint64_t from)
{
	uint64_t past =
	    moment > from ? (moment - from) % PERIOD : (from - moment) % PERIOD;

	return past > PERIOD / 2 ? PERIOD - past : past;
}

static int count_near(const uint64_t window[WINDOW], uint64_t from,
		      uint64_t far)
{
	int n = 0;

	for (int i = 0; i < WINDOW; i++)
		n += off_grid(window[i], from) <= far;
	return n;
}

/* The frame on whose grid most others are: it was on time. */
static uint64_t origin(const uint64_t window[WINDOW])
{
	uint64_t best = window[0];

	for (int i = 1; i < WINDOW; i++)
		if (count_near(window, window[i], PERIOD / 10) >
		    count_near(window, best, PERIOD / 10))
			best = window[i];
	return best;
}

/*
 * All frames are on one grid, found in the first window: in every later window
 * some are on it. On a loaded host frames are late by different amounts, so
 * some are on time even there; after a drift, even a single one of 2 ms, none
 * is. One quiet window shows that frames come as often as requested.
 */
static void check_grid(void)
{
	uint64_t moment[FRAMES], from, last = gk_mono_ns();
	bool quiet = false;

	next(); /* at once, not at a point of the grid */
	for (int i = 0; i < FRAMES; i++) {
		moment[i] = next()->mono_ns;
		assert_true(!i || moment[i] > moment[i - 1]);
		if (i % WINDOW == WINDOW - 1) {
			quiet |= gk_mono_ns() - last < 2 * WINDOW * PERIOD;
			last = gk_mono_ns();
		}
	}
	assert_true(quiet);
	from = origin(moment);
	for (int i = WINDOW; i < FRAMES; i += WINDOW)
		if (count_near(moment + i, from, PERIOD / 5) < WINDOW / 10)
			fail_msg("frames %d to %d have left the grid", i,
				 i + WINDOW - 1);
}

static void frames_keep_to_the_grid(void **state)
{
	(void)state;
	start(PERIOD);
	check_grid();
}

/* Ends a slow call, so that its worker has finished when the test ends. */
static int hasten_and_teardown(void **state)
{
	SCRIPT(t.s->gpu[0].delay_ms = 0);
	return scripted_teardown(state);
}

/* Each call on GPU 0 takes three periods, and frames come all the same. If each
 * frame waited for even one call, they would take longer than allowed. */
static void a_slow_gpu_delays_no_frame(void **state)
{
	(void)state;
	scripted_open();
	scripted_take();
	SCRIPT(t.s->gpu[0].delay_ms = 30);
	assert_int_equal(gk_watch_start(t.gk, PERIOD), 0);
	check_grid();
	assert_value(t.snap->devices[1].m[GK_M_GPU_UTIL], 1);
}

static void values_are_of_shortly_before_the_frame(void **state)
{
	unsigned seen = 0;

	(void)state;
	start(PERIOD);
	SCRIPT(t.s->gpu[1].util = 55);
	for (int i = 0; i < 100 && seen != 55; i++)
		seen = (unsigned)next()->devices[1].m[GK_M_GPU_UTIL].v;
	assert_int_equal(seen, 55);
	for (int i = 0; i < 5; i++) {
		next();
		assert_true(gk_device_age(t.snap, &t.snap->devices[1],
					  GK_TIER_FAST) < 50 * PERIOD);
	}
}

/* The first frame comes at once and is complete. */
static void the_first_frame_is_full(void **state)
{
	const struct gk_snapshot *snap;
	uint64_t begin;

	(void)state;
	scripted_process(0, SCRIPT_COMPUTE,
			 (struct script_process){70, GIB, ~0U, ~0U});
	tree_stat(&t.tree, (struct tree_stat){70, "x", 'R', 1, 5, 5, 9, 3});
	tree_text(&t.tree, "stat", "cpu  1 2 3 4 5 6 7 8\n");
	scripted_open();
	begin = gk_mono_ns();
	assert_int_equal(gk_watch_start(t.gk, 3600 * GK_NS_PER_S), 0);
	snap = next();
	assert_true(gk_mono_ns() - begin < 10 * GK_NS_PER_S);
	assert_value(snap->devices[1].m[GK_M_POWER_LIMIT], 400000);
	assert_value(snap->devices[1].m[GK_M_GPU_UTIL], 1);
	assert_int_equal(snap->process_count, 1);
	/* A share of CPU time needs an earlier frame. */
	assert_absent(snap->processes[0].m[GK_PM_CPU], ONE_SNAPSHOT);
	assert_absent(snap->host.cpu_centipercent, ONE_SNAPSHOT);
}

static bool readable(int fd, int timeout_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, timeout_ms) == 1;
}

static void the_descriptor_is_readable_when_a_frame_is_due(void **state)
{
	(void)state;
	scripted_open();
	assert_int_equal(gk_watch_fd(t.gk), -1);
	assert_int_equal(gk_watch_start(t.gk, 3600 * GK_NS_PER_S), 0);
	assert_true(readable(gk_watch_fd(t.gk), 5000));
	next();
	assert_false(readable(gk_watch_fd(t.gk), 0));
}

/* Frames that nobody fetched are skipped: each later one is new. */
static void missed_frames_are_skipped(void **state)
{
	struct timespec busy = {0, 10 * PERIOD + PERIOD / 2};
	uint64_t begin;

	(void)state;
	start(PERIOD);
	next();
	nanosleep(&busy, NULL); /* the caller misses ten */
	begin = gk_mono_ns();
	next();
	for (int i = 0; i < 10; i++)
		next();
	assert_true(t.snap->mono_ns - begin > 9 * PERIOD);
}

/* A thread that a loaded host does not run looks late for a while. */
static void await_health(unsigned gpu)
{
	unsigned frames = 0;

	while (t.snap->devices[gpu].health != GK_HEALTH_OK) {
		assert_true(++frames < 1000);
		next();
	}
}

static void a_hang_makes_a_gpu_stale_not_the_frames_late(void **state)
{
	unsigned frames = 0;

	(void)state;
	t.options.timeout_ns = 50 * GK_NS_PER_MS;
	start(PERIOD);
	next();
	SCRIPT(t.s->gpu[0].hang = true);
	while (next()->devices[0].health != GK_HEALTH_STALE)
		assert_true(++frames < 1000);
	/* Not before its time, while the others stay fresh. */
	assert_true(gk_device_age(t.snap, &t.snap->devices[0], GK_TIER_FAST) >=
		    50 * GK_NS_PER_MS);
	await_health(1);
	assert_int_equal(t.snap->devices[0].health, GK_HEALTH_STALE);
	assert_value(t.snap->devices[0].m[GK_M_GPU_UTIL], 0);
	SCRIPT(t.s->gpu[0].hang = false);
	for (frames = 0; next()->devices[0].health != GK_HEALTH_OK;)
		assert_true(++frames < 1000);
}

static void what_is_older_than_two_periods_is_stale(void **state)
{
	const struct gk_device *d = NULL;
	uint64_t age = 0;

	(void)state;
	t.options.timeout_ns = 50 * GK_NS_PER_MS;
	start(10 * PERIOD);
	next();
	SCRIPT(t.s->gpu[0].hang = true);
	for (int i = 0; i < 5; i++) {
		d = &next()->devices[0];
		age = gk_device_age(t.snap, d, GK_TIER_FAST);
		/* Its health is judged a moment after the snapshot's time. */
		if (age < 20 * PERIOD - PERIOD / 2)
			assert_int_equal(d->health, GK_HEALTH_OK);
		if (age > 20 * PERIOD)
			assert_int_equal(d->health, GK_HEALTH_STALE);
	}
	assert_true(age > 20 * PERIOD);
	SCRIPT(t.s->gpu[0].hang = false);
}

static void watching_starts_although_a_gpu_hangs(void **state)
{
	uint64_t begin;

	(void)state;
	t.options.timeout_ns = 50 * GK_NS_PER_MS;
	SCRIPT(t.s->gpu[0].hang = true);
	scripted_open();
	begin = gk_mono_ns();
	assert_int_equal(gk_watch_start(t.gk, PERIOD), 0);
	assert_true(gk_mono_ns() - begin < 5 * GK_NS_PER_S);
	for (unsigned i = 0; next()->devices[0].health != GK_HEALTH_STALE; i++)
		assert_true(i < 1000);
	assert_absent(t.snap->devices[0].m[GK_M_GPU_UTIL], TIMEOUT);
	SCRIPT(t.s->gpu[0].hang = false);
}

/* Slower tiers are read at their own periods. */
static void tiers_have_periods_of_their_own(void **state)
{
	unsigned fast, slow, medium;

	(void)state;
	t.options.period_ns[GK_TIER_MEDIUM] = 3600 * GK_NS_PER_S;
	t.options.period_ns[GK_TIER_SLOW] = 5 * PERIOD;
	start(PERIOD);
	slow = scripted_calls("nvmlDeviceGetPowerManagementLimit");
	medium = scripted_calls("nvmlDeviceGetFanSpeed");
	fast = scripted_calls("nvmlDeviceGetPowerUsage");
	for (int i = 0; i < 60; i++)
		next();
	slow = scripted_calls("nvmlDeviceGetPowerManagementLimit") - slow;
	fast = scripted_calls("nvmlDeviceGetPowerUsage") - fast;
	assert_true(fast >= 10);
	assert_true(slow >= 2 && slow < fast);
	/* At most once per GPU: at the start, and then in an hour. */
	assert_true(scripted_calls("nvmlDeviceGetFanSpeed") - medium <= 2);
	assert_int_equal(scripted_calls("nvmlDeviceGetPcieThroughput"), 0);
}

static void what_is_asked_for_is_read_once_of_one_gpu(void **state)
{
	const struct gk_snapshot *snap;
	int frames = 0;

	(void)state;
	scripted_open();
	assert_int_equal(gk_watch_ask(t.gk, 1, 1U << GK_TIER_ASKED),
			 GK_ERR_INVALID);
	assert_int_equal(gk_watch_start(t.gk, PERIOD), 0);
	assert_int_equal(gk_watch_ask(t.gk, 99, 1U << GK_TIER_ASKED),
			 GK_ERR_INVALID);
	assert_int_equal(gk_watch_ask(t.gk, 1, 1U << GK_TIER_HOST),
			 GK_ERR_INVALID);
	assert_int_equal(gk_watch_ask(t.gk, 1, 1U << GK_TIER_ASKED), 0);
	do {
		snap = next();
	} while (!snap->devices[1].read_ns[GK_TIER_ASKED] && frames++ < 500);
	assert_int_equal(snap->devices[1].m[GK_M_PCIE_TX].why, GK_PRESENT);
	assert_int_equal(snap->devices[0].m[GK_M_PCIE_TX].why,
			 GK_ABSENT_NOT_READ);
	for (int i = 0; i < 5; i++)
		next();
	/* Both directions, once each. */
	assert_int_equal(scripted_calls("nvmlDeviceGetPcieThroughput"), 2);
}

/* A GPU that is read less often than the timeout is not late for it. */
static void a_long_period_is_not_a_hang(void **state)
{
	unsigned frames = 0;

	(void)state;
	t.options.timeout_ns = GK_NS_PER_MS;
	t.options.period_ns[GK_TIER_FAST] = 3600 * GK_NS_PER_S;
	start(PERIOD);
	/* The first reading may take longer than this short timeout. */
	while (next()->devices[0].health != GK_HEALTH_OK)
		assert_true(++frames < 1000);
	for (int i = 0; i < 20; i++)
		assert_int_equal(next()->devices[0].health, GK_HEALTH_OK);
}

static void a_lost_gpu_is_seen_and_found_again(void **state)
{
	unsigned frames = 0;

	(void)state;
	start(PERIOD);
	SCRIPT(t.s->gpu[1].all = t.s->gpu[1].handle = NVML_ERROR_GPU_IS_LOST);
	while (next()->devices[1].health != GK_HEALTH_LOST)
		assert_true(++frames < 1000);
	SCRIPT(t.s->gpu[1].all = t.s->gpu[1].handle = NVML_SUCCESS);
	for (frames = 0; next()->devices[1].health != GK_HEALTH_OK;)
		assert_true(++frames < 1000);
	for (frames = 0; t.snap->devices[1].m[GK_M_POWER_LIMIT].why; next())
		assert_true(++frames < 1000);
}

static void processes_are_in_every_frame(void **state)
{
	(void)state;
	t.options.period_ns[GK_TIER_SLOW] = 3 * PERIOD;
	t.options.period_ns[GK_TIER_MEDIUM] = 7 * PERIOD;
	scripted_process(0, SCRIPT_COMPUTE,
			 (struct script_process){70, GIB, ~0U, ~0U});
	start(PERIOD);
	for (int i = 0; i < 40; i++)
		assert_int_equal(next()->process_count, 1);
}

/* It is as fresh as the line of its GPU, and disappears with it. */
static void a_new_process_is_in_the_next_frame(void **state)
{
	(void)state;
	start(GK_NS_PER_S);
	next();
	next();
	for (int gpu = 0; gpu < 2; gpu++)
		scripted_process((unsigned)gpu, SCRIPT_COMPUTE,
				 (struct script_process){70, GIB, ~0U, ~0U});
	SCRIPT(t.s->gpu[1].util = 55);
	assert_int_equal(next()->process_count, 2);
	assert_value(t.snap->devices[1].m[GK_M_GPU_UTIL], 55);
}

/* Frames until all GPUs but the first have answered; none may wait for it. */
static void others_are_seen_while_a_gpu_hangs_from_the_start(void **state)
{
	uint64_t begin = gk_mono_ns();

	(void)state;
	t.options.timeout_ns = 10 * GK_NS_PER_S;
	scripted_open();
	SCRIPT(t.s->gpu[0].hang = true; t.s->gpu[1].util = 66);
	assert_int_equal(gk_watch_begin(t.gk, 3600 * GK_NS_PER_S), 0);
	assert_int_equal(next()->device_count, 2);
	assert_true(gk_mono_ns() - begin < 5 * GK_NS_PER_S);
	/* The first frame may show everything; then no other comes. */
	while (!t.snap->devices[1].read_ns[GK_TIER_MEDIUM]) {
		next();
		assert_int_equal(t.snap->devices[0].health, GK_HEALTH_OK);
		assert_int_equal(t.snap->devices[0].m[GK_M_GPU_UTIL].why,
				 GK_ABSENT_NOT_READ);
	}
	assert_value(t.snap->devices[1].m[GK_M_GPU_UTIL], 66);
	SCRIPT(t.s->gpu[0].hang = false; t.s->gpu[0].util = 33);
	while (!t.snap->devices[0].read_ns[GK_TIER_FAST])
		next();
	assert_value(t.snap->devices[0].m[GK_M_GPU_UTIL], 33);
}

/* It is late after the timeout, although frames come more often. */
static void a_gpu_that_never_answers_is_stale_in_time(void **state)
{
	uint64_t begin;

	(void)state;
	t.options.timeout_ns = 100 * GK_NS_PER_MS;
	scripted_open();
	SCRIPT(t.s->gpu[0].hang = true);
	begin = gk_mono_ns();
	assert_int_equal(gk_watch_begin(t.gk, PERIOD), 0);
	while (next()->devices[0].health == GK_HEALTH_OK)
		assert_true(t.snap->mono_ns - begin < 10 * GK_NS_PER_S);
	assert_true(t.snap->mono_ns - begin >= 90 * GK_NS_PER_MS);
	assert_int_equal(t.snap->devices[0].m[GK_M_GPU_UTIL].why,
			 GK_ABSENT_TIMEOUT);
	await_health(1);
	SCRIPT(t.s->gpu[0].hang = false);
}

/* An extra frame in between does not shift the others. */
static void beginning_keeps_to_the_grid(void **state)
{
	uint64_t begin;

	(void)state;
	scripted_open();
	begin = gk_mono_ns();
	assert_int_equal(gk_watch_begin(t.gk, PERIOD), 0);
	while (next()->mono_ns < begin + PERIOD)
		;
	check_grid();
}

static void the_period_can_be_changed(void **state)
{
	uint64_t begin;

	(void)state;
	scripted_open();
	assert_int_equal(gk_watch_period(t.gk, PERIOD), GK_ERR_INVALID);
	assert_int_equal(gk_watch_start(t.gk, 3600 * GK_NS_PER_S), 0);
	next();
	assert_int_equal(gk_watch_period(t.gk, 0), GK_ERR_INVALID);
	assert_int_equal(gk_watch_period(t.gk, UINT64_MAX), GK_ERR_RANGE);
	begin = gk_mono_ns();
	assert_int_equal(gk_watch_period(t.gk, PERIOD), 0);
	SCRIPT(t.s->gpu[1].util = 44);
	for (int i = 0; i < 20; i++)
		next();
	assert_true(gk_mono_ns() - begin >= 20 * PERIOD);
	/* The readings follow. */
	for (int i = 0; i < 1000 && t.snap->devices[1].m[GK_M_GPU_UTIL].v != 44;
	     i++)
		next();
	assert_value(t.snap->devices[1].m[GK_M_GPU_UTIL], 44);
}

/* Its last reading is old because none was due, not because of a hang. */
static void a_shorter_period_makes_nobody_late(void **state)
{
	uint64_t begin;

	(void)state;
	t.options.timeout_ns = GK_NS_PER_S / 2;
	start(3600 * GK_NS_PER_S);
	next();
	gk_sleep_until(gk_mono_ns() + GK_NS_PER_S);
	SCRIPT(t.s->gpu[0].hang = true);
	begin = gk_mono_ns();
	assert_int_equal(gk_watch_period(t.gk, PERIOD), 0);
	assert_int_equal(next()->devices[0].health, GK_HEALTH_OK);
	/* It is stale after the timeout. */
	while (next()->devices[0].health != GK_HEALTH_STALE)
		assert_true(t.snap->mono_ns - begin < 10 * GK_NS_PER_S);
	assert_true(t.snap->mono_ns - begin >= GK_NS_PER_S / 2);
	/* A new period does not excuse it. */
	assert_int_equal(gk_watch_period(t.gk, 2 * PERIOD), 0);
	assert_int_equal(next()->devices[0].health, GK_HEALTH_STALE);
	SCRIPT(t.s->gpu[0].hang = false);
}

static void stop_for_a_second(void)
{
	pid_t self = getpid(), child = fork();

	assert_true(child >= 0);
	if (!child) {
		gk_sleep_until(gk_mono_ns() + GK_NS_PER_S);
		kill(self, SIGCONT);
		_exit(0);
	}
	raise(SIGSTOP);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

/* Nothing was read meanwhile, and the first frame comes before a reading. */
static void who_was_stopped_sees_no_hang(void **state)
{
	unsigned frames = 0;

	(void)state;
	t.options.timeout_ns = GK_NS_PER_S / 5;
	start(PERIOD);
	SCRIPT(t.s->gpu[0].delay_ms = 2);
	while (next()->devices[0].health != GK_HEALTH_OK)
		assert_true(++frames < 1000);
	stop_for_a_second();
	assert_int_equal(next()->devices[0].health, GK_HEALTH_OK);
}

static void periods_that_cannot_be_are_refused(void **state)
{
	(void)state;
	scripted_open();
	assert_int_equal(gk_watch_next(t.gk, &t.snap), GK_ERR_INVALID);
	assert_int_equal(gk_watch_start(t.gk, 0), GK_ERR_INVALID);
	assert_int_equal(gk_watch_start(t.gk, UINT64_MAX), GK_ERR_RANGE);
	assert_null(t.snap);
	assert_int_equal(gk_watch_start(t.gk, PERIOD), 0);
	assert_int_equal(gk_watch_start(t.gk, PERIOD), GK_ERR_EXISTS);
	next();
}

static void on_alarm(int signal)
{
	(void)signal;
}

static void a_signal_ends_the_wait(void **state)
{
	struct sigaction act = {.sa_handler = on_alarm}, before;
	/* Repeated, since a signal may come before the wait begins. */
	struct itimerval soon = {{0, 5000}, {0, 5000}}, never = {0};

	(void)state;
	scripted_open();
	assert_int_equal(gk_watch_start(t.gk, 3600 * GK_NS_PER_S), 0);
	next();
	sigaction(SIGALRM, &act, &before);
	setitimer(ITIMER_REAL, &soon, NULL);
	gk_snapshot_free(t.snap);
	t.snap = NULL;
	assert_int_equal(gk_watch_next(t.gk, &t.snap), GK_ERR_TIMEOUT);
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &before, NULL);
	assert_null(t.snap);
}

static void no_gpus_and_many_gpus_have_frames(void **state)
{
	static const unsigned counts[] = {0, 64};

	(void)state;
	for (size_t i = 0; i < COUNT(counts); i++) {
		scripted_reset(counts[i]);
		start(PERIOD);
		for (int k = 0; k < 5; k++)
			assert_int_equal(next()->device_count, counts[i]);
		assert_int_equal(gk_close(t.gk), 0);
		t.gk = NULL;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SCRIPTED_TEST(frames_keep_to_the_grid),
	    cmocka_unit_test_setup_teardown(a_slow_gpu_delays_no_frame,
					    scripted_setup,
					    hasten_and_teardown),
	    SCRIPTED_TEST(values_are_of_shortly_before_the_frame),
	    SCRIPTED_TEST(the_first_frame_is_full),
	    SCRIPTED_TEST(the_descriptor_is_readable_when_a_frame_is_due),
	    SCRIPTED_TEST(missed_frames_are_skipped),
	    SCRIPTED_TEST(a_hang_makes_a_gpu_stale_not_the_frames_late),
	    SCRIPTED_TEST(what_is_older_than_two_periods_is_stale),
	    SCRIPTED_TEST(watching_starts_although_a_gpu_hangs),
	    SCRIPTED_TEST(tiers_have_periods_of_their_own),
	    SCRIPTED_TEST(what_is_asked_for_is_read_once_of_one_gpu),
	    SCRIPTED_TEST(a_long_period_is_not_a_hang),
	    SCRIPTED_TEST(others_are_seen_while_a_gpu_hangs_from_the_start),
	    SCRIPTED_TEST(a_gpu_that_never_answers_is_stale_in_time),
	    SCRIPTED_TEST(beginning_keeps_to_the_grid),
	    SCRIPTED_TEST(the_period_can_be_changed),
	    SCRIPTED_TEST(a_shorter_period_makes_nobody_late),
	    cmocka_unit_test_setup_teardown(who_was_stopped_sees_no_hang,
					    scripted_setup,
					    hasten_and_teardown),
	    SCRIPTED_TEST(a_lost_gpu_is_seen_and_found_again),
	    SCRIPTED_TEST(processes_are_in_every_frame),
	    SCRIPTED_TEST(a_new_process_is_in_the_next_frame),
	    SCRIPTED_TEST(periods_that_cannot_be_are_refused),
	    SCRIPTED_TEST(a_signal_ends_the_wait),
	    SCRIPTED_TEST(no_gpus_and_many_gpus_have_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
