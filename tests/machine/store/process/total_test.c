/* SPDX-License-Identifier: Apache-2.0 */
/*
 * total_test.c - checks that the work of processes is summed by process and
 * device.
 */
#include "base/clock.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/wave_state.h"
#include "machine/fixture.h"
#include "machine/store/process/books.h"
#include "machine/store/process/busy.h"
#include "machine/store/clock.h"
#include "machine/store/coverage.h"
#include "machine/store/process/ledger.h"
#include "machine/store/process/total.h"

static struct fixture fx;

static int open_two(void **state)
{
	(void)state;
	fixture_open(&fx, 2);
	assert_int_equal(gkf_clock_speed(fx.m, 0), 0);
	return 0;
}

static int close_it(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

static unsigned attach(unsigned device)
{
	unsigned slot;

	assert_int_equal(gkf_books_attach(fx.m, device, GKF_NO_INSTANCE, &slot),
			 0);
	return slot;
}

/* All that a process can do: 5 MiB, 2 s, 3 kernels, 70 operations, copies. */
static void work(unsigned slot)
{
	assert_int_equal(gkf_books_charge(fx.m, slot, 5 * MIB), 0);
	assert_int_equal(gkf_books_refund(fx.m, slot, 5 * MIB), 0);
	gkf_busy_begin(fx.m, slot);
	gkf_machine_age(fx.m, 2 * GK_NS_PER_S);
	gkf_busy_end(fx.m, slot);
	for (int i = 0; i < 3; i++)
		gkf_total_launched(fx.m, slot);
	gkf_total_operations(fx.m, slot, 30);
	gkf_total_operations(fx.m, slot, 40);
	gkf_busy_moved(fx.m, slot, GKF_IN, 100);
	gkf_busy_moved(fx.m, slot, GKF_OUT, 200);
	gkf_busy_moved(fx.m, slot, GKF_DEVICE, 300);
}

/* Checks that it did all that `times` times. */
static void assert_work(unsigned index, unsigned device, uint64_t times)
{
	struct gkf_total_read t;

	assert_true(gkf_total_read(fx.m, index, &t));
	assert_int_equal(t.device, device);
	assert_int_equal(t.peak, times ? 5 * MIB : 0);
	assert_int_equal(t.busy_ns, times * 2 * GK_NS_PER_S);
	assert_int_equal(t.launches, times * 3);
	assert_int_equal(t.operations, times * 70);
	assert_int_equal(t.moved[GKF_IN], times * 100);
	assert_int_equal(t.moved[GKF_OUT], times * 200);
	assert_int_equal(t.moved[GKF_DEVICE], times * 300);
}

static unsigned count(void)
{
	struct gkf_total_read t;
	unsigned n = 0;

	for (unsigned i = 0; i < GKF_TOTALS_MAX; i++)
		n += gkf_total_read(fx.m, i, &t);
	return n;
}

static void a_process_that_comes_back_goes_on(void **state)
{
	struct gkf_total_read t;
	uint64_t begin = gkf_machine_ns(fx.m);
	unsigned slot = attach(1);

	(void)state;
	work(slot);
	assert_true(gkf_total_read(fx.m, 0, &t));
	assert_false(t.ended);
	assert_int_equal(gkf_detach(fx.m, slot), 0);
	assert_true(gkf_total_read(fx.m, 0, &t));
	assert_true(t.ended);
	assert_int_equal(t.begin_ns, begin);
	assert_int_equal(t.end_ns, begin + 2 * GK_NS_PER_S);
	assert_int_equal(t.pid, getpid());
	assert_string_equal(t.name, gkf_caller());
	slot = attach(0);
	assert_int_equal(gkf_detach(fx.m, slot), 0);
	slot = attach(1);
	assert_true(gkf_total_read(fx.m, 0, &t));
	assert_false(t.ended);
	work(slot);
	assert_work(0, 1, 2);
	assert_work(1, 0, 0);
	assert_int_equal(count(), 2);
}

static void the_peak_of_a_device_is_of_all_at_once(void **state)
{
	unsigned slot = attach(0);
	struct resident r =
	    fixture_resident(&fx, 0, GKF_COMPUTE, 7 * MIB, NULL);

	(void)state;
	assert_int_equal(gkf_books_charge(fx.m, slot, 5 * MIB), 0);
	fixture_end(&r);
	gkf_reap(fx.m, true);
	assert_int_equal(gkf_books_charge(fx.m, slot, 3 * MIB), 0);
	assert_int_equal(fx.file->device[0].books.peak, 12 * MIB);
	assert_int_equal(fx.file->device[1].books.peak, 0);
}

static void a_killed_process_loses_nothing(void **state)
{
	struct gkf_total_read t;
	pid_t pid = fork();
	int status;

	(void)state;
	if (!pid) {
		unsigned slot = attach(0);

		work(slot);
		gkf_busy_begin(fx.m, slot);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	gkf_reap(fx.m, true);
	assert_work(0, 0, 1);
	assert_true(gkf_total_read(fx.m, 0, &t));
	assert_int_equal(t.pid, pid);
	assert_true(t.ended);
}

static void nobody_counts_for_another(void **state)
{
	unsigned slot = attach(0);
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		gkf_total_launched(fx.m, slot);
		gkf_total_operations(fx.m, slot, 1);
		gkf_total_launched(fx.m, GKF_SLOTS_MAX);
		_exit(0);
	}
	fixture_await(pid, 0);
	assert_work(0, 0, 0);
}

static void a_load_has_no_totals(void **state)
{
	const struct gkf_wave wave = {.kind = GKF_WAVE_TRAIN};
	struct resident r =
	    fixture_resident(&fx, 0, GKF_COMPUTE, 7 * MIB, &wave);

	(void)state;
	assert_int_equal(count(), 0);
	fixture_end(&r);
}

/* Processes without room share one place, which has no owner. */
static void what_has_no_room_is_added_up(void **state)
{
	struct gkf_total_read t;
	unsigned slot[2];

	(void)state;
	atomic_store(&fx.file->totals, GKF_TOTALS_MAX - 1);
	for (unsigned d = 0; d < 2; d++) {
		slot[d] = attach(d);
		work(slot[d]);
	}
	assert_true(gkf_total_read(fx.m, GKF_TOTALS_MAX - 1, &t));
	assert_int_equal(t.pid, 0);
	assert_int_equal(t.launches, 6);
	assert_int_equal(t.busy_ns, 4 * GK_NS_PER_S);
}

/* Another process may have written anything into the file. */
static void a_place_that_is_none_is_not_believed(void **state)
{
	struct gkf_total_read t;
	unsigned slot = attach(0);

	(void)state;
	atomic_store(&fx.file->total_of[slot], UINT64_MAX);
	work(slot);
	assert_work(0, 0, 0);
	atomic_store(&fx.file->totals, UINT64_MAX);
	atomic_store(&fx.file->total[7].device, 2);
	assert_false(gkf_total_read(fx.m, 7, &t));
	assert_int_equal(gkf_detach(fx.m, slot), 0);
	attach(0);
}

#define ON_TWO(test) cmocka_unit_test_setup_teardown(test, open_two, close_it)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    ON_TWO(a_process_that_comes_back_goes_on),
	    ON_TWO(the_peak_of_a_device_is_of_all_at_once),
	    ON_TWO(a_killed_process_loses_nothing),
	    ON_TWO(nobody_counts_for_another),
	    ON_TWO(a_load_has_no_totals),
	    ON_TWO(what_has_no_room_is_added_up),
	    ON_TWO(a_place_that_is_none_is_not_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
