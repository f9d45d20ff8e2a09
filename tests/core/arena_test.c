/* SPDX-License-Identifier: Apache-2.0 */
/* arena_test.c - checks memory that is freed together. */
#include "core/arena.h"
#include "unit.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static struct gk_arena arena;

static int teardown(void **state)
{
	(void)state;
	gk_arena_free(&arena);
	assert_null(arena.last);
	return 0;
}

/* Pieces of all sizes do not overlap. */
static void pieces_are_apart_and_aligned(void **state)
{
	enum { PIECES = 600 };
	static unsigned char *piece[PIECES];

	(void)state;
	for (size_t i = 0; i < PIECES; i++) {
		piece[i] = gk_arena_room(&arena, i);
		assert_non_null(piece[i]);
		assert_int_equal((uintptr_t)piece[i] % alignof(max_align_t), 0);
		memset(piece[i], (int)(i % 251), i);
	}
	for (size_t i = 0; i < PIECES; i++)
		for (size_t k = 0; k < i; k++)
			assert_int_equal(piece[i][k], i % 251);
}

/* Small pieces share a block: one follows the other. */
static void pieces_of_a_block_follow_each_other(void **state)
{
	const size_t step = alignof(max_align_t);
	char *first = gk_arena_room(&arena, 1), *at = first;
	struct gk_arena_block *block = arena.last;

	(void)state;
	for (size_t i = 1; i < 16384 / step; i++) {
		at = gk_arena_room(&arena, i % step + 1);
		assert_ptr_equal(at, first + i * step);
		assert_ptr_equal(arena.last, block);
	}
	/* The block is full to its last byte. */
	gk_arena_room(&arena, 1);
	assert_ptr_not_equal(arena.last, block);
}

static void a_large_piece_has_a_block_of_its_own(void **state)
{
	char *small = gk_arena_room(&arena, 10), *large;
	struct gk_arena_block *block = arena.last;

	(void)state;
	large = gk_arena_room(&arena, 1000000);
	assert_ptr_not_equal(arena.last, block);
	memset(large, 1, 1000000);
	memset(small, 2, 10);
	assert_int_equal(large[999999], 1);
	/* It is full. */
	block = arena.last;
	gk_arena_room(&arena, 1);
	assert_ptr_not_equal(arena.last, block);
}

static void copies_end_with_a_nul(void **state)
{
	char *copy = gk_arena_copy(&arena, "a\0bc", 4), *empty;

	(void)state;
	assert_memory_equal(copy, "a\0bc\0", 5);
	empty = gk_arena_copy(&arena, NULL, 0);
	assert_string_equal(empty, "");
	/* There is room for the NUL even where the bytes fill a whole step. */
	copy = gk_arena_copy(&arena, "0123456789abcdef", 16);
	empty = gk_arena_copy(&arena, "x", 1);
	assert_ptr_equal(empty, copy + 2 * alignof(max_align_t));
	assert_string_equal(copy, "0123456789abcdef");
}

/* Sanitizers end a program that requests too much, unless told otherwise. */
#define SHOWN __attribute__((visibility("default")))
SHOWN const char *__asan_default_options(void);
SHOWN const char *__tsan_default_options(void);

const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

const char *__tsan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static void more_than_there_is_is_refused(void **state)
{
	struct gk_arena_block *block;

	(void)state;
	gk_arena_room(&arena, 1);
	block = arena.last;
	assert_null(gk_arena_room(&arena, SIZE_MAX / 2));
	assert_null(gk_arena_copy(&arena, "", SIZE_MAX / 2));
	assert_ptr_equal(arena.last, block);
}

#define TEST(name) cmocka_unit_test_teardown(name, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(pieces_are_apart_and_aligned),
	    TEST(pieces_of_a_block_follow_each_other),
	    TEST(a_large_piece_has_a_block_of_its_own),
	    TEST(copies_end_with_a_nul),
	    TEST(more_than_there_is_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
