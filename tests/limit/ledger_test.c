/* What a ledger promises to one process, to its children, and after them. */
#include "limit/fixture.h"

#include <signal.h>

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
	/* No limit, another one, and the other devices. */
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
		/* Its child is dead, and nobody has looked yet. */
		assert_true(
		    gkl_ledger_reserve(fx.ledger, 0, GKL_DATA, GIB / 2, GIB));
		assert_false(
		    gkl_ledger_reserve(fx.ledger, 0, GKL_DATA, 1, GIB));
		gkl_ledger_refund(fx.ledger, 0, GKL_DATA, GIB);
		assert_int_equal(count_processes(fx.ledger), 1);
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_it, close_it)
	const struct CMUnitTest tests[] = {
	    T(takes_up_to_the_limit_and_not_one_byte_more),
	    T(what_is_given_back_can_be_taken_again),
	    T(more_given_back_than_held_leaves_nothing_and_no_less),
	    T(sizes_beyond_all_are_refused),
	    T(the_dead_make_room_as_soon_as_somebody_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
