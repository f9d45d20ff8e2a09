/*
 * philox.h - the random numbers of the device: Philox4x32-10 (Salmon and
 * others, "Parallel random numbers: as easy as 1, 2, 3", 2011), counted as
 * curand_init(seed, 0, offset) counts them.
 */
#ifndef GPUKIT_TORCH_PHILOX_H
#define GPUKIT_TORCH_PHILOX_H

#include <array>
#include <cstdint>

namespace gpukit
{

struct Philox {
	uint64_t seed;
	uint64_t offset; /* of 32-bit words */
	/* That a kernel which draws has at most, on the device meant. */
	uint64_t blocks = 132 * 8;
};

using PhiloxWords = std::array<uint32_t, 4>;

/*
 * The words of a thread: curand_init(seed, thread, offset), curand4() for the
 * step'th time.
 */
PhiloxWords draw_words(const Philox &philox, uint64_t thread, uint64_t step);

/* curand_uniform: the middle of each of 2^32 steps, in (0, 1]. */
inline float make_uniform(uint32_t word)
{
	const float step = 2.3283064e-10f;

	return (float)word * step + step / 2.0f;
}

/*
 * Where the operators of this thread draw from. The boxed fallback sets it from
 * the generator of the device before an operator, and afterwards tells that
 * generator how far the offset has come. Unset: from the CPU's generator.
 */
struct PhiloxSource {
	Philox next;
	bool is_set;
};
PhiloxSource &philox_source();

/* Draws count numbers, and leaves the offset at a multiple of 4. */
Philox take_philox(uint64_t count);

/* Uniform in (0, 1], as curand_uniform's: n numbers from the start'th on. */
void fill_uniform(float *out, uint64_t n, Philox philox, uint64_t start);

} // namespace gpukit

#endif
