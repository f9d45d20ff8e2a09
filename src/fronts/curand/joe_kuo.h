/* SPDX-License-Identifier: Apache-2.0 */
/*
 * joe_kuo.h - direction vectors of Sobol' sequences in 20000 dimensions, plain
 * or scrambled, and the constants of scrambled sequences. The vectors come from
 * the table of S. Joe and F. Y. Kuo (new-joe-kuo-6, 2008; joe_kuo.txt).
 */
#ifndef GKF_CURAND_JOE_KUO_H
#define GKF_CURAND_JOE_KUO_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Writes the direction vectors of a dimension from 0 to 19999. `bits`, 32 or
 * 64, is both the number of vectors and the number of bits in each.
 */
void joe_kuo_vectors(unsigned dimension, unsigned bits, bool scrambled,
		     uint64_t *vectors);

/*
 * Returns the first number of a scrambled sequence. It is our own choice, not
 * cuRAND's.
 */
uint64_t joe_kuo_constant(unsigned dimension, unsigned bits);

#endif
