/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_test.c - checks accounting: processes are kept after their end,
 * however they end.
 */
#include "base/clock.h"
#include "fronts/nvml/nvml_test.h"
#include "machine/file/account_state.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/wave_state.h"
#include "machine/store/process/account.h"
#include "machine/store/process/books.h"
#include "machine/store/clock.h"
#include "machine/store/process/ledger.h"

static const struct gkf_wave steady = {
    .kind = GKF_WAVE_TRAIN,
    .util_permille = 800,
    .mem_permille = 500,
    .period_ns = 3600 * GK_NS_PER_S,
    .seed = 1,
};

static void turn(bool on)
{
	assert_nvml(NV(nvmlDeviceSetAccountingMode)(device_at(0),
						    on ? NVML_FEATURE_ENABLED
						       : NVML_FEATURE_DISABLED),
		    SUCCESS);
}

static nvmlReturn_t stats_of(pid_t pid, nvmlAccountingStats_t *stats)
{
	return NV(nvmlDeviceGetAccountingStats)(device_at(0), (unsigned)pid,
						stats);
}

static unsigned count_pids(void)
{
	unsigned n = 0;
	nvmlReturn_t r =
	    NV(nvmlDeviceGetAccountingPids)(device_at(0), &n, NULL);

	assert_true(r == (n ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS));
	return n;
}

/* The clock is stopped: the test sets the time. */
static int setup(void **state)
{
	struct fixture *fx;

	front_setup_init(state);
	fx = *state;
	assert_int_equal(gkf_clock_speed(fx->m, 0), 0);
	atomic_store(&fx->file->permission, GKF_PERMIT_ALL);
	return 0;
}

static void a_killed_process_is_accounted_for(void **state)
{
	struct fixture *fx = *state;
	nvmlAccountingStats_t live, ended, later;
	struct resident r;
	unsigned pid, n = 1;

	turn(true);
	assert_int_equal(count_pids(), 0);
	r = fixture_resident(fx, 0, GKF_COMPUTE, 3 * GIB, &steady);
	gkf_machine_age(fx->m, 60 * GK_NS_PER_S);
	assert_nvml(stats_of(r.pid, &live), SUCCESS);
	assert_int_equal(live.isRunning, 1);
	assert_int_equal(live.time, 0);
	assert_int_equal(live.maxMemoryUsage, 3 * GIB);
	end_resident(&r); /* kill -9 */
	gkf_reap(fx->m, true);
	assert_nvml(stats_of(r.pid, &ended), SUCCESS);
	assert_int_equal(ended.isRunning, 0);
	assert_in_range(ended.time, 59800, 60200);
	assert_int_equal(ended.maxMemoryUsage, 3 * GIB);
	/* 80 %, but a quarter of that in the first seconds of training. */
	assert_in_range(ended.gpuUtilization, 74, 80);
	assert_in_range(ended.memoryUtilization, 36, 40);
	assert_in_range(ended.startTime, live.startTime - 1000,
			live.startTime + 1000);
	gkf_machine_age(fx->m, 60 * GK_NS_PER_S);
	assert_nvml(stats_of(r.pid, &later), SUCCESS);
	assert_int_equal(later.time, ended.time);
	assert_int_equal(later.gpuUtilization, ended.gpuUtilization);
	assert_nvml(NV(nvmlDeviceGetAccountingPids)(device_at(0), &n, &pid),
		    SUCCESS);
	assert_int_equal(n, 1);
	assert_int_equal(pid, r.pid);
}

