/* SPDX-License-Identifier: Apache-2.0 */
/* min.h - returns the smaller of two numbers. */
#ifndef GK_BASE_MIN_H
#define GK_BASE_MIN_H

#include <stdint.h>

static inline uint64_t gk_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

#endif
