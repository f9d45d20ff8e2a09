/* SPDX-License-Identifier: Apache-2.0 */
/*
 * philox_lanes.h - random numbers that many threads of a device draw at once.
 * The i-th numbers of all threads form a row.
 */
#ifndef GPUKIT_TORCH_PHILOX_LANES_H
#define GPUKIT_TORCH_PHILOX_LANES_H

#include "philox.h"

namespace gpukit
{

constexpr unsigned LANES = 64;

/* word[i][k]: the i-th word of thread k. */
struct PhiloxLanes {
	uint32_t word[4][LANES];
};

/* Like draw_words(), for the threads from `thread` to thread + LANES - 1. */
void draw_lanes(const Philox &philox, uint64_t thread, uint64_t step,
		PhiloxLanes *ret_lanes);

/*
 * Compute the first `used` rows of numbers from these words, as cuRAND does
 * (curand, curand_uniform, curand_normal). make_logarithms() computes
 * logarithms of uniform numbers. Floats are exact to one or two units in the
 * last place, and the same on all CPUs.
 */
void make_words(const PhiloxLanes &, unsigned used, uint32_t (*out)[LANES]);
void make_words(const PhiloxLanes &, unsigned used, uint64_t (*out)[LANES]);
void make_uniforms(const PhiloxLanes &, unsigned used, float (*out)[LANES]);
void make_uniforms(const PhiloxLanes &, unsigned used, double (*out)[LANES]);
void make_normals(const PhiloxLanes &, unsigned used, float (*out)[LANES]);
void make_normals(const PhiloxLanes &, unsigned used, double (*out)[LANES]);
void make_logarithms(const PhiloxLanes &, unsigned used, float (*out)[LANES]);
void make_logarithms(const PhiloxLanes &, unsigned used, double (*out)[LANES]);

} // namespace gpukit

#endif
