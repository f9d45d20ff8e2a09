/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space_piece.c - owns the table of live pieces, whose pages are never
 * unmapped.
 */
#include "device/space_piece.h"
#include "base/assert.h"

#include <stddef.h>
#include <stdatomic.h>
#include <sys/mman.h>

_Static_assert(sizeof(union piece_bits) == sizeof(struct piece_words),
	       "copied by words");

static struct piece *piece_at(const struct pieces *p, uint32_t number)
{
	struct piece *page = atomic_load_explicit(
	    &p->page[(number - 1) / PIECE_PAGE], memory_order_acquire);

	return page ? &page[(number - 1) % PIECE_PAGE] : NULL;
}

/* Readers see either all old words or all new ones. */
static void write_words(struct piece *piece, const struct piece_words *words)
{
	uint64_t seq = atomic_load_explicit(&piece->seq, memory_order_relaxed);
	const union piece_bits bits = {.words = *words};

	atomic_store_explicit(&piece->seq, seq + 1, memory_order_relaxed);
	for (unsigned i = 0; i < PIECE_WORDS; i++)
		__atomic_store_n(&piece->bits.raw[i], bits.raw[i],
				 __ATOMIC_RELEASE);
	atomic_store_explicit(&piece->seq, seq + 2, memory_order_release);
}

static uint32_t new_piece_number(struct pieces *p)
{
	uint32_t high = atomic_load_explicit(&p->high, memory_order_relaxed);
	struct piece *page;

	if (high == PIECE_PAGE * PIECE_PAGES)
		return 0;
	if (high % PIECE_PAGE == 0) {
		page = mmap(NULL, PIECE_PAGE * sizeof(*page),
			    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
		if (page == MAP_FAILED)
			return 0;
		atomic_store_explicit(&p->page[high / PIECE_PAGE], page,
				      memory_order_release);
	}
	atomic_store_explicit(&p->high, high + 1, memory_order_release);
	return high + 1;
}

uint32_t piece_new(struct pieces *p, const struct piece_words *words)
{
	uint32_t number = p->first_free;

	if (number)
		p->first_free = piece_at(p, number)->next_free;
	else
		number = new_piece_number(p);
	if (number)
		write_words(piece_at(p, number), words);
	return number;
}

void piece_change(struct pieces *p, uint32_t number,
		  const struct piece_words *words)
{
	GK_ASSERT(number > 0 && number <= atomic_load(&p->high));
	write_words(piece_at(p, number), words);
}

void piece_free(struct pieces *p, uint32_t number)
{
	static const struct piece_words none;
	struct piece *piece = piece_at(p, number);

	GK_ASSERT(number > 0 && number <= atomic_load(&p->high));
	write_words(piece, &none);
	piece->next_free = p->first_free;
	p->first_free = number;
}

bool piece_read(const struct pieces *p, uint32_t number,
		struct piece_words *ret_words)
{
	union piece_bits bits;
	struct piece *piece;
	uint64_t seq;

	if (!number ||
	    number > atomic_load_explicit(&p->high, memory_order_acquire))
		return false;
	piece = piece_at(p, number);
	do {
		seq = atomic_load_explicit(&piece->seq, memory_order_acquire);
		for (unsigned i = 0; i < PIECE_WORDS; i++)
			bits.raw[i] = __atomic_load_n(&piece->bits.raw[i],
						      __ATOMIC_ACQUIRE);
	} while ((seq & 1) || atomic_load_explicit(
				  &piece->seq, memory_order_relaxed) != seq);
	*ret_words = bits.words;
	return bits.words.size != 0;
}
