/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger_test.c - checks what a ledger guarantees to a process, to its
 * children, and after them.
 */
#include "base/clock.h"
#include "limit/fixture.h"
#include "limit/ledger_file.h"
#include "limit/share.h"

#include <signal.h>
#include <sys/stat.h>

static struct fixture fx;

static int open_it(void **state)
{
	(void)state;
	fixture_open(&fx);
	return 0;
}

static int close_it(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

static void reopen(void)
{
	gkl_ledger_close(fx.ledger);
	assert_int_equal(gkl_ledger_open(fx.path, GKL_PRIVATE, &fx.ledger), 0);
}

static void takes_up_to_the_limit_and_not_one_byte_more(void **state)
{
	(void)state;
	assert_true(gkl_ledger_reserve(fx.ledger, 3, GKL_DATA, GIB - 1, GIB));
	assert_false(gkl_ledger_reserve(fx.ledger, 3, GKL_DATA, 2, GIB));
	assert_true(gkl_ledger_reserve(fx.ledger, 3, GKL_DATA, 1, GIB));
	assert_false(gkl_ledger_reserve(fx.ledger, 3, GKL_DATA, 1, GIB));
	assert_int_equal(gkl_ledger_used(fx.ledger, 3), GIB);
	assert_int_equal(gkl_ledger_own(fx.ledger, 3), GIB);
	assert_int_equal(gkl_ledger_used(fx.ledger, 2), 0);
	/* No limit, a higher limit, and another device. */
	assert_true(gkl_ledger_reserve(fx.ledger, 3, GKL_DATA, 1, 0));
	assert_true(gkl_ledger_reserve(fx.ledger, 3, GKL_DATA, 1, GIB + 2));
	assert_true(gkl_ledger_reserve(fx.ledger, 2, GKL_DATA, GIB, GIB));
}

static void what_is_given_back_can_be_taken_again(void **state)
{
	(void)state;
	for (int i = 0; i < 1000; i++) {
		assert_true(
		    gkl_ledger_reserve(fx.ledger, 0, GKL_DATA, GIB, GIB));
		gkl_ledger_refund(fx.ledger, 0, GKL_DATA, GIB);
	}
	assert_int_equal(gkl_ledger_used(fx.ledger, 0), 0);
	assert_int_equal(gkl_ledger_own(fx.ledger, 0), 0);
}

static void more_given_back_than_held_leaves_nothing_and_no_less(void **state)
{
	(void)state;
	assert_true(gkl_ledger_reserve(fx.ledger, 0, GKL_DATA, 10, GIB));
	gkl_ledger_refund(fx.ledger, 0, GKL_DATA, 11);
	assert_int_equal(gkl_ledger_used(fx.ledger, 0), 0);
	gkl_ledger_refund(fx.ledger, 0, GKL_DATA, UINT64_MAX);
	assert_int_equal(gkl_ledger_used(fx.ledger, 0), 0);
	assert_true(gkl_ledger_reserve(fx.ledger, 0, GKL_DATA, GIB, GIB));
	assert_false(gkl_ledger_reserve(fx.ledger, 0, GKL_DATA, 1, GIB));
}

static void sizes_beyond_all_are_refused(void **state)
{
	static const uint64_t sizes[] = {UINT64_MAX, 1ULL << 63, INT64_MAX};

	(void)state;
	assert_true(gkl_ledger_reserve(fx.ledger, 0, GKL_DATA, 10, GIB));
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		assert_false(
		    gkl_ledger_reserve(fx.ledger, 0, GKL_DATA, sizes[i], GIB));
	assert_int_equal(gkl_ledger_used(fx.ledger, 0), 10);
}

static void reserve_half(void)
{
	if (!gkl_ledger_reserve(fx.ledger, 0, GKL_DATA, GIB / 2, GIB))
		_exit(1);
	if (gkl_ledger_own(fx.ledger, 0) != GIB / 2)
		_exit(2);
}

static void the_dead_make_room_as_soon_as_somebody_is_refused(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		reserve_half();
		await_end(start_child(reserve_half), 0);
		/* Its child is dead, and nobody has looked for the dead yet. */
		assert_true(
		    gkl_ledger_reserve(fx.ledger, 0, GKL_DATA, GIB / 2, GIB));
		assert_false(
		    gkl_ledger_reserve(fx.ledger, 0, GKL_DATA, 1, GIB));
		gkl_ledger_refund(fx.ledger, 0, GKL_DATA, GIB);
		assert_int_equal(count_processes(fx.ledger), 1);
	}
}

