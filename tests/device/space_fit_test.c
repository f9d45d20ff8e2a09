/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space_fit_test.c - checks free spans: what is given out and merged, and the
 * lists of them.
 */
#include "device/space_fit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_UNITS (1U << FIT_PAGE_SHIFT)
#define PAGES      3
#define UNITS      (PAGES * PAGE_UNITS)

/* Pages are in no order, and what is beside them belongs to others. */
static struct fit_note notes[2 * PAGES + 1][PAGE_UNITS];
static struct fit_note *page[PAGES];

static struct fit fit;
static bool is_free[UNITS]; /* the model */

static void begin(uint32_t units, uint32_t apart)
{
	memset(notes, 0, sizeof notes);
	for (unsigned i = 0; i < PAGES; i++)
		page[i] = notes[2 * (PAGES - i) - 1];
	fit = (struct fit){.page = page, .units = units, .apart = apart};
	memset(is_free, 0, sizeof is_free);
}

static struct fit_note *note_at(uint32_t unit)
{
	return &page[unit / PAGE_UNITS][unit % PAGE_UNITS];
}

/* ---- the lists, as the header says that they are ---- */

/* Lengths from 16 on: sixteen lists of equal width for each power of two. */
static bool belongs(uint32_t length, uint32_t row, uint32_t cut)
{
	uint64_t width = row ? 1ULL << (row - 1) : 1;
	uint64_t first = (row ? 16 + cut : cut) * width;

	return length && length >= first && length < first + width;
}

/* Checks a list: its bit, its links, and both ends of its spans. */
static unsigned count_list(uint32_t row, uint32_t cut)
{
	uint32_t at = fit.head[row][cut], before = 0;
	unsigned n = 0;

	assert_int_equal(fit.cuts[row] >> cut & 1, at != 0);
	for (; at; at = note_at(at - 1)->next) {
		const struct fit_note *note = note_at(at - 1);

		assert_true(belongs(note->ahead, row, cut));
		assert_int_equal(note->prev, before);
		assert_int_equal(note_at(at - 2 + note->ahead)->back,
				 note->ahead);
		before = at;
		n++;
	}
	return n;
}

static unsigned count_lists(void)
{
	unsigned n = 0;

	for (uint32_t row = 0; row < FIT_ROWS; row++) {
		assert_int_equal(fit.rows >> row & 1, fit.cuts[row] != 0);
		for (uint32_t cut = 0; cut < FIT_CUTS; cut++)
			n += count_list(row, cut);
	}
	return n;
}

/* ---- the model: each unit is free or not ---- */

/* The number of free units from there on, as one span may have them. */
static uint32_t free_from(uint32_t unit)
{
	uint32_t end = unit;

	while (end < fit.units && is_free[end] &&
	       (end == unit || !fit.apart || end % fit.apart))
		end++;
	return end - unit;
}

/* Checks that exactly the free spans are in the lists. */
static void check_all(void)
{
	unsigned spans = 0;

	for (uint32_t unit = 0; unit < fit.units; spans++) {
		uint32_t length = free_from(unit);

		assert_int_equal(note_at(unit)->ahead, length);
		while (!length && ++unit < fit.units && !is_free[unit])
			assert_int_equal(note_at(unit)->ahead, 0);
		spans -= !length;
		unit += length;
	}
	assert_int_equal(count_lists(), spans);
}

static uint32_t longest(void)
{
	uint32_t most = 0, length;

	for (uint32_t unit = 0; unit < fit.units; unit += length + !length) {
		length = free_from(unit);
		most = length > most ? length : most;
	}
	return most;
}

static void give(uint32_t unit, uint32_t n, uint32_t first, uint32_t length)
{
	uint32_t got_first, got_length;

	fit_give(&fit, unit, n, &got_first, &got_length);
	assert_int_equal(got_first, first);
	assert_int_equal(got_length, length);
	memset(&is_free[unit], true, n);
}

/* Gives units back, merged as the model says. */
static void give_as_modelled(uint32_t unit, uint32_t n)
{
	uint32_t first = unit;

	memset(&is_free[unit], true, n);
	while (first && is_free[first - 1] && (!fit.apart || first % fit.apart))
		first--;
	give(unit, n, first, free_from(first));
}

