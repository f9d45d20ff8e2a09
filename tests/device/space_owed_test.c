/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space_owed_test.c - checks memory that the books of a device would not take
 * back, because a stopped process holds them: it stays charged, is owed, and is
 * given back later.
 */
#include "base/clock.h"
#include "device/space_fixture.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/holder.h"
#include "machine/store/process/books.h"
#include "machine/store/process/ledger.h"

#include <stdatomic.h>

static uint64_t held(unsigned device)
{
	return gkf_held_bytes(fx.m, device);
}

static uint64_t managed_now(unsigned device)
{
	return atomic_load(&fx.file->slot[slots[device]].managed);
}

static uint64_t alloc_in(struct gkf_mem_pool *pool, uint64_t size)
{
	struct gkf_memory_ask ask = {.kind = GKF_MEMORY_DEVICE,
				     .size = size,
				     .owner = &fx,
				     .pool = pool};
	uint64_t address = 0;

	assert_int_equal(gkf_space_alloc(&ask, &address), 0);
	return address;
}

static uint64_t reserved(struct gkf_mem_pool *pool)
{
	struct gkf_mem_pool_usage usage;

	gkf_mem_pool_read(pool, &usage);
	return usage.reserved;
}

/* Frees while the books are held: it stays charged. */
static void free_while_held(uint64_t address)
{
	uint64_t before = held(0);
	pid_t holder = holder_start(fx.m, 0);

	assert_int_equal(gkf_space_free(address), 0);
	assert_int_equal(held(0), before);
	holder_end(holder);
	assert_int_equal(held(0), before);
}

static void it_goes_with_the_next_free(void **state)
{
	uint64_t a = alloc(0, BLOCK), b = alloc(0, BLOCK);

	(void)state;
	free_while_held(a);
	gkf_space_free(b);
	assert_int_equal(held(0), 0);
}

/* Each would wait a second, but only the first one does. */
static void many_frees_wait_once(void **state)
{
	uint64_t at[200], began;
	pid_t holder;

	(void)state;
	for (int i = 0; i < 200; i++)
		at[i] = alloc(0, BLOCK);
	holder = holder_start(fx.m, 0);
	began = gk_mono_ns();
	for (int i = 0; i < 200; i++)
		assert_int_equal(gkf_space_free(at[i]), 0);
	assert_true(gk_mono_ns() - began < 20 * GK_NS_PER_S);
	assert_int_equal(held(0), 200 * BLOCK);
	holder_end(holder);
	gkf_space_free(alloc(0, BLOCK));
	assert_int_equal(held(0), 0);
}

static void the_next_allocation_has_it_and_gives_back_the_rest(void **state)
{
	uint64_t a = alloc(0, 5 * BLOCK), b;

	(void)state;
	free_while_held(a);
	b = alloc(0, 2 * BLOCK);
	assert_int_equal(held(0), 2 * BLOCK);
	gkf_space_free(b);
	assert_int_equal(held(0), 0);
}

static void it_goes_with_any_pool_of_the_device(void **state)
{
	uint64_t a = alloc(0, 5 * BLOCK), b;
	struct gkf_mem_pool *pool;

	(void)state;
	assert_int_equal(gkf_mem_pool_new(0, 0, &pool), 0);
	free_while_held(a);
	b = alloc_in(pool, BLOCK);
	assert_int_equal(held(0), BLOCK);
	gkf_space_free(b);
	gkf_mem_pool_release(pool);
	assert_int_equal(held(0), 0);
}

/* Not a byte more than was to be trimmed is owed. */
static void a_trim_is_owed(void **state)
{
	struct gkf_mem_pool *pool, *other;
	pid_t holder;

	(void)state;
	assert_int_equal(gkf_mem_pool_new(0, 0, &pool), 0);
	assert_int_equal(gkf_mem_pool_new(0, 0, &other), 0);
	gkf_mem_pool_keep(pool, UINT64_MAX);
	gkf_space_free(alloc_in(pool, 5 * BLOCK));
	assert_int_equal(held(0), 5 * BLOCK);
	holder = holder_start(fx.m, 0);
	gkf_mem_pool_trim(pool, 2 * BLOCK);
	assert_int_equal(reserved(pool), 5 * BLOCK);
	holder_end(holder);
	gkf_mem_pool_trim(other, 0);
	assert_int_equal(reserved(pool), 2 * BLOCK);
	assert_int_equal(held(0), 2 * BLOCK);
	gkf_mem_pool_release(pool);
	gkf_mem_pool_release(other);
	assert_int_equal(held(0), 0);
}

static void what_is_used_again_is_not_owed(void **state)
{
	struct gkf_mem_pool *pool;
	uint64_t a;

	(void)state;
	assert_int_equal(gkf_mem_pool_new(0, 0, &pool), 0);
	free_while_held(alloc_in(pool, 5 * BLOCK));
	gkf_mem_pool_keep(pool, UINT64_MAX);
	a = alloc_in(pool, 4 * BLOCK);
	assert_int_equal(reserved(pool), 4 * BLOCK);
	gkf_space_free(a); /* the pool keeps it */
	gkf_space_free(alloc(0, BLOCK));
	assert_int_equal(held(0), 4 * BLOCK);
	gkf_mem_pool_release(pool);
	assert_int_equal(held(0), 0);
}

