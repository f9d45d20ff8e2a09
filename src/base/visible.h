/* SPDX-License-Identifier: Apache-2.0 */
/*
 * visible.h - ranks GPUs by speed, for both the made-up driver and its
 * observers, so that they number GPUs alike. The function that interprets
 * CUDA_VISIBLE_DEVICES, gk_cuda_visible(), is in the public header.
 */
#ifndef GK_BASE_VISIBLE_H
#define GK_BASE_VISIBLE_H

#include <gpukit/gpukit.h>

/*
 * Returns gk_candidate.speed, which orders GPUs by architecture, then by clock.
 * As far as is known, the CUDA driver uses the same order.
 */
static inline uint64_t gk_cuda_speed(int major, int minor, uint64_t clock_mhz)
{
	return (uint64_t)(major * 100 + minor) << 40 | clock_mhz;
}

#endif
