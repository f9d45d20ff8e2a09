/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turn_order_test.c - checks step by step whose turn is next, in one process
 * with several slots whose waiting is written by hand. turn_test.c has several
 * processes.
 */
#include "base/clock.h"
#include "base/err.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/fixture.h"
#include "machine/model/mig/mig.h"
#include "machine/store/process/books.h"
#include "machine/store/clock.h"
#include "machine/store/process/ledger.h"
#include "machine/store/process/turn.h"

enum { SLOTS = 4 };

static struct fixture fx;
static struct gkf_turn *turn;
static unsigned slot[SLOTS];
static atomic_bool stopped = true, goes_on;

/* Three slots on the first GPU and one on the second; the clock is stopped. */
static int open_two(void **state)
{
	(void)state;
	fixture_open(&fx, 2);
	turn = &fx.file->device[0].turn[0];
	gkf_clock_speed(fx.m, 0);
	gkf_machine_age(fx.m, 5 * GK_NS_PER_S);
	for (unsigned i = 0; i < SLOTS; i++)
		assert_int_equal(
		    gkf_books_attach(fx.m, i == 3, GKF_NO_INSTANCE, &slot[i]),
		    0);
	return 0;
}

static int close_it(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

/* The holder's word of a slot in its first life. */
static uint64_t held_by(unsigned i, unsigned shares)
{
	return 1ULL << 32 | (uint64_t)shares << 16 | (slot[i] + 1);
}

static uint64_t holder(void)
{
	return atomic_load(&turn->holder);
}

static struct gkf_busy *busy_of(unsigned i)
{
	return &fx.file->busy[slot[i]];
}

/* Marks a slot as waiting, as gkf_turn_take() does. */
static void let_wait(unsigned i, uint64_t since)
{
	atomic_store(&busy_of(i)->wants_ns, since);
	atomic_store(&turn->asked, 1);
}

static int take(unsigned i)
{
	return gkf_turn_take(fx.m, slot[i], &goes_on);
}

static void threads_of_a_slot_are_counted(void **state)
{
	(void)state;
	for (unsigned n = 1; n <= 3; n++) {
		assert_int_equal(take(0), 0);
		assert_true(holder() == held_by(0, n));
	}
	for (unsigned n = 3; n-- > 1;) {
		gkf_turn_give(fx.m, slot[0]);
		assert_true(holder() == held_by(0, n));
	}
	gkf_turn_give(fx.m, slot[1]); /* the turn is not its own */
	assert_true(holder() == held_by(0, 1));
	gkf_turn_give(fx.m, slot[0]);
	assert_int_equal(holder(), 0);
}

static void it_is_due_when_the_slice_is_over_and_somebody_asks(void **state)
{
	const uint64_t slice = GKF_TURN_SLICE_NS;

	(void)state;
	assert_int_equal(take(0), 0);
	assert_false(gkf_turn_due(fx.m, slot[0]));
	assert_true(gkf_turn_due(fx.m, slot[1]));
	atomic_store(&turn->since_ns, gk_mono_ns() - slice);
	assert_false(gkf_turn_due(fx.m, slot[0]));
	atomic_store(&turn->asked, 1);
	assert_true(gkf_turn_due(fx.m, slot[0]));
	atomic_store(&turn->since_ns, gk_mono_ns() + 60 * GK_NS_PER_S - slice);
	assert_true(gkf_turn_due(fx.m, slot[0])); /* a time of another clock */
	atomic_store(&turn->since_ns, gk_mono_ns());
	assert_false(gkf_turn_due(fx.m, slot[0]));
}

/* Whoever joined then would keep the others out for ever. */
static void nobody_joins_when_it_is_over(void **state)
{
	(void)state;
	assert_int_equal(take(0), 0);
	atomic_store(&turn->asked, 1);
	assert_int_equal(take(0), 0);
	atomic_store(&turn->since_ns, gk_mono_ns() - GKF_TURN_SLICE_NS);
	assert_int_equal(gkf_turn_take(fx.m, slot[0], &stopped),
			 GK_ERR_TIMEOUT);
	assert_true(holder() == held_by(0, 2));
	assert_int_equal(atomic_load(&busy_of(0)->wants_ns), 0);
}

static void who_is_stopped_while_it_waits_has_taken_nothing(void **state)
{
	(void)state;
	assert_int_equal(take(0), 0);
	assert_int_equal(gkf_turn_take(fx.m, slot[1], &stopped),
			 GK_ERR_TIMEOUT);
	assert_true(holder() == held_by(0, 1));
	assert_int_equal(atomic_load(&busy_of(1)->wants_ns), 0);
	assert_int_equal(atomic_load(&turn->asked), 1);
	gkf_turn_give(fx.m, slot[0]);
	assert_int_equal(holder(), 0);
	assert_int_equal(atomic_load(&turn->asked), 0);
	/* Nobody waits for a free turn. */
	assert_int_equal(gkf_turn_take(fx.m, slot[1], &stopped), 0);
}

static void who_waits_longest_is_next(void **state)
{
	uint32_t wake[2];

	(void)state;
	assert_int_equal(take(0), 0);
	assert_int_equal(take(0), 0);
	let_wait(1, 900);
	let_wait(2, 500);
	wake[0] = atomic_load(&busy_of(1)->wake);
	wake[1] = atomic_load(&busy_of(2)->wake);
	gkf_turn_give(fx.m, slot[0]);
	assert_true(holder() ==
		    held_by(0, 1)); /* the last thread releases it */
	gkf_turn_give(fx.m, slot[0]);
	assert_true(holder() == held_by(2, 0));
	assert_int_equal(atomic_load(&busy_of(1)->wake), wake[0]);
	assert_int_equal(atomic_load(&busy_of(2)->wake), wake[1] + 1);
	assert_int_equal(atomic_load(&turn->asked), 1); /* another one waits */
	atomic_store(&busy_of(2)->wants_ns, 0);
	assert_int_equal(take(2), 0);
	assert_true(holder() == held_by(2, 1));
	gkf_turn_give(fx.m, slot[2]);
	assert_true(holder() == held_by(1, 0));
	assert_int_equal(atomic_load(&busy_of(1)->wake), wake[0] + 1);
	assert_int_equal(atomic_load(&turn->asked), 0);
}

static void only_those_of_the_same_turn_are_next(void **state)
{
	(void)state;
	assert_int_equal(take(0), 0);
	let_wait(3, 100); /* for the other GPU */
	let_wait(1, 200);
	fx.file->slot[slot[1]].life++; /* a slot without an owner */
	gkf_turn_give(fx.m, slot[0]);
	assert_int_equal(holder(), 0);
	assert_int_equal(atomic_load(&turn->asked), 0);
	assert_int_equal(fx.file->device[1].turn[0].holder, 0);
}

static void a_slot_that_is_freed_passes_on_what_it_has(void **state)
{
	(void)state;
	assert_int_equal(take(0), 0);
	assert_int_equal(take(0), 0);
	let_wait(1, 100);
	gkf_turn_drop(fx.m, slot[2]); /* it holds no turn */
	assert_true(holder() == held_by(0, 2));
	gkf_turn_drop(fx.m, slot[0]);
	assert_true(holder() == held_by(1, 0));
	gkf_turn_drop(fx.m, slot[1]); /* nobody asked since */
	assert_int_equal(holder(), 0);
}

/* ---- when it was handed over ---- */

static uint64_t pass_from_0_to_1(uint64_t ended_ago_ns)
{
	uint64_t now = gkf_machine_ns(fx.m);

	assert_int_equal(take(0), 0);
	atomic_store(&busy_of(0)->ended_ns, now - ended_ago_ns + 1);
	let_wait(1, 100);
	gkf_turn_give(fx.m, slot[0]);
	assert_true(holder() == held_by(1, 0));
	atomic_store(&busy_of(1)->wants_ns, 0);
	assert_int_equal(take(1), 0);
	return now;
}

static void it_was_handed_over_when_the_work_before_ended(void **state)
{
	uint64_t now = pass_from_0_to_1(700000);

	(void)state;
	assert_int_equal(gkf_turn_passed(fx.m, slot[0]), 0);
	assert_int_equal(gkf_turn_passed(fx.m, slot[1]), now - 700000);
	assert_int_equal(gkf_turn_passed(fx.m, slot[1]), 0); /* reported once */
}

static void or_now_when_that_is_long_ago(void **state)
{
	uint64_t now = pass_from_0_to_1(GK_NS_PER_MS + 1);

	(void)state;
	assert_int_equal(gkf_turn_passed(fx.m, slot[1]), now);
}

static void a_millisecond_is_long(void **state)
{
	uint64_t now = pass_from_0_to_1(GK_NS_PER_MS);

	(void)state;
	assert_int_equal(gkf_turn_passed(fx.m, slot[1]), now - GK_NS_PER_MS);
}

static void what_ended_later_than_now_did_not(void **state)
{
	uint64_t now = pass_from_0_to_1(-(uint64_t)5000);

	(void)state;
	assert_int_equal(gkf_turn_passed(fx.m, slot[1]), now);
}

static void who_takes_a_free_device_was_handed_nothing(void **state)
{
	(void)state;
	atomic_store(&turn->passed_ns, 77);
	assert_int_equal(take(0), 0);
	assert_int_equal(gkf_turn_passed(fx.m, slot[0]), 0);
	assert_int_equal(atomic_load(&turn->passed_ns), 0);
}

/* ---- holders that do not continue ---- */

static void a_turn_that_is_not_claimed_is_lost(void **state)
{
	(void)state;
	atomic_store(&turn->holder, held_by(1, 0));
	atomic_store(&turn->since_ns, gk_mono_ns());
	atomic_store(&busy_of(1)->wants_ns, 5);
	assert_int_equal(take(0), 0);
	assert_true(holder() == held_by(0, 1));
	assert_true(gk_mono_ns() - atomic_load(&turn->since_ns) <
		    60 * GK_NS_PER_S);
	assert_int_equal(atomic_load(&busy_of(1)->wants_ns), 0);
}

/* In an overwritten file the turn may be held by a slot that does not exist. */
static void nobody_keeps_the_turn_of_nobody(void **state)
{
	const uint64_t nobody[] = {
	    0xffffffff0001ffffULL,                /* no such slot */
	    2ULL << 32 | 1 << 16 | (slot[1] + 1), /* another life of it */
	    3ULL << 32 | 1 << 16,                 /* none at all */
	};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		atomic_store(&turn->holder, nobody[i]);
		atomic_store(&turn->since_ns, gk_mono_ns());
		assert_int_equal(take(0), 0);
		assert_true(holder() == held_by(0, 1));
		gkf_turn_give(fx.m, slot[0]);
		assert_int_equal(holder(), 0);
	}
}