static void a_pool_that_ended_still_owes(void **state)
{
	struct gkf_mem_pool *pool;
	pid_t holder;

	(void)state;
	assert_int_equal(gkf_mem_pool_new(0, 0, &pool), 0);
	gkf_mem_pool_keep(pool, UINT64_MAX);
	gkf_space_free(alloc_in(pool, 3 * BLOCK));
	holder = holder_start(fx.m, 0);
	gkf_mem_pool_release(pool);
	holder_end(holder);
	assert_int_equal(held(0), 3 * BLOCK);
	gkf_space_free(alloc(0, 1));
	assert_int_equal(held(0), 0);
}

/* Owed memory is not missing when all of it is needed. */
static void it_is_there_for_who_needs_it(void **state)
{
	struct gkf_memory memory;
	struct gkf_mem_pool *pool;
	uint64_t all;

	(void)state;
	assert_int_equal(gkf_mem_pool_new(0, 0, &pool), 0);
	gkf_memory(fx.m, 0, &memory);
	all = memory.free / BLOCK * BLOCK;
	free_while_held(alloc(0, all));
	gkf_space_free(alloc_in(pool, all));
	gkf_mem_pool_release(pool);
	assert_int_equal(held(0), 0);
}

static void closing_gives_it_back(void **state)
{
	(void)state;
	free_while_held(alloc(0, 3 * BLOCK));
	gkf_space_close(0);
	assert_int_equal(held(0), 0);
	assert_int_equal(gkf_space_open(fx.m, 0, slots[0]), 0);
}

/*
 * Another slot pays for the next device: the old one's debt does not count
 * there.
 */
static void what_is_owed_at_the_close_goes_with_the_slot(void **state)
{
	pid_t holder;

	(void)state;
	alloc(0, 3 * BLOCK);
	holder = holder_start(fx.m, 0);
	gkf_space_close(0);
	holder_end(holder);
	assert_int_equal(held(0), 3 * BLOCK);
	assert_int_equal(gkf_detach(fx.m, slots[0]), 0);
	assert_int_equal(held(0), 0);
	assert_int_equal(gkf_books_attach(fx.m, 0, GKF_NO_INSTANCE, &slots[0]),
			 0);
	assert_int_equal(gkf_space_open(fx.m, 0, slots[0]), 0);
	alloc(0, BLOCK);
	assert_int_equal(held(0), BLOCK);
}

static void what_was_charged_besides_is_owed_as_well(void **state)
{
	pid_t holder;

	(void)state;
	assert_int_equal(gkf_books_charge(fx.m, slots[0], 3 * MIB), 0);
	holder = holder_start(fx.m, 0);
	gkf_space_repay(0, 3 * MIB);
	holder_end(holder);
	assert_int_equal(held(0), 3 * MIB);
	gkf_space_free(alloc(0, 1));
	assert_int_equal(held(0), 0);
}

/* ---- managed memory ---- */

static uint64_t managed_there(uint64_t size)
{
	uint64_t before = managed_now(0), address = 0;

	assert_int_equal(try_alloc(GKF_MEMORY_MANAGED, 0, size, &address), 0);
	gkf_space_move(address, size, 0);
	assert_int_equal(managed_now(0), before + size);
	return address;
}

static void what_moved_away_is_owed(void **state)
{
	uint64_t a = managed_there(3 * BLOCK), b = managed_there(BLOCK);
	pid_t holder = holder_start(fx.m, 0);

	(void)state;
	gkf_space_move(a, 3 * BLOCK, GKF_SPACE_HOST);
	holder_end(holder);
	assert_int_equal(managed_now(0), 4 * BLOCK);
	gkf_space_move(b, BLOCK, GKF_SPACE_HOST);
	assert_int_equal(managed_now(0), 0);
	gkf_space_drop(&fx);
}

static void what_was_freed_goes_with_an_allocation(void **state)
{
	uint64_t a = managed_there(3 * BLOCK);
	pid_t holder = holder_start(fx.m, 0);

	(void)state;
	gkf_space_free(a);
	holder_end(holder);
	assert_int_equal(managed_now(0), 3 * BLOCK);
	alloc(0, BLOCK);
	assert_int_equal(managed_now(0), 0);
	gkf_space_drop(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SPACE_TEST(it_goes_with_the_next_free),
	    SPACE_TEST(many_frees_wait_once),
	    SPACE_TEST(the_next_allocation_has_it_and_gives_back_the_rest),
	    SPACE_TEST(it_goes_with_any_pool_of_the_device),
	    SPACE_TEST(a_trim_is_owed),
	    SPACE_TEST(what_is_used_again_is_not_owed),
	    SPACE_TEST(a_pool_that_ended_still_owes),
	    SPACE_TEST(it_is_there_for_who_needs_it),
	    SPACE_TEST(closing_gives_it_back),
	    SPACE_TEST(what_is_owed_at_the_close_goes_with_the_slot),
	    SPACE_TEST(what_was_charged_besides_is_owed_as_well),
	    SPACE_TEST(what_moved_away_is_owed),
	    SPACE_TEST(what_was_freed_goes_with_an_allocation),
	};

	return cmocka_run_group_tests_name("space_owed", tests, NULL, NULL);
}