static void note_process(const struct gkl_process *process, void *arg)
{
	*(struct gkl_process *)arg = *process;
}

static void kinds_are_told_apart_and_bytes_may_change_theirs(void **state)
{
	struct gkl_process p;

	(void)state;
	assert_true(gkl_ledger_reserve(fx.ledger, 1, GKL_PENDING, 100, GIB));
	assert_int_equal(gkl_ledger_pending(fx.ledger, 1, GKL_PENDING), 100);
	gkl_ledger_charge(fx.ledger, 1, GKL_CONTEXT, 7);
	gkl_ledger_move(fx.ledger, 1, GKL_PENDING, GKL_ARRAY, 30);
	gkl_ledger_refund(fx.ledger, 1, GKL_PENDING, 70);
	gkl_ledger_each(fx.ledger, note_process, &p);
	assert_int_equal(p.slot, 0);
	assert_int_equal(p.pid, getpid());
	assert_int_equal(p.held[1], 37);
	assert_int_equal(p.kinds[1][GKL_ARRAY], 30);
	assert_int_equal(p.kinds[1][GKL_CONTEXT], 7);
	assert_int_equal(p.kinds[1][GKL_PENDING], 0);
	assert_int_equal(gkl_ledger_pending(fx.ledger, 1, GKL_PENDING), 0);
	assert_int_equal(gkl_ledger_used(fx.ledger, 1), 37);
	/* A pending amount does not count for the peak. */
	assert_int_equal(p.peak[1], 37);
}

/* The inode is the kernel's PROC_PID_INIT_INO. */
static int32_t host_pid(void)
{
	struct stat st;

	assert_int_equal(stat("/proc/self/ns/pid", &st), 0);
	return st.st_ino == 4026531836 ? (int32_t)getpid() : 0;
}

static void counters_are_of_the_process_and_of_the_device(void **state)
{
	struct gkl_process p;
	struct gkl_total total;

	(void)state;
	gkl_ledger_charge(fx.ledger, 2, GKL_DATA, 50);
	gkl_ledger_refund(fx.ledger, 2, GKL_DATA, 20);
	gkl_ledger_refused(fx.ledger, 2);
	gkl_ledger_count(fx.ledger, 2, GKL_BUSY_NS, 11);
	gkl_ledger_count(fx.ledger, 2, GKL_THROTTLED_NS, 12);
	gkl_ledger_count(fx.ledger, 2, GKL_LAUNCHES, 13);
	gkl_ledger_each(fx.ledger, note_process, &p);
	assert_int_equal(p.host_pid, host_pid());
	assert_int_equal(p.peak[2], 50);
	assert_int_equal(p.refused[2], 1);
	assert_int_equal(p.busy_ns[2], 11);
	assert_int_equal(p.throttled_ns[2], 12);
	assert_int_equal(p.launches[2], 13);
	assert_int_equal(p.launches[1], 0);
	gkl_ledger_total(fx.ledger, 2, &total);
	assert_int_equal(total.used, 30);
	assert_int_equal(total.peak, 50);
	assert_int_equal(total.refused, 1);
	assert_int_equal(total.busy_ns, 11);
	assert_int_equal(total.throttled_ns, 12);
	assert_int_equal(total.launches, 13);
}

