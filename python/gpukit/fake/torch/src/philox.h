/* SPDX-License-Identifier: Apache-2.0 */
/*
 * philox.h - the random numbers of the device: Philox4x32-10 (Salmon and
 * others, "Parallel random numbers: as easy as 1, 2, 3", 2011). Offsets are
 * those of curand_init(seed, 0, offset).
 */
#ifndef GPUKIT_TORCH_PHILOX_H
#define GPUKIT_TORCH_PHILOX_H

#include <array>
#include <cstdint>

namespace gpukit
{

struct Philox {
	uint64_t seed;
	uint64_t offset; /* counted in 32-bit words */
	/* The maximum number of blocks, on the made-up device, of a kernel that
	 * draws random numbers. */
	uint64_t blocks = 132 * 8;
};

using PhiloxWords = std::array<uint32_t, 4>;

/*
 * Returns the words that a thread gets from call number `step` of curand4(),
 * after curand_init(seed, thread, offset).
 */
PhiloxWords draw_words(const Philox &philox, uint64_t thread, uint64_t step);

/* As in curand_uniform: (0, 1] is divided into 2^32 steps; this is the middle
 * of one of them. */
inline float make_uniform(uint32_t word)
{
	const float step = 2.3283064e-10f;

	return (float)word * step + step / 2.0f;
}

/*
 * The source of random numbers for operators on this thread. The boxed fallback
 * sets it from the device's generator before an operator, and advances that
 * generator afterwards. If it is not set, operators use the CPU's generator.
 */
struct PhiloxSource {
	Philox next;
	bool is_set;
};
PhiloxSource &philox_source();

/* Takes `count` numbers from the source. Its offset is rounded up to a multiple
 * of 4. */
Philox take_philox(uint64_t count);

/* Writes n uniform numbers in (0, 1], as in curand_uniform, beginning with
 * number `start`. */
void fill_uniform(float *out, uint64_t n, Philox philox, uint64_t start);

} // namespace gpukit

#endif
