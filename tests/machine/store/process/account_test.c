/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_test.c - checks accounts: what is kept of live and of ended
 * processes, and for how long.
 */
#include "machine/file/account_state.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/value.h"
#include "machine/file/wave_state.h"
#include "machine/fixture.h"
#include "machine/model/model.h"
#include "machine/store/process/account.h"
#include "machine/store/process/books.h"
#include "machine/store/clock.h"
#include "machine/store/process/ledger.h"
#include "machine/store/machine.h"
#include "machine/store/writers_lock.h"

static struct fixture fx;

/* Two GPUs with accounting; the clock is stopped. */
static int open_two(void **state)
{
	const struct gkf_profile profiles[] = {gkf_profile_default,
					       gkf_profile_default};
	const struct gkf_machine_spec spec = {
	    .device_count = 2, .profiles = profiles, .frozen = true};

	(void)state;
	fixture_open_spec(&fx, &spec);
	gkf_value_set(fx.m, 0, GKF_V_ACCOUNTING, 1);
	return gkf_value_set(fx.m, 1, GKF_V_ACCOUNTING, 1);
}

static int close_it(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

enum { KEPT = 8 };

static struct {
	struct gkf_account at[KEPT];
	unsigned count, enough;
} seen;

static bool keep(void *ctx, const struct gkf_account *a)
{
	(void)ctx;
	if (seen.count < KEPT)
		seen.at[seen.count] = *a;
	return ++seen.count != seen.enough;
}

static unsigned look(unsigned device)
{
	seen.count = 0;
	gkf_accounts_each(fx.m, device, keep, NULL);
	return seen.count;
}

static unsigned attach(unsigned device, uint64_t bytes)
{
	unsigned slot;

	assert_int_equal(gkf_attach(fx.m, device, GKF_COMPUTE, NULL, &slot), 0);
	assert_int_equal(gkf_books_charge(fx.m, slot, bytes), 0);
	return slot;
}

static void add(unsigned slot, uint64_t bins, uint64_t sm, uint64_t mem)
{
	const struct gkf_sums more = {bins, sm, mem};

	assert_int_equal(gkf_lock(fx.m), 0);
	gkf_account_add(fx.m, slot, &more);
	gkf_unlock(fx.m);
}

static void let_pass(uint64_t bins)
{
	assert_int_equal(gkf_machine_age(fx.m, bins * GKF_BIN_NS), 0);
}

static void assert_account(unsigned i, uint64_t start_bin, uint64_t end_bin,
			   uint64_t peak)
{
	const struct gkf_account *a = &seen.at[i];

	assert_int_equal(a->pid, getpid());
	assert_int_equal(a->start_ns, start_bin * GKF_BIN_NS);
	assert_int_equal(a->end_ns, end_bin * GKF_BIN_NS);
	assert_int_equal(a->running, !end_bin);
	assert_int_equal(a->peak, peak);
}

static void the_most_that_was_held_is_kept(void **state)
{
	unsigned slot = attach(0, 5 * MIB);

	(void)state;
	assert_int_equal(gkf_books_charge(fx.m, slot, 2 * MIB), 0);
	assert_int_equal(gkf_books_refund(fx.m, slot, 6 * MIB), 0);
	assert_int_equal(gkf_books_charge(fx.m, slot, 3 * MIB), 0);
	assert_int_equal(gkf_books_charge_managed(fx.m, slot, 90 * MIB), 0);
	assert_int_equal(look(0), 1);
	assert_account(0, 0, 0, 7 * MIB);
	assert_int_equal(look(1), 0);
}

/* Live processes first, then ended ones, the latest first. */
static void the_ended_are_told_from_the_last_to_the_first(void **state)
{
	unsigned a, b;

	(void)state;
	a = attach(0, MIB);
	let_pass(3);
	b = attach(0, 2 * MIB);
	add(a, 1, 2, 3);
	add(a, 10, 20, 30);
	add(b, 4, 5, 6);
	let_pass(3);
	assert_int_equal(gkf_detach(fx.m, a), 0);
	let_pass(3);
	assert_int_equal(gkf_detach(fx.m, b), 0);
	attach(1, 9 * MIB);
	assert_int_equal(attach(0, 4 * MIB), b); /* in the place of another */
	assert_int_equal(look(0), 3);
	assert_account(0, 9, 0, 4 * MIB);
	assert_int_equal(seen.at[0].sums.bins, 0);
	assert_account(1, 3, 9, 2 * MIB);
	/* Six bins that passed, and what was added. */
	assert_int_equal(seen.at[1].sums.bins, 6 + 4);
	assert_int_equal(seen.at[1].sums.sm, 5);
	assert_int_equal(seen.at[1].sums.mem, 6);
	assert_account(2, 0, 6, MIB);
	assert_int_equal(seen.at[2].sums.bins, 6 + 11);
	assert_int_equal(seen.at[2].sums.sm, 22);
	assert_int_equal(seen.at[2].sums.mem, 33);
	assert_int_equal(gkf_accounts_bound(fx.m),
			 fx.file->slots_high + GKF_ACCOUNTS_MAX);
	/* A reader that has seen enough gets no more. */
	for (seen.enough = 1; seen.enough <= 3; seen.enough++)
		assert_int_equal(look(0), seen.enough);
	seen.enough = 0;
}

static void clearing_forgets_the_ended_of_a_device(void **state)
{
	(void)state;
	assert_int_equal(gkf_detach(fx.m, attach(0, MIB)), 0);
	assert_int_equal(gkf_detach(fx.m, attach(1, MIB)), 0);
	attach(0, 2 * MIB);
	assert_int_equal(gkf_accounts_clear(fx.m, 0), 0);
	assert_int_equal(look(0), 1);
	assert_account(0, 0, 0, 2 * MIB);
	assert_int_equal(look(1), 1);
	let_pass(2);
	assert_int_equal(gkf_detach(fx.m, attach(0, 3 * MIB)), 0);
	assert_int_equal(look(0), 2);
	assert_account(1, 2, 2, 3 * MIB);
}

/* A load is seen during its time only, and has ended after it. */
static void a_load_is_accounted_for_in_its_time(void **state)
{
	const struct gkf_wave load = {
	    .kind = GKF_WAVE_STEADY, .start_bin = 5, .stop_bin = 10};
	unsigned slot;

	(void)state;
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, &load, &slot), 0);
	let_pass(4);
	assert_int_equal(look(0), 0);
	let_pass(1);
	assert_int_equal(look(0), 1);
	assert_int_equal(seen.at[0].start_ns, 5 * GKF_BIN_NS);
	assert_true(seen.at[0].running);
	let_pass(4);
	assert_int_equal(look(0), 1);
	assert_true(seen.at[0].running);
	let_pass(1);
	assert_int_equal(look(0), 1);
	assert_account(0, 5, 10, 0);
	assert_int_equal(seen.at[0].sums.bins, 5);
	/* An account that was over when all were cleared stays forgotten. */
	assert_int_equal(gkf_accounts_clear(fx.m, 0), 0);
	assert_int_equal(look(0), 0);
	assert_int_equal(gkf_detach(fx.m, slot), 0);
	assert_int_equal(look(0), 0);
}

