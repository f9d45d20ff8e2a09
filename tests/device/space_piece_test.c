/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space_piece_test.c - checks the table of live pieces: numbers, words, what
 * readers see.
 */
#include "device/space_piece.h"
#include "device/no_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct pieces *table;

static int open_table(void **state)
{
	(void)state;
	table = calloc(1, sizeof(*table));
	return table ? 0 : -1;
}

static int close_table(void **state)
{
	(void)state;
	for (unsigned i = 0; i < PIECE_PAGES; i++)
		if (table->page[i])
			munmap(table->page[i],
			       PIECE_PAGE * sizeof(struct piece));
	free(table);
	return 0;
}

/* Words that all differ, also from those of any other number. */
static struct piece_words words_of(uint32_t n)
{
	return (struct piece_words){.base = n * 100ULL + 1,
				    .size = n * 100ULL + 2,
				    .owner = n * 100ULL + 3,
				    .pool = n * 100ULL + 4,
				    .id = n * 100ULL + 5,
				    .kind = n * 100 + 6,
				    .device = n * 100 + 7,
				    .flags = n * 100 + 8,
				    .units = n * 100 + 9};
}

static uint32_t new_of(uint32_t n)
{
	struct piece_words words = words_of(n);

	return piece_new(table, &words);
}

static void has_words_of(uint32_t number, uint32_t n)
{
	struct piece_words words = words_of(n), found;

	assert_true(piece_read(table, number, &found));
	assert_memory_equal(&found, &words, sizeof words);
}

static void is_free(uint32_t number)
{
	struct piece_words found;

	assert_false(piece_read(table, number, &found));
}

static void numbers_begin_at_one(void **state)
{
	(void)state;
	is_free(0);
	is_free(1);
	assert_int_equal(new_of(5), 1);
	assert_int_equal(new_of(6), 2);
	assert_int_equal(new_of(7), 3);
	is_free(0);
	has_words_of(1, 5);
	has_words_of(2, 6);
	has_words_of(3, 7);
	is_free(4);
	is_free(UINT32_MAX);
}

static void a_piece_can_change(void **state)
{
	struct piece_words words = words_of(9);

	(void)state;
	new_of(1);
	new_of(2);
	new_of(3);
	piece_change(table, 2, &words);
	has_words_of(1, 1);
	has_words_of(2, 9);
	has_words_of(3, 3);
}

/* The number that was freed last is given out first. */
static void numbers_of_freed_pieces_are_used_again(void **state)
{
	(void)state;
	for (uint32_t i = 1; i <= 5; i++)
		new_of(i);
	piece_free(table, 2);
	piece_free(table, 5);
	is_free(2);
	is_free(5);
	has_words_of(4, 4);
	assert_int_equal(new_of(10), 5);
	assert_int_equal(new_of(11), 2);
	assert_int_equal(new_of(12), 6);
	has_words_of(5, 10);
	has_words_of(2, 11);
	has_words_of(6, 12);
}

/* Across the end of the first page and of the second. */
static void pages_follow_each_other(void **state)
{
	enum { MANY = 2 * PIECE_PAGE + 3 };

	(void)state;
	for (uint32_t i = 1; i <= MANY; i++)
		assert_int_equal(new_of(i), i);
	for (uint32_t i = 1; i <= MANY; i++)
		has_words_of(i, i);
	assert_non_null(table->page[2]);
	assert_null(table->page[3]);
	is_free(MANY + 1);
	piece_free(table, PIECE_PAGE);
	is_free(PIECE_PAGE);
	has_words_of(PIECE_PAGE - 1, PIECE_PAGE - 1);
	has_words_of(PIECE_PAGE + 1, PIECE_PAGE + 1);
}

static void without_memory_there_is_no_number(void **state)
{
	(void)state;
	longest_mapping = 0;
	assert_int_equal(new_of(1), 0);
	longest_mapping = UINT64_MAX;
	for (uint32_t i = 1; i <= PIECE_PAGE; i++)
		assert_int_equal(new_of(i), i);
	longest_mapping = 0;
	assert_int_equal(new_of(1), 0);
	is_free(PIECE_PAGE + 1);
	piece_free(table, 17); /* this must need no page */
	assert_int_equal(new_of(1), 17);
	longest_mapping = UINT64_MAX;
	assert_int_equal(new_of(8), PIECE_PAGE + 1);
	has_words_of(PIECE_PAGE + 1, 8);
}

