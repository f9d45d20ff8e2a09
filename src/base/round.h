/* round.h - how figures are rounded that people read. */
#ifndef GK_BASE_ROUND_H
#define GK_BASE_ROUND_H

/*
 * A figure for printf, which rounds halves now up and now down: every verb and
 * screen shows 274.5 as 275 and 41.25 as 41.3. (nvidia-smi cuts, and so does
 * `smi`.)
 */
static inline double gk_half_up(double value)
{
	return value * (1 + 1e-12);
}

#endif