/* Any span that is long enough at its worst start is found. */
static bool take(uint32_t n, uint32_t align, uint32_t *ret_unit)
{
	bool must = longest() >= n + align - 1;

	*ret_unit = UINT32_MAX;
	if (!fit_take(&fit, n, align, ret_unit)) {
		assert_false(must);
		assert_int_equal(*ret_unit, UINT32_MAX);
		return false;
	}
	assert_true(must);
	assert_int_equal(*ret_unit % align, 0);
	assert_true(*ret_unit + n <= fit.units);
	for (uint32_t i = 0; i < n; i++)
		assert_true(is_free[*ret_unit + i]);
	memset(&is_free[*ret_unit], false, n);
	return true;
}

static void take_at(uint32_t n, uint32_t align, uint32_t unit)
{
	uint32_t got;

	assert_true(take(n, align, &got));
	assert_int_equal(got, unit);
}

static uint32_t random_word(void)
{
	static uint64_t seed = 4711;

	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 16);
}

static void be_random(uint32_t units, uint32_t apart)
{
	static uint32_t at[400], length[400];
	uint32_t i, n;

	begin(units, apart);
	for (uint32_t unit = 0; unit < units; unit += apart ? apart : units)
		give_as_modelled(unit, apart ? apart : units);
	memset(length, 0, sizeof length);
	for (unsigned round = 0; round < 4000; round++) {
		i = random_word() % 400;
		n = 1 + random_word() % (1U << random_word() % 9);
		if (length[i])
			give_as_modelled(at[i], length[i]);
		length[i] = take(n, 1U << random_word() % 6, &at[i]) ? n : 0;
		if (round % 16 == 0)
			check_all();
	}
	for (i = 0; i < 400; i++)
		if (length[i])
			give_as_modelled(at[i], length[i]);
	check_all();
	assert_int_equal(longest(), apart ? apart : units);
}

static void spans_at_random_are_as_a_plain_model_has_them(void **state)
{
	(void)state;
	be_random(UNITS, 0);
	be_random(PAGE_UNITS / 4 + 5, 0);
	be_random(UNITS, 256);
	be_random(UNITS, PAGE_UNITS);
}

/* ---- which span is taken ---- */

static void a_span_is_taken_from_its_begin(void **state)
{
	(void)state;
	begin(1000, 0);
	give(0, 1000, 0, 1000);
	take_at(10, 1, 0);
	take_at(1, 1, 10);
	take_at(5, 16, 16); /* 11 to 15 stay free, as a span of their own */
	take_at(5, 1, 11);
	take_at(979, 1, 21);
	assert_int_equal(longest(), 0);
	check_all();
}

/* Spans of these lengths, each separate; returns where the nth begins. */
static uint32_t spread(const uint32_t *lengths, unsigned count)
{
	uint32_t unit = 1;

	begin(UNITS, 0);
	for (unsigned i = 0; i < count; i++) {
		give(unit, lengths[i], unit, lengths[i]);
		unit += lengths[i] + 1;
	}
	return unit;
}

/* The span given back last, of those with the length. */
static void of_the_same_length_the_last_is_taken(void **state)
{
	static const uint32_t lengths[] = {7, 7, 9, 7, 40};

	(void)state;
	spread(lengths, 5);
	take_at(7, 1, 27);
	take_at(7, 1, 9);
	take_at(7, 1, 1);
	take_at(7, 1, 17); /* from the one of 9 */
	take_at(7, 1, 35);
	take_at(33, 1, 42);
	take_at(2, 1, 24);
	check_all();
}

static void a_longer_span_is_taken_where_none_is_as_long(void **state)
{
	static const uint32_t lengths[] = {3, 16, 15, 31, 32, 100};

	(void)state;
	spread(lengths, 6);
	take_at(4, 1, 22);  /* 15 */
	take_at(12, 1, 5);  /* 16: what is left of 15 is too short */
	take_at(17, 1, 38); /* 31 */
	take_at(32, 1, 70);
	take_at(100, 1, 103);
	check_all();
}

/* 32 and 33 are in one list: after four that are too short the next is tried,
 * after five a longer span is taken. */
static void a_list_is_looked_through_four_spans_far(void **state)
{
	static const uint32_t near[] = {33, 32, 32, 32, 32, 40},
			      far[] = {33, 32, 32, 32, 32, 32, 40},
			      alone[] = {33, 32, 32, 32, 32, 32};

	(void)state;
	spread(near, 6);
	take_at(33, 1, 1);
	check_all();
	spread(far, 7);
	take_at(33, 1, 200);
	check_all();
	spread(alone, 6);
	take_at(33, 1, 1); /* there is no longer span */
	check_all();
}

