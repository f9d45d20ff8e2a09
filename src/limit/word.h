/* SPDX-License-Identifier: Apache-2.0 */
/* word.h - loads and stores of words that need no order with other words. */
#ifndef GKL_WORD_H
#define GKL_WORD_H

#include <stdatomic.h>
#include <stdint.h>

static inline uint64_t gkl_load_word(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static inline void gkl_store_word(_Atomic uint64_t *word, uint64_t value)
{
	atomic_store_explicit(word, value, memory_order_relaxed);
}

#endif