static void a_load_that_ended_is_recorded_as_it_ended(void **state)
{
	const struct gkf_wave load = {
	    .kind = GKF_WAVE_STEADY, .start_bin = 1, .stop_bin = 3};
	unsigned slot;

	(void)state;
	assert_int_equal(gkf_accounts_clear(fx.m, 0), 0);
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, &load, &slot), 0);
	let_pass(20);
	assert_int_equal(gkf_detach(fx.m, slot), 0);
	assert_int_equal(look(0), 1);
	assert_account(0, 1, 3, 0);
	assert_int_equal(seen.at[0].sums.bins, 2);
}

static void only_so_many_are_remembered(void **state)
{
	struct gkf_accounts *all = &fx.file->accounts;

	(void)state;
	let_pass(1);
	for (unsigned i = 0; i < GKF_ACCOUNTS_MAX + 3; i++)
		assert_int_equal(gkf_detach(fx.m, attach(0, (i + 1) * KIB)), 0);
	assert_int_equal(look(0), GKF_ACCOUNTS_MAX);
	assert_account(0, 1, 1, (GKF_ACCOUNTS_MAX + 3) * KIB);
	/* One is being written, one has been replaced by a later account. */
	all->ring[5].number = 0;
	all->ring[6].number += GKF_ACCOUNTS_MAX;
	assert_int_equal(look(0), GKF_ACCOUNTS_MAX - 2);
}

static void nothing_is_kept_of_who_is_not_counted(void **state)
{
	unsigned slot = attach(0, MIB);

	(void)state;
	add(slot, 1, 2, 3);
	assert_true(gkf_account_is_on(fx.m, 0));
	gkf_value_set(fx.m, 0, GKF_V_ACCOUNTING, 0);
	assert_false(gkf_account_is_on(fx.m, 0));
	assert_true(gkf_account_is_on(fx.m, 1));
	assert_int_equal(look(0), 1);
	assert_int_equal(seen.at[0].sums.bins, 0);
	assert_int_equal(seen.at[0].sums.mem, 0);
	assert_int_equal(gkf_detach(fx.m, slot), 0);
	assert_int_equal(look(0), 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_two, close_it)
	const struct CMUnitTest tests[] = {
	    T(the_most_that_was_held_is_kept),
	    T(the_ended_are_told_from_the_last_to_the_first),
	    T(clearing_forgets_the_ended_of_a_device),
	    T(a_load_is_accounted_for_in_its_time),
	    T(a_load_that_ended_is_recorded_as_it_ended),
	    T(only_so_many_are_remembered),
	    T(nothing_is_kept_of_who_is_not_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
