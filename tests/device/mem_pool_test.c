/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_pool_test.c - checks pieces of memory within blocks: where they are, what
 * is noted of them.
 */
#include "device/pool_fixture.h"

static void lies(uint64_t offset, uint64_t base, uint64_t size)
{
	struct piece_words words;

	assert_true(arena_find(arena, arena->base + offset, &words));
	assert_int_equal(words.base, arena->base + base);
	assert_int_equal(words.size, size);
}

static void nothing_lies(uint64_t offset)
{
	struct piece_words words;

	assert_false(arena_find(arena, arena->base + offset, &words));
}

/* ---- small pieces ---- */

static void small_pieces_lie_behind_each_other(void **state)
{
	(void)state;
	assert_int_equal(put(1), 0);
	assert_int_equal(put(512), 512);
	assert_int_equal(put(513), 1024);
	assert_int_equal(put(100), 2048);
	assert_int_equal(put(MIB), 2560);
	lies(0, 0, 1);
	lies(512 + 511, 512, 512);
	lies(1024 + 512, 1024, 513);
	lies(2048 + 99, 2048, 100);
	lies(2560 + MIB - 1, 2560, MIB);
	nothing_lies(1);
	nothing_lies(1024 + 513);
	nothing_lies(2048 + 100);
	nothing_lies(2560 + MIB);
	uses(&arena->pool, 512 + 512 + 1024 + 512 + MIB,
	     512 + 512 + 1024 + 512 + MIB, BLOCK, BLOCK);
}

static void what_is_aligned_lies_so(void **state)
{
	(void)state;
	put(1);
	assert_int_equal(put_in(&arena->pool, 1, 512), 512);
	assert_int_equal(put_in(&arena->pool, 1, 1024), 1024);
	assert_int_equal(put_in(&arena->pool, 1, 4096), 4096);
	assert_int_equal(put_in(&arena->pool, 1, BLOCK / 4), BLOCK / 4);
	assert_int_equal(put_in(&arena->pool, 1, 256), 1536);
	/* A piece with a larger alignment has blocks of its own. */
	assert_int_equal(put_in(&arena->pool, 1, BLOCK / 2), BLOCK);
	assert_int_equal(put_in(&arena->pool, 1, BLOCK), 2 * BLOCK);
	assert_int_equal(arena->pool.usage.reserved, 3 * BLOCK);
}

/* The words of a piece say what was asked for. */
static void a_piece_is_as_it_was_asked_for(void **state)
{
	uint64_t small = put(513), large = put(MIB + 1);
	struct piece_words words;
	uint64_t first;

	(void)state;
	assert_true(arena_find(arena, arena->base + small, &words));
	assert_int_equal(words.units, 2);
	assert_int_equal(words.owner, (uintptr_t)&owner);
	assert_int_equal(words.pool, (uintptr_t)&arena->pool);
	assert_int_equal(words.kind, GKF_MEMORY_DEVICE);
	assert_int_equal(words.device, 7);
	assert_int_equal(words.flags, 5);
	first = words.id;
	assert_true(arena_find(arena, arena->base + large, &words));
	assert_int_equal(words.units, 1);
	assert_int_equal(words.id, first + 1);
}

/* Pieces of up to a MiB share blocks. */
static void above_a_mebibyte_pieces_have_blocks_of_their_own(void **state)
{
	(void)state;
	assert_int_equal(put(MIB), 0);
	assert_int_equal(put(MIB), MIB);
	assert_int_equal(put(MIB + 1), BLOCK);
	assert_int_equal(put(BLOCK), 2 * BLOCK);
	assert_int_equal(put(BLOCK + 1), 3 * BLOCK);
	assert_int_equal(put(1), 5 * BLOCK);
	lies(4 * BLOCK, 3 * BLOCK, BLOCK + 1);
	assert_int_equal(arena->block[3], arena->block[4]);
	assert_int_equal(arena->block[6], 0);
	nothing_lies(4 * BLOCK + 1);
	assert_int_equal(arena->pool.blocks, 6 * BLOCK);
	uses(&arena->pool, 2 * MIB + (MIB + 512) + BLOCK + (BLOCK + 512) + 512,
	     2 * MIB + (MIB + 512) + BLOCK + (BLOCK + 512) + 512, 6 * BLOCK,
	     6 * BLOCK);
	assert_int_equal(gkf_space_room(1), 512);
	assert_int_equal(gkf_space_room(512), 512);
	assert_int_equal(gkf_space_room(MIB), MIB);
	assert_int_equal(gkf_space_room(MIB + 1), BLOCK);
	assert_int_equal(gkf_space_room(BLOCK + 1), 2 * BLOCK);
}

