/*
 * joe_kuo.h - direction vectors of Sobol' sequences in 20000 dimensions, from
 * the table of S. Joe and F. Y. Kuo (new-joe-kuo-6, 2008; joe_kuo.txt), and
 * scrambled ones, with the constants that belong to them.
 */
#ifndef GKF_CURAND_JOE_KUO_H
#define GKF_CURAND_JOE_KUO_H

#include <stdbool.h>
#include <stdint.h>

/*
 * `bits` of them, 32 or 64, of dimension 0 to 19999; the highest bit of each
 * is bit `bits` - 1.
 */
void joe_kuo_vectors(unsigned dimension, unsigned bits, bool scrambled,
		     uint64_t *vectors);

/* What a scrambled sequence begins with: our choice, as the scrambling is. */
uint64_t joe_kuo_constant(unsigned dimension, unsigned bits);

#endif
