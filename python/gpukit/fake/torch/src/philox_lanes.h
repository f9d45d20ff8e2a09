/*
 * philox_lanes.h - the numbers that many threads of a device draw at once: a
 * row for each number of a step, in which the threads lie side by side.
 */
#ifndef GPUKIT_TORCH_PHILOX_LANES_H
#define GPUKIT_TORCH_PHILOX_LANES_H

#include "philox.h"

namespace gpukit
{

constexpr unsigned LANES = 64;

/* word[i][k]: the i'th word that the k'th thread draws. */
struct PhiloxLanes {
	uint32_t word[4][LANES];
};

/* What draw_words() gives threads thread .. thread + LANES - 1. */
void draw_lanes(const Philox &philox, uint64_t thread, uint64_t step,
		PhiloxLanes *ret_lanes);

/*
 * The first `used` rows of numbers, made of these words as cuRAND makes them
 * (curand, curand_uniform, curand_normal), and logarithms of uniform ones.
 * Floats are exact to one or two units in the last place, and equal on all
 * CPUs.
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