static void memory_given_back_was_used_all_the_same(void **state)
{
	struct fixture *fx = *state;
	nvmlAccountingStats_t stats;
	unsigned slot;

	turn(true);
	assert_int_equal(gkf_attach(fx->m, 0, GKF_COMPUTE, NULL, &slot), 0);
	assert_int_equal(gkf_books_charge(fx->m, slot, GIB), 0);
	assert_int_equal(gkf_books_charge(fx->m, slot, GIB), 0);
	assert_int_equal(gkf_books_refund(fx->m, slot, 2 * GIB), 0);
	assert_int_equal(gkf_books_charge(fx->m, slot, 4096), 0);
	assert_nvml(stats_of(getpid(), &stats), SUCCESS);
	assert_int_equal(stats.maxMemoryUsage, 2 * GIB);
	assert_int_equal(gkf_detach(fx->m, slot), 0);
	assert_nvml(stats_of(getpid(), &stats), SUCCESS);
	assert_int_equal(stats.maxMemoryUsage, 2 * GIB);
	/* The next owner of the slot has used nothing. */
	assert_int_equal(gkf_attach(fx->m, 0, GKF_COMPUTE, NULL, &slot), 0);
	assert_nvml(stats_of(getpid(), &stats), SUCCESS);
	assert_int_equal(stats.isRunning, 1);
	assert_int_equal(stats.maxMemoryUsage, 0);
	assert_int_equal(gkf_detach(fx->m, slot), 0);
	assert_int_equal(count_pids(), 1);
}

static void shares_of_a_full_device(void **state)
{
	struct fixture *fx = *state;
	nvmlAccountingStats_t stats;
	struct resident r[2];

	turn(true);
	for (int i = 0; i < 2; i++)
		r[i] = fixture_resident(fx, 0, GKF_COMPUTE, GIB, &steady);
	gkf_machine_age(fx->m, 60 * GK_NS_PER_S);
	for (int i = 0; i < 2; i++) {
		assert_nvml(stats_of(r[i].pid, &stats), SUCCESS);
		assert_in_range(stats.gpuUtilization, 44, 51);
		end_resident(&r[i]);
	}
}

/* A load with a window of time ends with it, though its process lives on. */
static void a_window_that_is_over_has_ended(void **state)
{
	struct fixture *fx = *state;
	struct gkf_wave wave = steady;
	nvmlAccountingStats_t stats;
	unsigned slot;

	turn(true);
	wave.start_bin = gkf_machine_bin(fx->m) + 60;
	wave.stop_bin = wave.start_bin + 120;
	assert_int_equal(gkf_attach(fx->m, 0, GKF_COMPUTE, &wave, &slot), 0);
	assert_int_equal(count_pids(), 0);
	gkf_machine_age(fx->m, 20 * GK_NS_PER_S);
	assert_nvml(stats_of(getpid(), &stats), SUCCESS);
	assert_int_equal(stats.isRunning, 1);
	gkf_machine_age(fx->m, 60 * GK_NS_PER_S);
	assert_nvml(stats_of(getpid(), &stats), SUCCESS);
	assert_int_equal(stats.isRunning, 0);
	assert_in_range(stats.time, 19990, 20010);
	assert_nvml(NV(nvmlDeviceClearAccountingPids)(device_at(0)), SUCCESS);
	assert_nvml(stats_of(getpid(), &stats), ERROR_NOT_FOUND);
	assert_int_equal(gkf_detach(fx->m, slot), 0);
	assert_int_equal(count_pids(), 0);
}

static void clearing_keeps_who_lives(void **state)
{
	struct fixture *fx = *state;
	nvmlAccountingStats_t stats;
	struct resident ended, alive;

	turn(true);
	ended = fixture_resident(fx, 0, GKF_COMPUTE, GIB, &steady);
	alive = fixture_resident(fx, 0, GKF_COMPUTE, GIB, &steady);
	end_resident(&ended);
	gkf_reap(fx->m, true);
	assert_int_equal(count_pids(), 2);
	assert_nvml(NV(nvmlDeviceClearAccountingPids)(device_at(0)), SUCCESS);
	assert_nvml(stats_of(ended.pid, &stats), ERROR_NOT_FOUND);
	assert_nvml(stats_of(alive.pid, &stats), SUCCESS);
	end_resident(&alive);
	gkf_reap(fx->m, true);
	assert_int_equal(count_pids(), 1); /* the clock has not moved */
	turn(false);
	assert_nvml(stats_of(alive.pid, &stats), ERROR_NOT_SUPPORTED);
	turn(true);
	assert_int_equal(count_pids(), 0);
}