/* The next block reuses its number. */
static void a_shared_block_ends_with_its_last_piece(void **state)
{
	uint64_t a = put(100), b = put(MIB), c = put(MIB);

	(void)state;
	assert_int_equal(c, BLOCK);
	assert_int_equal(arena->shared_count, 2);
	drop(a);
	assert_int_equal(arena->pool.blocks, 2 * BLOCK);
	nothing_lies(a);
	lies(b, b, MIB);
	drop(b);
	assert_int_equal(arena->pool.blocks, BLOCK);
	assert_int_equal(arena->block[0], 0);
	assert_int_equal(arena->first_shared, 1);
	drop(c);
	assert_int_equal(arena->first_shared, 2);
	assert_int_equal(arena->shared[2]->next_free, 1);
	assert_int_equal(arena->shared[1]->next_free, 0);
	assert_int_equal(arena->pool.blocks, 0);
	assert_int_equal(arena->pool.small.rows, 0);
	/* The numbers are reused, the last first. */
	assert_int_equal(put(512), 0);
	assert_int_equal(arena->block[0], 2 << 1 | 1);
	assert_int_equal(put(MIB), 512);
	assert_int_equal(put(MIB), BLOCK);
	assert_int_equal(arena->block[1], 1 << 1 | 1);
	assert_int_equal(arena->shared_count, 2);
}

/* The start of each piece is noted in a bit, and in a bit for its word. */
static void begins_of_pieces_are_noted(void **state)
{
	const struct shared_block *s;

	(void)state;
	for (unsigned i = 0; i < 130; i++)
		assert_int_equal(put(512), i * 512);
	s = arena->shared[1];
	assert_int_equal(s->starts[0], UINT64_MAX);
	assert_int_equal(s->starts[1], UINT64_MAX);
	assert_int_equal(s->starts[2], 3);
	assert_int_equal(s->words, 7);
	drop(64 * 512);
	assert_int_equal(s->starts[1], UINT64_MAX - 1);
	assert_int_equal(s->words, 7);
	drop(128 * 512);
	drop(129 * 512);
	assert_int_equal(s->starts[2], 0);
	assert_int_equal(s->words, 3);
	assert_int_equal(s->piece[1], 2);
	assert_int_equal(s->block, 0);
	assert_ptr_equal(s->pool, &arena->pool);
}

static void pools_share_no_block(void **state)
{
	struct gkf_mem_pool *one = new_pool(), *other = new_pool();

	(void)state;
	assert_int_equal(put_in(one, 1, 0), 0);
	assert_int_equal(put_in(other, 1, 0), BLOCK);
	assert_int_equal(put(1), 2 * BLOCK);
	assert_int_equal(put_in(one, 1, 0), 512);
	assert_int_equal(put_in(other, 1, 0), BLOCK + 512);
	uses(one, 1024, 1024, BLOCK, BLOCK);
	drop(512);
	drop(0);
	uses(one, 0, 1024, 0, BLOCK);
	uses(other, 1024, 1024, BLOCK, BLOCK);
	assert_int_equal(one->pieces, 0);
	assert_int_equal(other->pieces, 2);
}

/* ---- what is not possible ---- */

static void only_the_begin_of_a_piece_is_freed(void **state)
{
	uint64_t small = put(1024), large = put(3 * BLOCK);
	static const uint64_t wrong[] = {1, 512, 1023, 1024};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(
		    arena_free(arena, arena->base + small + wrong[i]),
		    GK_ERR_NOT_FOUND);
		assert_int_equal(
		    arena_free(arena, arena->base + large + wrong[i]),
		    GK_ERR_NOT_FOUND);
	}
	assert_int_equal(arena_free(arena, arena->base + large + BLOCK),
			 GK_ERR_NOT_FOUND);
	assert_int_equal(arena->pool.pieces, 2);
	drop(small);
	drop(large);
	assert_int_equal(arena_free(arena, arena->base + large),
			 GK_ERR_NOT_FOUND);
	assert_int_equal(arena_free(arena, arena->base + small),
			 GK_ERR_NOT_FOUND);
	uses(&arena->pool, 0, 1024 + 3 * BLOCK, 0, 4 * BLOCK);
}

static void an_arena_has_so_many_blocks(void **state)
{
	uint64_t at;

	(void)state;
	refuses(&arena->pool, BLOCKS * BLOCK + 1, 0, GK_ERR_NO_SPACE);
	refuses(&arena->pool, UINT64_MAX, 0, GK_ERR_NO_SPACE);
	at = put(BLOCKS * BLOCK);
	assert_int_equal(at, 0);
	refuses(&arena->pool, BLOCK, 0, GK_ERR_NO_SPACE);
	refuses(&arena->pool, 1, 0, GK_ERR_NO_SPACE);
	/* The number it would have had goes to the next block. */
	assert_int_equal(arena->first_shared, 1);
	uses(&arena->pool, BLOCKS * BLOCK, BLOCKS * BLOCK, BLOCKS * BLOCK,
	     (BLOCKS + 1) * BLOCK);
	drop(at);
	put(1);
	assert_int_equal(arena->shared_count, 1);
	assert_int_equal(arena->first_shared, 0);
	refuses(&arena->pool, BLOCKS * BLOCK, 0, GK_ERR_NO_SPACE);
	assert_int_equal(put((BLOCKS - 1) * BLOCK), BLOCK);
}