static void the_table_of_devices_holds_what_was_set_last(void **state)
{
	struct gkl_device set = {.uuid = "GPU-a", .total = 80 * GIB}, is;

	(void)state;
	assert_false(gkl_ledger_device(fx.ledger, 15, &is));
	gkl_ledger_set_device(fx.ledger, 15, &set);
	set.context_bytes = 518 * MIB;
	gkl_ledger_set_device(fx.ledger, 15, &set);
	assert_true(gkl_ledger_device(fx.ledger, 15, &is));
	assert_string_equal(is.uuid, "GPU-a");
	assert_int_equal(is.total, 80 * GIB);
	assert_int_equal(is.context_bytes, 518 * MIB);
	assert_false(gkl_ledger_device(fx.ledger, 14, &is));
}

static void each_device_has_room_of_its_own_for_shares(void **state)
{
	static const char zeros[GKL_SHARE_BYTES];

	(void)state;
	memset(gkl_ledger_share(fx.ledger, 3), 0xff, GKL_SHARE_BYTES);
	assert_memory_equal(gkl_ledger_share(fx.ledger, 2), zeros,
			    GKL_SHARE_BYTES);
	assert_memory_equal(gkl_ledger_share(fx.ledger, 4), zeros,
			    GKL_SHARE_BYTES);
	gkl_ledger_charge(fx.ledger, 3, GKL_DATA, 1);
	assert_int_equal(gkl_ledger_used(fx.ledger, 3), 1);
	assert_int_equal((uintptr_t)gkl_ledger_share(fx.ledger, 3) % 64, 0);
}

static void closing_gives_back_all_and_a_slot_is_claimed_anew(void **state)
{
	struct gkl_ledger *other;

	(void)state;
	assert_int_equal(gkl_ledger_open(fx.path, GKL_PRIVATE, &other), 0);
	gkl_ledger_charge(other, 0, GKL_DATA, GIB);
	assert_int_equal(gkl_ledger_used(fx.ledger, 0), GIB);
	gkl_ledger_close(other);
	assert_int_equal(gkl_ledger_used(fx.ledger, 0), 0);
	assert_int_equal(count_processes(fx.ledger), 0);
	assert_int_equal(gkl_ledger_slot(fx.ledger), 0);
	assert_int_equal(gkl_ledger_slot(fx.ledger), 0);
}

/* The ledger lies on a disk, and the clock has restarted. */
static void shares_begin_anew_with_the_clock(void **state)
{
	const uint64_t now = 100 * GK_NS_PER_S, before = 90 * 86400 * now;
	struct gkl_share *share = gkl_ledger_share(fx.ledger, 2);

	(void)state;
	gkl_share_take(share, 10, before, (int64_t)GK_NS_PER_S);
	gkl_share_want(share, before);
	assert_true(gkl_share_wait(share, 10, now, 0) > 0);
	assert_true(gkl_ledger_reserve(fx.ledger, 0, GKL_DATA, 10, GIB));
	/* Opening it again in the same boot changes nothing. */
	reopen();
	share = gkl_ledger_share(fx.ledger, 2);
	assert_int_equal(gkl_share_wanted(share), before);
	fx.ledger->file->boot--;
	reopen();
	share = gkl_ledger_share(fx.ledger, 2);
	assert_int_equal(gkl_share_wait(share, 10, now, 0), 0);
	assert_int_equal(gkl_share_wanted(share), 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_it, close_it)
	const struct CMUnitTest tests[] = {
	    T(takes_up_to_the_limit_and_not_one_byte_more),
	    T(what_is_given_back_can_be_taken_again),
	    T(more_given_back_than_held_leaves_nothing_and_no_less),
	    T(sizes_beyond_all_are_refused),
	    T(kinds_are_told_apart_and_bytes_may_change_theirs),
	    T(counters_are_of_the_process_and_of_the_device),
	    T(the_table_of_devices_holds_what_was_set_last),
	    T(each_device_has_room_of_its_own_for_shares),
	    T(closing_gives_back_all_and_a_slot_is_claimed_anew),
	    T(the_dead_make_room_as_soon_as_somebody_is_refused),
	    T(shares_begin_anew_with_the_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
