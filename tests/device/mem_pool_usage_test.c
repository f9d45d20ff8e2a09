/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_pool_usage_test.c - checks pools: what they use, what is kept of freed
 * memory, how they end.
 */
#include "device/pool_fixture.h"

/* ---- pages that the host keeps ---- */

/* Whether the host has a page of its own for the first byte of a block. */
static bool has_page(uint64_t block)
{
	unsigned char there = 0;

	assert_int_equal(mincore(arena->view + block * BLOCK, 1, &there), 0);
	return there & 1;
}

static void touch(uint64_t offset, uint64_t size)
{
	for (uint64_t at = offset; at < offset + size; at += BLOCK)
		arena->view[at] = 1;
}

/* Takes and frees this many blocks; whether the first keeps its page. */
static bool keeps_of(uint64_t blocks)
{
	uint64_t at = put(blocks * BLOCK);

	touch(at, blocks * BLOCK);
	drop(at);
	return has_page(at / BLOCK);
}

static void a_few_blocks_are_kept_and_many_are_not(void **state)
{
	(void)state;
	assert_true(keeps_of(1));
	assert_int_equal(arena->kept, BLOCK);
	assert_int_equal(arena->dirty[0], 1);
	assert_false(keeps_of(32));
	assert_int_equal(arena->kept, 0);
	for (unsigned i = 0; i < 32; i++)
		assert_int_equal(arena->dirty[i], 0);
	assert_true(keeps_of(31));
	assert_int_equal(arena->kept, 31 * BLOCK);
	for (unsigned i = 0; i < 33; i++)
		assert_int_equal(arena->dirty[i], i < 31);
	/* Blocks that are used again no longer count as kept. */
	put(3 * BLOCK);
	assert_int_equal(arena->kept, 28 * BLOCK);
}

static void no_more_is_kept_than_256_mebibytes(void **state)
{
	uint64_t at[9];

	(void)state;
	for (unsigned i = 0; i < 9; i++) {
		at[i] = put(16 * BLOCK);
		touch(at[i], 16 * BLOCK);
	}
	for (unsigned i = 0; i < 8; i++) {
		drop(at[i]);
		assert_true(has_page(at[i] / BLOCK));
		assert_int_equal(arena->kept, (i + 1) * 16 * BLOCK);
	}
	drop(at[8]);
	assert_false(has_page(at[8] / BLOCK));
	assert_int_equal(arena->kept, 256 * MIB);
	assert_int_equal(arena->dirty[127], 1);
	assert_int_equal(arena->dirty[128], 0);
	assert_int_equal(arena->dirty[143], 0);
}

static void host_memory_that_is_dropped_is_zero_again(void **state)
{
	uint64_t at;

	(void)state;
	close_arena(state);
	arena = arena_new(GKF_MEMORY_HOST, BLOCKS * BLOCK);
	at = put(32 * BLOCK);
	arena->view[at] = 1;
	drop(at);
	assert_int_equal(arena->view[at], 0);
	assert_ptr_equal(mmap(arena->view, arena->size, PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
			 arena->view);
}

/* ---- pools ---- */

static void the_highest_values_are_told(void **state)
{
	struct gkf_mem_pool *pool = new_pool();
	uint64_t a = put_in(pool, BLOCK, 0), b = put_in(pool, 1, 0);

	(void)state;
	drop(b);
	uses(pool, BLOCK, BLOCK + 512, BLOCK, 2 * BLOCK);
	gkf_mem_pool_reset(pool, false, false);
	uses(pool, BLOCK, BLOCK + 512, BLOCK, 2 * BLOCK);
	gkf_mem_pool_reset(pool, true, false);
	uses(pool, BLOCK, BLOCK + 512, BLOCK, BLOCK);
	gkf_mem_pool_reset(pool, false, true);
	uses(pool, BLOCK, BLOCK, BLOCK, BLOCK);
	drop(a);
	uses(pool, 0, BLOCK, 0, BLOCK);
}

static void a_pool_keeps_what_its_threshold_says(void **state)
{
	struct gkf_mem_pool *pool = new_pool();
	uint64_t a, b;

	(void)state;
	gkf_mem_pool_keep(pool, 3 * BLOCK + 5);
	a = put_in(pool, 2 * BLOCK, 0);
	b = put_in(pool, 5 * BLOCK, 0);
	drop(b);
	uses(pool, 2 * BLOCK, 7 * BLOCK, 3 * BLOCK, 7 * BLOCK);
	drop(a);
	uses(pool, 0, 7 * BLOCK, 3 * BLOCK, 7 * BLOCK);
	gkf_mem_pool_trim(pool, 3 * BLOCK);
	uses(pool, 0, 7 * BLOCK, 3 * BLOCK, 7 * BLOCK);
	gkf_mem_pool_trim(pool, BLOCK + 1);
	uses(pool, 0, 7 * BLOCK, 2 * BLOCK, 7 * BLOCK);
	gkf_mem_pool_trim(pool, BLOCK);
	uses(pool, 0, 7 * BLOCK, BLOCK, 7 * BLOCK);
	gkf_mem_pool_trim(pool, 0);
	uses(pool, 0, 7 * BLOCK, 0, 7 * BLOCK);
}

static bool is_listed(const struct gkf_mem_pool *wanted)
{
	const struct gkf_mem_pool *pool = &arena->pool;

	while (pool && pool != wanted)
		pool = pool->next;
	return pool;
}

/* At once, or with the last of its pieces; the others stay. */
static void a_released_pool_ends_with_its_last_piece(void **state)
{
	struct gkf_mem_pool *first = new_pool(), *amid = new_pool(),
			    *last = new_pool();
	uint64_t a, b;

	(void)state;
	gkf_mem_pool_keep(amid, UINT64_MAX);
	a = put_in(amid, BLOCK, 0);
	b = put_in(amid, 1, 0);
	drop(put_in(amid, 4 * BLOCK, 0));
	uses(amid, BLOCK + 512, 5 * BLOCK + 512, 6 * BLOCK, 6 * BLOCK);
	gkf_mem_pool_release(amid);
	assert_true(is_listed(amid));
	uses(amid, BLOCK + 512, 5 * BLOCK + 512, 2 * BLOCK, 6 * BLOCK);
	drop(b); /* what it had kept belongs to no pool now */
	assert_true(is_listed(amid));
	uses(amid, BLOCK, 5 * BLOCK + 512, BLOCK, 6 * BLOCK);
	drop(a);
	assert_false(is_listed(amid));
	assert_true(is_listed(first) && is_listed(last));
	gkf_mem_pool_release(first);
	assert_false(is_listed(first));
	assert_true(is_listed(last));
	put_in(last, 1, 0);
	gkf_mem_pool_release(last);
	assert_true(is_listed(last));
}

/* A pool that was not released exists without pieces, too. */
static void a_pool_without_pieces_stays(void **state)
{
	struct gkf_mem_pool *pool = new_pool();

	(void)state;
	drop(put_in(pool, 1, 0));
	assert_true(is_listed(pool));
	assert_int_equal(put_in(pool, 1, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    POOL_TEST(a_few_blocks_are_kept_and_many_are_not),
	    POOL_TEST(no_more_is_kept_than_256_mebibytes),
	    POOL_TEST(host_memory_that_is_dropped_is_zero_again),
	    POOL_TEST(the_highest_values_are_told),
	    POOL_TEST(a_pool_keeps_what_its_threshold_says),
	    POOL_TEST(a_released_pool_ends_with_its_last_piece),
	    POOL_TEST(a_pool_without_pieces_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
