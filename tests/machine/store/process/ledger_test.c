/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger_test.c - checks who holds what: attach, alloc, free, detach, capacity,
 * death of owners.
 */
#include "base/clock.h"
#include "base/err.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/wave_state.h"
#include "machine/fixture.h"
#include "machine/model/wave.h"
#include "machine/store/process/books.h"
#include "machine/store/process/ledger.h"
#include "machine/store/process/processes.h"

#include <stdatomic.h>
#include <signal.h>
#include <sys/mman.h>

static struct fixture fx;

static int open_two(void **state)
{
	(void)state;
	fixture_open(&fx, 2);
	return 0;
}

static int close_it(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

static uint64_t free_bytes(unsigned device)
{
	struct gkf_memory memory;

	gkf_memory(fx.m, device, &memory);
	assert_int_equal(memory.total,
			 memory.reserved + memory.used + memory.free);
	return memory.free;
}

static void held_bytes_are_what_was_taken(void **state)
{
	unsigned slot;

	(void)state;
	assert_int_equal(gkf_attach(fx.m, 1, GKF_COMPUTE, NULL, &slot), 0);
	assert_int_equal(gkf_books_charge(fx.m, slot, 3 * GIB), 0);
	assert_int_equal(gkf_books_refund(fx.m, slot, GIB), 0);
	assert_int_equal(gkf_held_bytes(fx.m, 1), 2 * GIB);
	assert_int_equal(gkf_held_bytes(fx.m, 0), 0);
	assert_int_equal(gkf_detach(fx.m, slot), 0);
	assert_int_equal(gkf_held_bytes(fx.m, 1), 0);
}

/* A slot follows the recording's current load, not the one it began with. */
static void a_slot_works_as_it_is_tuned(void **state)
{
	struct gkf_wave wave = {.kind = GKF_WAVE_STEADY, .util_permille = 300};
	struct gkf_wave seen = {0};
	struct gkf_process p;
	uint64_t came;
	unsigned slot, count;

	(void)state;
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, &wave, &slot), 0);
	gkf_processes(fx.m, 0, GKF_COMPUTE, &p, 1, &count);
	assert_true(gkf_process_wave(fx.m, &p, &seen));
	came = seen.start_bin;
	assert_int_equal(gkf_wave_at(&seen, came + 1), 300);
	assert_int_equal(gkf_wave_at(&seen, came + 1000000), 300);
	wave.util_permille = 770;
	wave.start_bin = 1;
	wave.stop_bin = 2;
	assert_int_equal(gkf_tune(fx.m, slot, &wave), 0);
	gkf_processes(fx.m, 0, GKF_COMPUTE, &p, 1, &count);
	assert_int_equal(count, 1);
	assert_true(gkf_process_wave(fx.m, &p, &seen));
	assert_int_equal(seen.start_bin, came);
	assert_int_equal(gkf_wave_at(&seen, came + 1), 770);
	assert_int_equal(gkf_detach(fx.m, slot), 0);
	assert_int_not_equal(gkf_tune(fx.m, slot, &wave), 0);
	/* The next owner of the slot is another process. */
	assert_false(gkf_process_wave(fx.m, &p, &seen));
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, &wave, &slot), 0);
	assert_int_equal(slot, p.slot);
	assert_false(gkf_process_wave(fx.m, &p, &seen));
}

static void a_device_gives_no_more_than_it_has(void **state)
{
	uint64_t all = free_bytes(0);
	unsigned slot;

	(void)state;
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, NULL, &slot), 0);
	assert_int_equal(gkf_books_charge(fx.m, slot, all + 1),
			 GK_ERR_NO_SPACE);
	assert_int_equal(gkf_books_charge(fx.m, slot, UINT64_MAX),
			 GK_ERR_NO_SPACE);
	assert_int_equal(gkf_books_charge(fx.m, slot, all), 0);
	assert_int_equal(gkf_books_charge(fx.m, slot, 1), GK_ERR_NO_SPACE);
	assert_int_equal(gkf_books_refund(fx.m, slot, all + 1), GK_ERR_RANGE);
	assert_int_equal(free_bytes(0), 0);
}

