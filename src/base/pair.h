/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pair.h - a record that readers always read whole, without a lock. It consists
 * of two copies and a sequence word `seq`; copy seq % 2 is valid.
 *
 * A writer fills the other copy and then makes it valid by one store, so that a
 * writer killed midway leaves the record unchanged. There must be only one
 * writer at a time; readers may be in other processes. Records are sequences of
 * 64-bit words: `size` is a multiple of 8.
 */
#ifndef GK_BASE_PAIR_H
#define GK_BASE_PAIR_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Copies whole 64-bit words, one at a time; both sides are aligned to 8 bytes.
 * Another thread or process may access them at the same time: each word is then
 * either the old or the new one, but the record may be a mixture of both.
 */
static inline void gk_words_copy(void *to, const void *from, size_t size)
{
	uint64_t *t = to;
	const uint64_t *f = from;

	/* Unrolled so that a short record is copied through registers. */
#pragma GCC unroll 8
	for (size_t i = 0; i < size / sizeof(uint64_t); i++)
		__atomic_store_n(&t[i],
				 __atomic_load_n(&f[i], __ATOMIC_RELAXED),
				 __ATOMIC_RELAXED);
}

/*
 * Reads `part` bytes at `offset` of the valid copy; each of the two copies has
 * `size` bytes. Returns the sequence word that belongs to these bytes.
 */
static inline uint64_t gk_pair_read_part(const _Atomic uint64_t *seq,
					 const void *copies, size_t size,
					 size_t offset, void *ret, size_t part)
{
	uint64_t now;

	do {
		now = atomic_load_explicit(seq, memory_order_acquire);
		gk_words_copy(
		    ret, (const char *)copies + now % 2 * size + offset, part);
		atomic_thread_fence(memory_order_acquire);
	} while (atomic_load_explicit(seq, memory_order_relaxed) != now);
	return now;
}

/*
 * Reads a record of `size` bytes. Returns the sequence word that belongs to the
 * record.
 */
static inline uint64_t gk_pair_read(const _Atomic uint64_t *seq,
				    const void *copies, void *ret, size_t size)
{
	return gk_pair_read_part(seq, copies, size, 0, ret, size);
}

/* Fills the copy that is not valid, then makes it valid. */
static inline void gk_pair_write(_Atomic uint64_t *seq, void *copies,
				 const void *from, size_t size)
{
	uint64_t now = atomic_load_explicit(seq, memory_order_relaxed);

	atomic_thread_fence(memory_order_release);
	gk_words_copy((char *)copies + (now + 1) % 2 * size, from, size);
	atomic_store_explicit(seq, now + 1, memory_order_release);
}

#endif