static void without_memory_for_notes_there_is_no_piece(void **state)
{
	(void)state;
	mappings_left = 0;
	refuses(&arena->pool, 1, 0, GK_ERR_NOMEM);
	uses(&arena->pool, 0, 0, 0, 0);
	refuses(&arena->pool, BLOCK, 0, GK_ERR_NOMEM);
	uses(&arena->pool, 0, 0, 0, BLOCK); /* for a moment */
	mappings_left = 1;                  /* for the shared block */
	refuses(&arena->pool, 1, 0, GK_ERR_NOMEM);
	mappings_left = UINT_MAX;
	assert_int_equal(arena->pool.pieces, 0);
	/* All that was taken for it was given back. */
	assert_int_equal(put(BLOCKS * BLOCK - BLOCK), BLOCK);
	assert_int_equal(put(MIB), 0);
	assert_int_equal(put(MIB), MIB);
}

static void a_pool_has_its_bound(void **state)
{
	struct gkf_mem_pool *pool = new_pool();

	(void)state;
	pool->max = 3 * BLOCK;
	assert_int_equal(put_in(pool, 2 * BLOCK, 0), 0);
	refuses(pool, 2 * BLOCK, 0, GK_ERR_NO_SPACE);
	assert_int_equal(put_in(pool, BLOCK, 0), 2 * BLOCK);
	refuses(pool, 1, 0, GK_ERR_NO_SPACE);
	uses(pool, 3 * BLOCK, 3 * BLOCK, 3 * BLOCK, 3 * BLOCK);
	drop(2 * BLOCK);
	assert_int_equal(put_in(pool, 1, 0), 2 * BLOCK);
}

/* ---- other sizes at the same place ---- */

static uint64_t id_at(uint64_t offset)
{
	struct piece_words words;

	assert_true(arena_find(arena, arena->base + offset, &words));
	return words.id;
}

static void a_piece_is_renewed_in_its_room(void **state)
{
	uint64_t before = put(512), small = put(600), large = put(3 * BLOCK);
	uint64_t id = id_at(large), used = 512 + 1024 + 3 * BLOCK;
	uint64_t base = arena->base;

	(void)state;
	assert_int_equal(arena_renew(arena, base + small, 1024), 0);
	lies(small + 1023, small, 1024);
	assert_int_equal(id_at(small), id + 1);
	assert_int_equal(arena_renew(arena, base + small, 513), 0);
	nothing_lies(small + 513);
	assert_int_equal(arena_renew(arena, base + small, 1025), GK_ERR_RANGE);
	assert_int_equal(arena_renew(arena, base + small, 512), GK_ERR_RANGE);
	lies(small, small, 513);
	assert_int_equal(id_at(small), id + 2);
	lies(before, before, 512);
	uses(&arena->pool, used, used, 4 * BLOCK, 4 * BLOCK);
	assert_int_equal(arena_renew(arena, base + large, 2 * BLOCK + 1), 0);
	nothing_lies(large + 2 * BLOCK + 1);
	used -= BLOCK - 512;
	uses(&arena->pool, used, used + BLOCK - 512, 4 * BLOCK, 4 * BLOCK);
	gkf_mem_pool_reset(&arena->pool, false, true);
	assert_int_equal(arena_renew(arena, base + large, 3 * BLOCK - 512), 0);
	uses(&arena->pool, used + BLOCK - 1024, used + BLOCK - 1024, 4 * BLOCK,
	     4 * BLOCK);
	assert_int_equal(arena_renew(arena, base + large, 2 * BLOCK),
			 GK_ERR_RANGE);
	assert_int_equal(arena_renew(arena, base + large + BLOCK, 2 * BLOCK),
			 GK_ERR_NOT_FOUND);
	assert_int_equal(arena_renew(arena, base + small + 512, 512),
			 GK_ERR_NOT_FOUND);
	assert_int_equal(arena_renew(arena, base + 20 * BLOCK, 512),
			 GK_ERR_NOT_FOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    POOL_TEST(small_pieces_lie_behind_each_other),
	    POOL_TEST(what_is_aligned_lies_so),
	    POOL_TEST(a_piece_is_as_it_was_asked_for),
	    POOL_TEST(above_a_mebibyte_pieces_have_blocks_of_their_own),
	    POOL_TEST(a_shared_block_ends_with_its_last_piece),
	    POOL_TEST(begins_of_pieces_are_noted),
	    POOL_TEST(pools_share_no_block),
	    POOL_TEST(only_the_begin_of_a_piece_is_freed),
	    POOL_TEST(an_arena_has_so_many_blocks),
	    POOL_TEST(without_memory_for_notes_there_is_no_piece),
	    POOL_TEST(a_pool_has_its_bound),
	    POOL_TEST(a_piece_is_renewed_in_its_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