/* As if all numbers before the last page had been given out. */
static void numbers_end(void **state)
{
	const uint32_t last = PIECE_PAGE * PIECE_PAGES;

	(void)state;
	table->high = last - PIECE_PAGE;
	for (uint32_t i = last - PIECE_PAGE + 1; i <= last; i++)
		assert_int_equal(new_of(7), i);
	assert_int_equal(new_of(8), 0);
	has_words_of(last, 7);
	piece_free(table, last);
	assert_int_equal(new_of(9), last);
	has_words_of(last, 9);
}

/* ---- readers ---- */

static uint64_t seq_of(uint32_t number)
{
	return table->page[0][number - 1].seq;
}

static void each_change_is_even_again(void **state)
{
	struct piece_words words = words_of(2);

	(void)state;
	new_of(1);
	assert_int_equal(seq_of(1), 2);
	piece_change(table, 1, &words);
	assert_int_equal(seq_of(1), 4);
	piece_free(table, 1);
	assert_int_equal(seq_of(1), 6);
}

static _Atomic bool reads, has_read;

static void *read_while_it_changes(void *data)
{
	(void)data;
	atomic_store(&reads, true);
	has_words_of(1, 4);
	atomic_store(&has_read, true);
	return NULL;
}

/* During a change a reader waits for its end. */
static void a_reader_never_sees_half_a_change(void **state)
{
	const union piece_bits bits = {.words = words_of(4)};
	struct piece *piece;
	pthread_t thread;

	(void)state;
	new_of(1);
	piece = &table->page[0][0];
	piece->seq = 3;
	assert_int_equal(
	    pthread_create(&thread, NULL, read_while_it_changes, NULL), 0);
	while (!atomic_load(&reads))
		;
	for (unsigned i = 0; i < 1000; i++)
		assert_false(atomic_load(&has_read));
	usleep(2000);
	assert_false(atomic_load(&has_read));
	for (unsigned i = 0; i < PIECE_WORDS; i++)
		__atomic_store_n(&piece->bits.raw[i], bits.raw[i],
				 __ATOMIC_RELAXED);
	atomic_store(&piece->seq, 4);
	pthread_join(thread, NULL);
	assert_true(atomic_load(&has_read));
}

static _Atomic bool writing;

static void *write_all_the_time(void *data)
{
	uint32_t n = 1;

	(void)data;
	while (atomic_load(&writing)) {
		struct piece_words words = words_of(n++ % 1000 + 1);

		piece_change(table, 1, &words);
	}
	return NULL;
}

static void what_is_read_is_always_of_one_change(void **state)
{
	pthread_t thread;
	struct piece_words found;

	(void)state;
	new_of(1);
	atomic_store(&writing, true);
	assert_int_equal(
	    pthread_create(&thread, NULL, write_all_the_time, NULL), 0);
	for (unsigned i = 0; i < 20000; i++) {
		struct piece_words whole;

		assert_true(piece_read(table, 1, &found));
		whole = words_of((uint32_t)(found.base / 100));
		assert_memory_equal(&found, &whole, sizeof whole);
	}
	atomic_store(&writing, false);
	pthread_join(thread, NULL);
}

#define PIECE_TEST(name)                                                       \
	cmocka_unit_test_setup_teardown(name, open_table, close_table)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    PIECE_TEST(numbers_begin_at_one),
	    PIECE_TEST(a_piece_can_change),
	    PIECE_TEST(numbers_of_freed_pieces_are_used_again),
	    PIECE_TEST(pages_follow_each_other),
	    PIECE_TEST(without_memory_there_is_no_number),
	    PIECE_TEST(numbers_end),
	    PIECE_TEST(each_change_is_even_again),
	    PIECE_TEST(a_reader_never_sees_half_a_change),
	    PIECE_TEST(what_is_read_is_always_of_one_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