/* Even if it would fit where it happens to be. */
static void an_aligned_span_needs_room_for_its_worst_begin(void **state)
{
	uint32_t unit = 4711;

	(void)state;
	begin(UNITS, 0);
	give(64, 22, 64, 22);
	assert_false(fit_take(&fit, 8, 16, &unit));
	assert_int_equal(unit, 4711);
	give(86, 1, 64, 23);
	take_at(8, 16, 64);
	take_at(15, 1, 72);
}

static void what_is_given_back_is_merged_on_both_sides(void **state)
{
	(void)state;
	begin(100, 0);
	give(10, 5, 10, 5);
	give(20, 5, 20, 5);
	give(15, 4, 10, 9);  /* merged with the one before */
	give(19, 1, 10, 15); /* merged with both */
	give(9, 1, 9, 16);   /* merged with the one after */
	give(0, 1, 0, 1);
	give(99, 1, 99, 1); /* nothing is after the last */
	give(25, 74, 9, 91);
	give(1, 8, 0, 100);
	check_all();
}

static void spans_do_not_grow_over_what_keeps_them_apart(void **state)
{
	(void)state;
	begin(256, 64);
	give(64, 64, 64, 64);
	give(0, 64, 0, 64);
	give(128, 32, 128, 32);
	give(192, 64, 192, 64);
	give(160, 32, 128, 64);
	check_all();
	take_at(64, 1, 128);
	take_at(64, 1, 192);
	take_at(64, 1, 0);
	take_at(64, 1, 64);
}

static void a_span_can_be_taken_by_its_begin(void **state)
{
	static const uint32_t lengths[] = {5, 5, 5, 17};

	(void)state;
	spread(lengths, 4);
	fit_remove(&fit, 7); /* in the middle of its list */
	memset(&is_free[7], false, 5);
	check_all();
	fit_remove(&fit, 19); /* alone in its list */
	memset(&is_free[19], false, 17);
	check_all();
	assert_int_equal(longest(), 5);
	give(12, 1, 12, 6);
	give(6, 1, 1, 6);
}

/* ---- lengths beyond small pages ---- */

static struct fit_note *wide_page[(1U << 19) + 1];
static struct fit_note wide_notes[4][PAGE_UNITS];

/* Only both ends of a span have notes. */
static void note_ends(uint32_t first, uint32_t length, unsigned which)
{
	wide_page[first >> FIT_PAGE_SHIFT] = wide_notes[which];
	wide_page[(first + length - 1) >> FIT_PAGE_SHIFT] =
	    wide_notes[which + 1];
}

static void spans_of_any_length_find_their_list(void **state)
{
	uint32_t first, got;

	(void)state;
	for (uint32_t log = 13; log < 31; log++) {
		uint32_t length = (1U << log) + (1U << (log - 2)) + 3;

		fit = (struct fit){.page = wide_page, .units = INT32_MAX};
		memset(wide_notes, 0, sizeof wide_notes);
		memset(wide_page, 0, sizeof wide_page);
		note_ends(0, length, 0);
		fit_give(&fit, 0, length, &first, &got);
		assert_int_equal(got, length);
		assert_int_equal(fit.rows, 1U << (log - 3));
		assert_int_equal(fit.cuts[log - 3], 1U << 4);
		assert_int_equal(fit.head[log - 3][4], 1);
		assert_false(fit_take(&fit, length + 1, 1, &first));
		assert_true(fit_take(&fit, length, 1, &first));
		assert_int_equal(first, 0);
		assert_int_equal(fit.rows, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(spans_at_random_are_as_a_plain_model_has_them),
	    cmocka_unit_test(a_span_is_taken_from_its_begin),
	    cmocka_unit_test(of_the_same_length_the_last_is_taken),
	    cmocka_unit_test(a_longer_span_is_taken_where_none_is_as_long),
	    cmocka_unit_test(a_list_is_looked_through_four_spans_far),
	    cmocka_unit_test(an_aligned_span_needs_room_for_its_worst_begin),
	    cmocka_unit_test(what_is_given_back_is_merged_on_both_sides),
	    cmocka_unit_test(spans_do_not_grow_over_what_keeps_them_apart),
	    cmocka_unit_test(a_span_can_be_taken_by_its_begin),
	    cmocka_unit_test(spans_of_any_length_find_their_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
