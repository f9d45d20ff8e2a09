/*
 * visible.h - what the drivers of GPUs and their observers must agree on to
 * number GPUs alike. The parser itself is public: gk_cuda_visible().
 */
#ifndef GK_BASE_VISIBLE_H
#define GK_BASE_VISIBLE_H

#include <gpukit/gpukit.h>

/*
 * gk_candidate.speed: a figure that puts GPUs as the CUDA driver does where it
 * can be told from outside: newer, then with the higher clock.
 */
static inline uint64_t gk_cuda_speed(int major, int minor, uint64_t clock_mhz)
{
	return (uint64_t)(major * 100 + minor) << 40 | clock_mhz;
}

#endif
