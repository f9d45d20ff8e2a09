/* SPDX-License-Identifier: Apache-2.0 */
/*
 * joe_kuo.c - reads the table joe_kuo.bin, made by tools/joe-kuo.py. It is a
 * stream of bits, lowest first. For each dimension, starting with the second,
 * it has 19 bits of the primitive polynomial, then the numbers m(2), m(3), ...
 * without their lowest bit, which is always 1.
 */
#include "fronts/curand/joe_kuo.h"

#include "base/assert.h"
#include "abi/libraries/curand_abi.h"
#include "fronts/curand/ring.h"

#include <pthread.h>

#define POLYNOMIAL_BITS 19
#define DEGREE_MAX      18
#define BITS_MAX        64

__asm__(".section .rodata\n"
	".type joe_kuo_table, %object\n"
	"joe_kuo_table:\n"
	".incbin \"" JOE_KUO "\"\n"
	".zero 8\n"
	".size joe_kuo_table, . - joe_kuo_table\n"
	".previous\n");

extern const unsigned char joe_kuo_table[]
    __attribute__((visibility("hidden")));

static uint32_t begins[CURAND_DIMENSIONS_MAX]; /* first bit of a dimension */

static uint32_t read_bits(uint32_t *at, unsigned count)
{
	uint64_t word = 0;

	for (unsigned i = 0; i < 5; i++)
		word |= (uint64_t)joe_kuo_table[*at / 8 + i] << 8 * i;
	word >>= *at % 8;
	*at += count;
	return (uint32_t)(word & ((1ULL << count) - 1));
}

static unsigned degree_of(uint32_t polynomial)
{
	return 31 - (unsigned)__builtin_clz(polynomial);
}

static void find_beginnings(void)
{
	uint32_t at = 0;

	for (unsigned d = 1; d < CURAND_DIMENSIONS_MAX; d++) {
		unsigned degree;

		begins[d] = at;
		degree = degree_of(read_bits(&at, POLYNOMIAL_BITS));
		at += degree * (degree - 1) / 2;
	}
}

/*
 * Reads m(1), m(2), ... of a dimension. The table has as many as the
 * polynomial's degree; the rest are computed.
 */
static void read_numbers(unsigned dimension, unsigned bits, uint64_t *m)
{
	uint32_t at = begins[dimension];
	uint32_t polynomial = read_bits(&at, POLYNOMIAL_BITS);
	unsigned degree = degree_of(polynomial);

	for (unsigned i = 0; i < degree; i++)
		m[i] = 2 * (uint64_t)read_bits(&at, i) + 1;
	for (unsigned i = degree; i < bits; i++) {
		m[i] = m[i - degree] ^ m[i - degree] << degree;
		for (unsigned k = 1; k < degree; k++)
			if (polynomial >> (degree - k) & 1)
				m[i] ^= m[i - k] << k;
	}
}

/*
 * Returns a random word for scrambling. It comes from Philox, with a counter
 * that encodes the word's purpose.
 */
static uint64_t random_word(unsigned dimension, unsigned bits, unsigned row)
{
	const uint32_t counter[] = {row, dimension, bits, 0};
	const uint32_t key[] = {0x6a6f65, 0x6b756f};
	uint32_t out[4];

	philox_block(counter, key, out);
	return out[0] | (uint64_t)out[1] << 32;
}

/*
 * Multiplies by a random lower triangular matrix, so that each bit depends on
 * itself and on random higher bits. J. Matousek, "On the L2-discrepancy for
 * anchored boxes" (1998).
 */
static void scramble_vectors(unsigned dimension, unsigned bits,
			     uint64_t *vectors)
{
	uint64_t was[BITS_MAX];

	for (unsigned i = 0; i < bits; i++) {
		was[i] = vectors[i];
		vectors[i] = 0;
	}
	for (unsigned bit = 0; bit < bits; bit++) {
		uint64_t above = ~0ULL << bit << 1;
		uint64_t row =
		    (random_word(dimension, bits, bit) & above) | 1ULL << bit;

		for (unsigned i = 0; i < bits; i++)
			if (__builtin_parityll(was[i] & row))
				vectors[i] |= 1ULL << bit;
	}
}

void joe_kuo_vectors(unsigned dimension, unsigned bits, bool scrambled,
		     uint64_t *vectors)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	GK_ASSERT(dimension < CURAND_DIMENSIONS_MAX);
	GK_ASSERT(bits == 32 || bits == 64);
	pthread_once(&once, find_beginnings);
	for (unsigned i = 0; i < bits; i++)
		vectors[i] = 1;
	if (dimension)
		read_numbers(dimension, bits, vectors);
	for (unsigned i = 0; i < bits; i++)
		vectors[i] <<= bits - 1 - i;
	if (scrambled)
		scramble_vectors(dimension, bits, vectors);
}

uint64_t joe_kuo_constant(unsigned dimension, unsigned bits)
{
	uint64_t word = random_word(dimension, bits, BITS_MAX);

	return bits == BITS_MAX ? word : word & ((1ULL << bits) - 1);
}
