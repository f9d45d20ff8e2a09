/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_pool_charge_test.c - checks pools with blocks in reserve and owed blocks,
 * where the books always take them back.
 */
#include "device/pool_fixture.h"

#include <stdatomic.h>

/* Checks the blocks in use, in reserve, and owed. */
static void has(const struct gkf_mem_pool *pool, uint64_t blocks,
		uint64_t reserved, uint64_t owed)
{
	assert_int_equal(pool->blocks, blocks * BLOCK);
	assert_int_equal(pool->usage.reserved, reserved * BLOCK);
	assert_int_equal(pool->owed, owed * BLOCK);
}

static void set(struct gkf_mem_pool *pool, uint64_t blocks, uint64_t reserved,
		uint64_t owed)
{
	pool->blocks = blocks * BLOCK;
	pool->usage.reserved = reserved * BLOCK;
	pool->owed = owed * BLOCK;
}

/* A slot that is gone, or does not hold that much, owes nothing. */
static void only_books_that_cannot_be_had_leave_it_charged(void **state)
{
	(void)state;
	assert_false(arena_still_charged(0));
	assert_false(arena_still_charged(GK_ERR_NOT_FOUND));
	assert_false(arena_still_charged(GK_ERR_RANGE));
	assert_true(arena_still_charged(GK_ERR_TIMEOUT));
	assert_true(arena_still_charged(GK_ERR_NO_SPACE));
	assert_true(arena_still_charged(GK_ERR_IO));
}

static void a_charge_takes_of_the_reserve_first(void **state)
{
	struct gkf_mem_pool *pool = new_pool();

	(void)state;
	set(pool, 1, 5, 0);
	assert_int_equal(pool_charge(pool, 4 * BLOCK), 0);
	has(pool, 5, 5, 0);
	assert_int_equal(pool->usage.reserved_high, 5 * BLOCK);
	assert_int_equal(pool_charge(pool, BLOCK), 0);
	has(pool, 6, 6, 0);
	assert_int_equal(pool->usage.reserved_high, 6 * BLOCK);
	pool->max = 8 * BLOCK;
	assert_int_equal(pool_charge(pool, 3 * BLOCK), GK_ERR_NO_SPACE);
	has(pool, 6, 6, 0);
	assert_int_equal(pool_charge(pool, 2 * BLOCK), 0);
	has(pool, 8, 8, 0);
}

/* What is in use cannot be owed; the rest still is. */
static void what_is_in_use_is_not_owed(void **state)
{
	struct gkf_mem_pool *pool = new_pool();

	(void)state;
	set(pool, 0, 5, 5);
	assert_int_equal(pool_charge(pool, 4 * BLOCK), 0);
	has(pool, 4, 5, 1);
	set(pool, 0, 5, 1);
	assert_int_equal(pool_charge(pool, 3 * BLOCK), 0);
	has(pool, 3, 5, 1);
	assert_int_equal(pool_charge(pool, 4 * BLOCK), 0);
	has(pool, 7, 7, 0);
}

static void a_trim_gives_back_what_is_owed_first(void **state)
{
	struct gkf_mem_pool *pool = new_pool();

	(void)state;
	set(pool, 1, 7, 3);
	pool_trim(pool, 7 * BLOCK);
	has(pool, 1, 7, 3);
	pool_trim(pool, 6 * BLOCK);
	has(pool, 1, 6, 2);
	pool_trim(pool, 3 * BLOCK);
	has(pool, 1, 3, 0);
	pool_trim(pool, 0);
	has(pool, 1, 1, 0);
}

static void a_repayment_keeps_whole_blocks_of_the_threshold(void **state)
{
	struct gkf_mem_pool *pool = new_pool();

	(void)state;
	set(pool, 6, 6, 0);
	pool->threshold = 3 * BLOCK - 1;
	pool_repay(pool, BLOCK);
	has(pool, 5, 5, 0);
	pool_repay(pool, 4 * BLOCK);
	has(pool, 1, 2, 0);
	pool_repay(pool, BLOCK);
	has(pool, 0, 2, 0);
}

/* The next settlement settles all pools. */
static void all_pools_settle_together(void **state)
{
	struct gkf_mem_pool *one = new_pool(), *other = new_pool();

	(void)state;
	set(one, 1, 4, 2);
	set(other, 0, 3, 1);
	set(&arena->pool, 2, 5, 3);
	pool_trim(one, 4 * BLOCK); /* nothing is known to be owed */
	has(one, 1, 4, 2);
	atomic_store(&arena->owes, true);
	pool_trim(one, 4 * BLOCK);
	has(one, 1, 2, 0);
	has(other, 0, 2, 0);
	has(&arena->pool, 2, 2, 0);
	assert_false(atomic_load(&arena->owes));
	pool_owe(other, 5 * BLOCK);
	has(other, 0, 2, 0);
	assert_false(atomic_load(&arena->owes));
}

static void what_a_pool_leaves_is_owed_by_the_arena(void **state)
{
	struct gkf_mem_pool *pool = new_pool();

	(void)state;
	set(pool, 0, 3, 1);
	set(&arena->pool, 2, 4, 1);
	pool_bequeath(pool);
	has(&arena->pool, 2, 7, 4);
}

static void a_close_leaves_nothing_of_any_pool(void **state)
{
	struct gkf_mem_pool *one = new_pool(), *other = new_pool();

	(void)state;
	set(one, 0, 4, 2);
	set(other, 0, 3, 1);
	set(&arena->pool, 0, 5, 3);
	atomic_store(&arena->owes, true);
	arena_close(arena);
	has(one, 0, 0, 0);
	has(other, 0, 0, 0);
	has(&arena->pool, 0, 0, 0);
	assert_false(atomic_load(&arena->owes));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    POOL_TEST(only_books_that_cannot_be_had_leave_it_charged),
	    POOL_TEST(a_charge_takes_of_the_reserve_first),
	    POOL_TEST(what_is_in_use_is_not_owed),
	    POOL_TEST(a_trim_gives_back_what_is_owed_first),
	    POOL_TEST(a_repayment_keeps_whole_blocks_of_the_threshold),
	    POOL_TEST(all_pools_settle_together),
	    POOL_TEST(what_a_pool_leaves_is_owed_by_the_arena),
	    POOL_TEST(a_close_leaves_nothing_of_any_pool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
