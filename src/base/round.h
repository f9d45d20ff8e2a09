/* SPDX-License-Identifier: Apache-2.0 */
/* round.h - rounds numbers for display. */
#ifndef GK_BASE_ROUND_H
#define GK_BASE_ROUND_H

#include <stdint.h>

/*
 * Prepares a number for printf(), which rounds halves to even. With it, all
 * verbs and screens show 274.5 as 275 and 41.25 as 41.3. (nvidia-smi truncates,
 * and so does the verb `smi`.)
 */
static inline double gk_half_up(double value)
{
	return value * (1 + 1e-12);
}

/*
 * Returns the nearest whole number; INT64_MAX or -INT64_MAX if it does not fit
 * in 64 bits, 0 for NaN.
 */
static inline int64_t gk_to_int64(double value)
{
	if (value >= 0x1p63)
		return INT64_MAX;
	if (value <= -0x1p63)
		return -INT64_MAX;
	if (value < 0)
		return (int64_t)(value - 0.5);
	return value > 0 ? (int64_t)(value + 0.5) : 0;
}

/*
 * Converts a share (0 to 1) to a height of 0 to `most` steps. A share below 0
 * or above 1 gives 0 or `most`, so that a drawing never leaves its area.
 */
static inline int gk_steps(double share, int most)
{
	if (!(share > 0))
		return 0;
	return share < 1 ? (int)(share * most + 0.5) : most;
}

#endif
