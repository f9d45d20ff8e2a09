/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space_fit.c - a TLSF allocator (two-level segregated fit); see space_fit.h.
 *
 * TLSF was chosen over a tree so that an allocation takes the same time however
 * fragmented the device is. With 16 lists per power of two (FIT_CUTS) the
 * lengths in a list differ by at most 1/16, and a word has a bit for each list.
 * 28 rows (FIT_ROWS) reach 2^31 - 1 units, more than any arena has, and a word
 * has a bit for each of them too.
 *
 * Strict TLSF takes only from lists whose spans are all long enough. To make
 * the last free memory of a device usable, fit_take() also searches the list in
 * which a span of exactly this length would be. It tries the first four spans
 * of that list before it looks in other lists, and all of them if the other
 * lists have no span.
 */
#include "device/space_fit.h"
#include "base/assert.h"

static struct fit_note *note_of_unit(const struct fit *f, uint32_t unit)
{
	return &f->page[unit >> FIT_PAGE_SHIFT]
		       [unit & ((1U << FIT_PAGE_SHIFT) - 1)];
}

/*
 * Finds the list for a length; each length below FIT_CUTS has a list of its
 * own.
 */
static void place_of_length(uint32_t length, uint32_t *row, uint32_t *cut)
{
	uint32_t log;

	if (length < FIT_CUTS) {
		*row = 0;
		*cut = length;
		return;
	}
	log = 31 - (uint32_t)__builtin_clz(length);
	*row = log - 3;
	*cut = (length >> (log - 4)) & (FIT_CUTS - 1);
}

static void insert_span(struct fit *f, uint32_t first, uint32_t length)
{
	uint32_t row, cut, *head;

	place_of_length(length, &row, &cut);
	head = &f->head[row][cut];
	*note_of_unit(f, first) =
	    (struct fit_note){.ahead = length, .next = *head};
	note_of_unit(f, first + length - 1)->back = length;
	if (*head)
		note_of_unit(f, *head - 1)->prev = first + 1;
	*head = first + 1;
	f->rows |= 1U << row;
	f->cuts[row] |= 1U << cut;
}

void fit_remove(struct fit *f, uint32_t first)
{
	struct fit_note *n = note_of_unit(f, first);
	uint32_t row, cut;

	GK_ASSERT(n->ahead > 0);
	place_of_length(n->ahead, &row, &cut);
	if (n->next)
		note_of_unit(f, n->next - 1)->prev = n->prev;
	if (n->prev)
		note_of_unit(f, n->prev - 1)->next = n->next;
	else
		f->head[row][cut] = n->next;
	if (!f->head[row][cut]) {
		f->cuts[row] &= ~(1U << cut);
		if (!f->cuts[row])
			f->rows &= ~(1U << row);
	}
	note_of_unit(f, first + n->ahead - 1)->back = 0;
	n->ahead = 0;
}

/*
 * Returns the first span in a list whose spans are all longer than `length`; 0:
 * none.
 */
static uint32_t find_longer(const struct fit *f, uint32_t length)
{
	uint32_t row, cut, cuts, rows;

	place_of_length(length, &row, &cut);
	cuts = cut + 1 < FIT_CUTS ? f->cuts[row] & ~0U << (cut + 1) : 0;
	if (!cuts) {
		rows = f->rows & ~0U << (row + 1);
		if (!rows)
			return 0;
		row = (uint32_t)__builtin_ctz(rows);
		cuts = f->cuts[row];
	}
	return f->head[row][__builtin_ctz(cuts)];
}

/*
 * Searches the list in which a span of this length would be. Some spans of that
 * list may be too short.
 */
static uint32_t find_same(const struct fit *f, uint32_t length, uint32_t tries)
{
	uint32_t row, cut, at;

	place_of_length(length, &row, &cut);
	at = f->head[row][cut];
	while (at && tries-- && note_of_unit(f, at - 1)->ahead < length)
		at = note_of_unit(f, at - 1)->next;
	return at && note_of_unit(f, at - 1)->ahead >= length ? at : 0;
}

/* Removes [start, start + n) from the free span at `first`. */
static void cut_span(struct fit *f, uint32_t first, uint32_t start, uint32_t n)
{
	uint32_t length = note_of_unit(f, first)->ahead;

	fit_remove(f, first);
	if (start > first)
		insert_span(f, first, start - first);
	if (first + length > start + n)
		insert_span(f, start + n, first + length - start - n);
}

bool fit_take(struct fit *f, uint32_t n, uint32_t align, uint32_t *ret_unit)
{
	uint32_t need = n + align - 1;
	uint32_t at = find_same(f, need, 4);
	uint32_t start;

	GK_ASSERT(n > 0 && align > 0);
	if (!at)
		at = find_longer(f, need);
	if (!at)
		at = find_same(f, need, UINT32_MAX);
	if (!at)
		return false;
	start = (at - 1 + align - 1) & ~(align - 1);
	cut_span(f, at - 1, start, n);
	*ret_unit = start;
	return true;
}

/* Whether the free span at `first` includes all of these units. */
static bool has_units(const struct fit *f, uint32_t first, uint32_t unit,
		      uint32_t n)
{
	uint32_t length = note_of_unit(f, first)->ahead;

	return first <= unit && n <= length && unit - first <= length - n;
}

bool fit_take_at(struct fit *f, uint32_t unit, uint32_t n)
{
	GK_ASSERT(n > 0);
	for (uint32_t list = 0; list < FIT_ROWS * FIT_CUTS; list++) {
		uint32_t at = f->head[list / FIT_CUTS][list % FIT_CUTS];

		while (at && !has_units(f, at - 1, unit, n))
			at = note_of_unit(f, at - 1)->next;
		if (at) {
			cut_span(f, at - 1, unit, n);
			return true;
		}
	}
	return false;
}

static bool is_edge(const struct fit *f, uint32_t unit)
{
	return unit == 0 || unit >= f->units ||
	       (f->apart && !(unit & (f->apart - 1)));
}

void fit_give(struct fit *f, uint32_t unit, uint32_t n, uint32_t *ret_first,
	      uint32_t *ret_length)
{
	uint32_t first = unit, length = n, before, behind;

	GK_ASSERT(n > 0 && unit + n <= f->units);
	before = is_edge(f, unit) ? 0 : note_of_unit(f, unit - 1)->back;
	if (before) {
		first -= before;
		length += before;
		fit_remove(f, first);
	}
	behind = is_edge(f, unit + n) ? 0 : note_of_unit(f, unit + n)->ahead;
	if (behind) {
		length += behind;
		fit_remove(f, unit + n);
	}
	insert_span(f, first, length);
	*ret_first = first;
	*ret_length = length;
}
