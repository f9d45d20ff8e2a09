/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks_test.c - checks blocks of memory against a plain map of the pieces in
 * each of them.
 */
#include "limit/preload/memory/blocks.h"
#include "limit/preload/own.h"
#include "unit.h"

#include <pthread.h>
#include <stdbool.h>

#define MIB  (1ULL << 20)
#define BASE 0x7f4000000000ULL

enum { BLOCKS = 64, UNITS = 4096, PIECES = 500, STEPS = 100000 };

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static struct blocks *new_blocks(void)
{
	struct blocks *b = own_map(sizeof(*b));

	assert_non_null(b);
	return b;
}

static void sizes_are_rounded_to_blocks(void **state)
{
	(void)state;
	assert_int_equal(blocks_round(0), 0);
	assert_int_equal(blocks_round(1), 2 * MIB);
	assert_int_equal(blocks_round(2 * MIB), 2 * MIB);
	assert_int_equal(blocks_round(2 * MIB + 1), 4 * MIB);
	assert_int_equal(blocks_round(UINT64_MAX), -2 * MIB);
}

static void the_first_takes_and_the_last_gives_back(void **state)
{
	struct blocks *b = new_blocks();
	uint64_t old;

	(void)state;
	assert_int_equal(blocks_add(b, BASE, 512, 1), 2 * MIB);
	assert_int_equal(blocks_add(b, BASE + 512, 512, 1), 0);
	assert_int_equal(blocks_remove(b, BASE, 512, 1, &old), 0);
	assert_int_equal(blocks_remove(b, BASE + 512, 512, 1, &old), 2 * MIB);
}

static void a_piece_over_a_border_has_both_blocks(void **state)
{
	struct blocks *b = new_blocks();
	uint64_t old;

	(void)state;
	assert_int_equal(blocks_add(b, BASE + MIB, 2 * MIB, 1), 4 * MIB);
	assert_int_equal(blocks_add(b, BASE + 3 * MIB, 5 * MIB, 1), 4 * MIB);
	assert_int_equal(blocks_remove(b, BASE + MIB, 2 * MIB, 1, &old),
			 2 * MIB);
	assert_int_equal(blocks_remove(b, BASE + 3 * MIB, 5 * MIB, 1, &old),
			 6 * MIB);
}

static void blocks_of_before_are_told(void **state)
{
	struct blocks *b = new_blocks();
	uint64_t old;

	(void)state;
	blocks_add(b, BASE, 512, 1);
	blocks_add(b, BASE + 2 * MIB, 512, 2);
	assert_int_equal(blocks_remove(b, BASE, 512, 2, &old), 2 * MIB);
	assert_int_equal(old, 2 * MIB);
	assert_int_equal(blocks_remove(b, BASE + 2 * MIB, 512, 2, &old),
			 2 * MIB);
	assert_int_equal(old, 0);
}

/* ---- an independent model: who has which unit of 512 bytes ---- */

static unsigned char taken[BLOCKS * UNITS];

static bool is_free_range(unsigned at, unsigned units)
{
	for (unsigned i = at; i < at + units; i++)
		if (taken[i])
			return false;
	return true;
}

static void mark_range(unsigned at, unsigned units, unsigned char value)
{
	for (unsigned i = at; i < at + units; i++)
		taken[i] = value;
}

static uint64_t bytes_of_used_blocks(void)
{
	uint64_t bytes = 0;

	for (unsigned b = 0; b < BLOCKS; b++)
		bytes += is_free_range(b * UNITS, UNITS) ? 0 : 2 * MIB;
	return bytes;
}

static void it_has_the_blocks_that_have_units(void **state)
{
	struct {
		unsigned at, units;
	} piece[PIECES] = {0};
	struct blocks *b = new_blocks();
	uint64_t seed = 7, sum = 0, old;

	(void)state;
	for (unsigned step = 0; step < STEPS / 10; step++) {
		unsigned i = (unsigned)(next_random(&seed) % PIECES);
		unsigned units =
		    1 + (unsigned)((seed >> 20) % (seed & 64 ? 40 : 3 * UNITS));
		unsigned at =
		    (unsigned)((seed >> 36) % (BLOCKS * UNITS - units));

		if (piece[i].units) {
			sum -= blocks_remove(b, BASE + piece[i].at * 512ULL,
					     piece[i].units * 512ULL, 0, &old);
			mark_range(piece[i].at, piece[i].units, 0);
			piece[i].units = 0;
		} else if (is_free_range(at, units)) {
			sum += blocks_add(b, BASE + at * 512ULL, units * 512ULL,
					  0);
			mark_range(at, units, 1);
			piece[i].at = at;
			piece[i].units = units;
		}
		assert_int_equal(sum, bytes_of_used_blocks());
	}
}

struct worker {
	pthread_t thread;
	struct blocks *b;
	unsigned number;
	int64_t sum;
};

/* All have pieces in the same few blocks. */
static void *work(void *arg)
{
	struct worker *w = arg;
	uint64_t at = BASE + w->number * 512, old;

	for (unsigned i = 0; i < STEPS; i++) {
		uint64_t there = at + i % 5 * 2 * MIB;

		w->sum += (int64_t)blocks_add(w->b, there, 512, 0);
		w->sum -= (int64_t)blocks_remove(w->b, there, 512, 0, &old);
	}
	return NULL;
}

static void threads_return_to_exactly_nothing(void **state)
{
	struct worker w[4];
	int64_t sum = 0;

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		w[i] = (struct worker){.b = i ? w[0].b : new_blocks(),
				       .number = i};
		pthread_create(&w[i].thread, NULL, work, &w[i]);
	}
	for (unsigned i = 0; i < 4; i++) {
		pthread_join(w[i].thread, NULL);
		sum += w[i].sum;
	}
	assert_int_equal(sum, 0);
	assert_int_equal(blocks_add(w[0].b, BASE, 512, 0), 2 * MIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sizes_are_rounded_to_blocks),
	    cmocka_unit_test(the_first_takes_and_the_last_gives_back),
	    cmocka_unit_test(a_piece_over_a_border_has_both_blocks),
	    cmocka_unit_test(blocks_of_before_are_told),
	    cmocka_unit_test(it_has_the_blocks_that_have_units),
	    cmocka_unit_test(threads_return_to_exactly_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