static void wrong_devices_and_slots_are_refused(void **state)
{
	unsigned slot = 77;

	(void)state;
	assert_int_equal(gkf_attach(fx.m, 2, GKF_COMPUTE, NULL, &slot),
			 GK_ERR_RANGE);
	assert_int_equal(gkf_attach(fx.m, 0, 0, NULL, &slot), GK_ERR_RANGE);
	assert_int_equal(slot, 77);
	assert_int_equal(gkf_detach(fx.m, 5), GK_ERR_NOT_FOUND);
	assert_int_equal(gkf_detach(fx.m, GKF_SLOTS_MAX), GK_ERR_RANGE);
	assert_int_equal(gkf_books_charge(fx.m, UINT32_MAX, 1), GK_ERR_RANGE);
}

static void nobody_touches_the_slot_of_another(void **state)
{
	struct resident r = fixture_resident(&fx, 0, GKF_COMPUTE, GIB, NULL);

	(void)state;
	assert_int_equal(gkf_books_refund(fx.m, 0, 1), GK_ERR_NOT_FOUND);
	assert_int_equal(gkf_detach(fx.m, 0), GK_ERR_NOT_FOUND);
	assert_int_equal(gkf_held_bytes(fx.m, 0), GIB);
	fixture_end(&r);
}

static void lists_tell_pid_type_and_bytes(void **state)
{
	struct resident a = fixture_resident(&fx, 0, GKF_COMPUTE, GIB, NULL);
	struct resident b = fixture_resident(&fx, 0, GKF_GRAPHICS, 5, NULL);
	struct resident c = fixture_resident(&fx, 1, GKF_COMPUTE, 9, NULL);
	struct gkf_process list[4];
	unsigned count;

	(void)state;
	assert_int_equal(gkf_processes(fx.m, 0, GKF_COMPUTE, list, 4, &count),
			 0);
	assert_int_equal(count, 1);
	assert_int_equal(list[0].pid, a.pid);
	assert_int_equal(list[0].bytes, GIB);
	assert_int_equal(
	    gkf_processes(fx.m, 0, GKF_GRAPHICS | GKF_COMPUTE, list, 1, &count),
	    0);
	assert_int_equal(count, 2);
	assert_int_equal(gkf_processes(fx.m, 2, 7, list, 4, &count),
			 GK_ERR_RANGE);
	fixture_end(&a);
	fixture_end(&b);
	fixture_end(&c);
}

/* A zombie still has a pid but no longer a GPU. */
static void a_zombie_holds_nothing(void **state)
{
	struct resident r = fixture_resident(&fx, 0, GKF_COMPUTE, GIB, NULL);
	siginfo_t info;

	(void)state;
	kill(r.pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)r.pid, &info, WEXITED | WNOWAIT),
			 0);
	assert_int_equal(gkf_reap(fx.m, true), 1);
	assert_int_equal(gkf_held_bytes(fx.m, 0), 0);
	fixture_end(&r);
}

/* As a daemon does after it has read its GPUs. */
static void who_closes_its_descriptors_is_no_ghost(void **state)
{
	unsigned slot;
	pid_t pid;

	(void)state;
	pid = fork();
	if (!pid) {
		closefrom(0);
		_exit(gkf_attach(fx.m, 0, GKF_COMPUTE, NULL, &slot) ||
		      gkf_books_charge(fx.m, slot, 4 * GIB));
	}
	fixture_await(pid, 0);
	assert_int_equal(gkf_held_bytes(fx.m, 0), 4 * GIB);
	assert_int_equal(gkf_reap(fx.m, true), 1);
	assert_int_equal(gkf_held_bytes(fx.m, 0), 0);
}

static void a_recycled_pid_is_not_the_owner(void **state)
{
	unsigned slot;

	(void)state;
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, NULL, &slot), 0);
	assert_int_equal(gkf_reap(fx.m, true), 0);
	fx.file->slot[slot].start -= 1; /* as of an earlier process */
	assert_int_equal(gkf_reap(fx.m, true), 1);
}

