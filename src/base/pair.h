/*
 * pair.h - a record that is read without a lock and never half: two copies and
 * a sequence word; copy seq % 2 holds. A writer fills the other copy, then
 * commits it by one store, so that who is killed on the way leaves the record
 * as it was. There is one writer at a time; readers may be of other processes.
 *
 * Records are 64-bit words, one behind the other: size is a multiple of 8.
 */
#ifndef GK_BASE_PAIR_H
#define GK_BASE_PAIR_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Copies whole 64-bit words, one at a time; both sides are aligned to 8 bytes.
 * Another thread or process may read or write them meanwhile: a word is never
 * half of one value and half of another, but the record may be a mixture.
 */
static inline void gk_words_copy(void *to, const void *from, size_t size)
{
	uint64_t *t = to;
	const uint64_t *f = from;

	/* A short record goes through registers, without a loop. */
#pragma GCC unroll 8
	for (size_t i = 0; i < size / sizeof(uint64_t); i++)
		__atomic_store_n(&t[i],
				 __atomic_load_n(&f[i], __ATOMIC_RELAXED),
				 __ATOMIC_RELAXED);
}

/*
 * Reads `part` bytes at `offset` of the copy that holds, of two of size bytes.
 * Returns the sequence word that they belong to.
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

/* Reads a record of size bytes. Returns the sequence word that it belongs to.
 */
static inline uint64_t gk_pair_read(const _Atomic uint64_t *seq,
				    const void *copies, void *ret, size_t size)
{
	return gk_pair_read_part(seq, copies, size, 0, ret, size);
}

/* Fills the copy that does not hold, then says that it does. */
static inline void gk_pair_write(_Atomic uint64_t *seq, void *copies,
				 const void *from, size_t size)
{
	uint64_t now = atomic_load_explicit(seq, memory_order_relaxed);

	atomic_thread_fence(memory_order_release);
	gk_words_copy((char *)copies + (now + 1) % 2 * size, from, size);
	atomic_store_explicit(seq, now + 1, memory_order_release);
}

#endif