static void only_root_may_change_it(void **state)
{
	struct fixture *fx = *state;
	nvmlEnableState_t mode;

	atomic_store(&fx->file->permission, GKF_PERMIT_NONE);
	assert_nvml(NV(nvmlDeviceSetAccountingMode)(device_at(0), 1),
		    ERROR_NO_PERMISSION);
	assert_nvml(NV(nvmlDeviceClearAccountingPids)(device_at(0)),
		    ERROR_NO_PERMISSION);
	assert_nvml(NV(nvmlDeviceSetAccountingMode)(device_at(0), 2),
		    ERROR_INVALID_ARGUMENT);
	assert_nvml(NV(nvmlDeviceGetAccountingMode)(device_at(0), &mode),
		    SUCCESS);
	assert_int_equal(mode, NVML_FEATURE_DISABLED);
}

static void the_oldest_are_forgotten_first(void **state)
{
	struct fixture *fx = *state;
	struct gkf_account_entry *ring = fx->file->accounts.ring;
	unsigned slot;

	turn(true);
	for (int i = 0; i < GKF_ACCOUNTS_MAX + 10; i++) {
		assert_int_equal(gkf_attach(fx->m, 0, GKF_COMPUTE, NULL, &slot),
				 0);
		assert_int_equal(gkf_detach(fx->m, slot), 0);
		/* As if each had been another process. */
		ring[(i + 1) % GKF_ACCOUNTS_MAX].pid = 100000 + (unsigned)i;
	}
	assert_int_equal(count_pids(), GKF_ACCOUNTS_MAX);
	assert_nvml(stats_of(100009, &(nvmlAccountingStats_t){0}),
		    ERROR_NOT_FOUND);
	assert_nvml(stats_of(100010, &(nvmlAccountingStats_t){0}), SUCCESS);
}

/* Attaches and detaches until it is killed, or has left room for others. */
static void come_and_go(struct fixture *fx)
{
	unsigned slot;

	for (int i = 0; i < GKF_ACCOUNTS_MAX / 4; i++)
		if (!gkf_attach(fx->m, 0, GKF_COMPUTE, &steady, &slot)) {
			gkf_books_charge(fx->m, slot, GIB);
			gkf_detach(fx->m, slot);
		}
	pause();
}

static bool is_sound(void *ctx, const struct gkf_account *a)
{
	unsigned *count = ctx;

	assert_true(a->running || a->start_ns <= a->end_ns);
	assert_true(a->pid > 0);
	assert_true(a->peak == 0 || a->peak == GIB);
	assert_true(a->sums.sm <= a->sums.bins * 100);
	(*count)++;
	return true;
}

/* Killed at any instruction, it leaves books that can be read and written. */
static void books_survive_any_kill(void **state)
{
	struct fixture *fx = *state;
	unsigned count = 0;

	turn(true);
	for (unsigned i = 0; i < 200; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (!pid)
			come_and_go(fx);
		usleep(200 + i * 37 % 3000);
		gkf_machine_age(fx->m, GK_NS_PER_S);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		gkf_reap(fx->m, true);
		gkf_accounts_each(fx->m, 0, is_sound, &count);
	}
	assert_true(count > 0);
	assert_true(count_pids() > 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, front_teardown)
	const struct CMUnitTest tests[] = {
	    TEST(a_killed_process_is_accounted_for),
	    TEST(memory_given_back_was_used_all_the_same),
	    TEST(shares_of_a_full_device),
	    TEST(a_window_that_is_over_has_ended),
	    TEST(clearing_keeps_who_lives),
	    TEST(only_root_may_change_it),
	    TEST(the_oldest_are_forgotten_first),
	    TEST(books_survive_any_kill),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