static void looking_all_the_time_reaps_now_and_then(void **state)
{
	struct gkf_process list[1];
	unsigned count;
	uint64_t first, began, passed;

	(void)state;
	do { /* repeated if another process had the CPU meanwhile */
		gkf_reap(fx.m, true);
		first = atomic_load(&fx.file->reaped_ns);
		began = gk_mono_ns();
		for (int i = 0; i < 100; i++)
			gkf_processes(fx.m, 0, 7, list, 1, &count);
		passed = gk_mono_ns() - began;
	} while (passed > 40 * GK_NS_PER_MS);
	assert_true(atomic_load(&fx.file->reaped_ns) == first);
	assert_true(atomic_load(&fx.file->reap_pause_ns) >= 50 * GK_NS_PER_MS);
}

/* A clock of another time namespace may be ahead of ours, or behind. */
static void the_clock_of_others_stops_nobody(void **state)
{
	static const int64_t ahead[] = {-86400 * (int64_t)GK_NS_PER_S,
					(int64_t)GK_NS_PER_S,
					86400 * (int64_t)GK_NS_PER_S};
	uint64_t now, then;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		now = gk_mono_ns();
		then = now + (uint64_t)ahead[i];
		if (ahead[i] < 0 && now < (uint64_t)-ahead[i])
			then = 0;
		atomic_store(&fx.file->reaped_ns, then);
		gkf_reap(fx.m, false);
		assert_in_range(atomic_load(&fx.file->reaped_ns), now,
				gk_mono_ns());
	}
}

static void all_slots_can_be_used_and_no_more(void **state)
{
	unsigned slot, extra = 0;

	(void)state;
	for (unsigned i = 0; i < GKF_SLOTS_MAX; i++)
		atomic_store(&fx.file->slot[i].life, 1);
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, NULL, &extra),
			 GK_ERR_TOO_MANY);
	atomic_store(&fx.file->slot[4000].life, 2);
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, NULL, &slot), 0);
	assert_int_equal(slot, 4000);
}

/* Racing processes never hold more than there is, and their own figures match
 * the file's. */
static void a_race_never_overshoots(void **state)
{
	enum { RACERS = 8, ROUNDS = 2000 };
	uint64_t room = free_bytes(0), piece = room / 5;
	pid_t pid[RACERS];

	(void)state;
	for (int i = 0; i < RACERS; i++) {
		pid[i] = fork();
		if (pid[i])
			continue;
		unsigned slot;
		uint64_t mine = 0;

		if (gkf_attach(fx.m, 0, GKF_COMPUTE, NULL, &slot))
			_exit(1);
		for (int k = 0; k < ROUNDS; k++) {
			if (!gkf_books_charge(fx.m, slot, piece))
				mine += piece;
			if (gkf_held_bytes(fx.m, 0) > room)
				_exit(2);
			if (mine && gkf_books_refund(fx.m, slot, piece))
				_exit(3);
			mine -= mine ? piece : 0;
		}
		_exit(gkf_detach(fx.m, slot) ? 4 : 0);
	}
	for (int i = 0; i < RACERS; i++) {
		int status;

		waitpid(pid[i], &status, 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(gkf_held_bytes(fx.m, 0), 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_two, close_it)
	const struct CMUnitTest tests[] = {
	    T(held_bytes_are_what_was_taken),
	    T(a_slot_works_as_it_is_tuned),
	    T(a_device_gives_no_more_than_it_has),
	    T(wrong_devices_and_slots_are_refused),
	    T(nobody_touches_the_slot_of_another),
	    T(lists_tell_pid_type_and_bytes),
	    T(a_zombie_holds_nothing),
	    T(who_closes_its_descriptors_is_no_ghost),
	    T(a_recycled_pid_is_not_the_owner),
	    T(looking_all_the_time_reaps_now_and_then),
	    T(the_clock_of_others_stops_nobody),
	    T(all_slots_can_be_used_and_no_more),
	    T(a_race_never_overshoots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