static void what_is_no_slot_of_this_process_has_no_turn(void **state)
{
	(void)state;
	assert_int_equal(take(0), 0);
	assert_false(gkf_turn_due(fx.m, GKF_SLOTS_MAX));
	gkf_turn_give(fx.m, GKF_SLOTS_MAX);
	gkf_turn_drop(fx.m, GKF_SLOTS_MAX);
	assert_int_equal(gkf_turn_passed(fx.m, GKF_SLOTS_MAX), 0);
	assert_true(holder() == held_by(0, 1));
	/* A slot of a GPU that does not exist. */
	fx.file->slot[slot[1]].device = 2;
	assert_int_equal(take(1), GK_ERR_NOT_FOUND);
	assert_false(gkf_turn_due(fx.m, slot[1]));
	assert_int_equal(gkf_turn_passed(fx.m, slot[1]), 0);
	gkf_turn_give(fx.m, slot[1]);
	gkf_turn_drop(fx.m, slot[1]);
	fx.file->slot[slot[2]].pid++;
	assert_int_equal(take(2), GK_ERR_NOT_FOUND);
}

static void each_mig_device_has_its_turns(void **state)
{
	struct gkf_turn *turns = fx.file->device[0].turn;
	const char *part;
	unsigned in;

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(gkf_detach(fx.m, slot[i]), 0);
	assert_int_equal(
	    gkf_mig_layout(fx.m, 0, "3g.40gb(1c+1c)+1g.10gb@0", &part), 0);
	/*
	 * MIG devices 0 and 1 are in instance 2, MIG device 2 is in instance 7.
	 */
	assert_int_equal(gkf_books_attach(fx.m, 0, GKF_INSTANCE(2, 1), &in), 0);
	assert_int_equal(gkf_turn_take(fx.m, in, NULL), 0);
	assert_int_equal(atomic_load(&turns[2].holder) & 0xffff, in + 1);
	assert_int_equal(atomic_load(&turns[0].holder), 0);
	assert_int_equal(atomic_load(&turns[1].holder), 0);
	assert_int_equal(gkf_books_attach(fx.m, 0, GKF_INSTANCE(7, 0), &in), 0);
	assert_int_equal(gkf_turn_take(fx.m, in, NULL), 0);
	assert_int_equal(atomic_load(&turns[3].holder) & 0xffff, in + 1);
	/* A number that is no instance means the whole device. */
	fx.file->slot[in].instance = GKF_INSTANCE(GKF_MIG_GIS, 0);
	assert_true(gkf_turn_due(fx.m, in));
	assert_int_equal(gkf_turn_take(fx.m, in, NULL), 0);
	assert_int_equal(atomic_load(&turns[0].holder) & 0xffff, in + 1);
	fx.file->slot[in].instance = GKF_INSTANCE(0, GKF_MIG_CIS);
	assert_false(gkf_turn_due(fx.m, in));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_two, close_it)
	const struct CMUnitTest tests[] = {
	    T(threads_of_a_slot_are_counted),
	    T(it_is_due_when_the_slice_is_over_and_somebody_asks),
	    T(nobody_joins_when_it_is_over),
	    T(who_is_stopped_while_it_waits_has_taken_nothing),
	    T(who_waits_longest_is_next),
	    T(only_those_of_the_same_turn_are_next),
	    T(a_slot_that_is_freed_passes_on_what_it_has),
	    T(it_was_handed_over_when_the_work_before_ended),
	    T(or_now_when_that_is_long_ago),
	    T(a_millisecond_is_long),
	    T(what_ended_later_than_now_did_not),
	    T(who_takes_a_free_device_was_handed_nothing),
	    T(a_turn_that_is_not_claimed_is_lost),
	    T(nobody_keeps_the_turn_of_nobody),
	    T(what_is_no_slot_of_this_process_has_no_turn),
	    T(each_mig_device_has_its_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
