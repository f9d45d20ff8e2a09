/* SPDX-License-Identifier: Apache-2.0 */
/*
 * philox_lanes.cpp - computes Philox, and the distributions made from its
 * words, in loops that compilers can vectorize. GCC does not vectorize 64-bit
 * products, so AVX2 is used directly for these.
 */
#include "philox_lanes.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#define EACH_CPU __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define EACH_CPU
#endif

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

namespace gpukit
{
namespace
{

constexpr int ROUNDS = 10;

#if defined(__x86_64__)

using Four = uint64_t __attribute__((vector_size(32)));
constexpr unsigned GROUPS = 4; /* groups of lanes; several hide latencies */

/* A group of lanes: the four words of each lane. A word is the lower half of 64
 * bits. */
struct State {
	Four c[4];
};

__attribute__((target("avx2"))) inline Four multiply(const Four &a,
						     const Four &b)
{
	return (Four)_mm256_mul_epu32((__m256i)a, (__m256i)b);
}

__attribute__((target("avx2"))) inline void store(const Four &lanes,
						  uint32_t *out)
{
	const __m256i lower = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);

	_mm_storeu_si128((__m128i *)out,
			 _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(
			     (__m256i)lanes, lower)));
}

__attribute__((target("avx2"))) void draw_groups(uint64_t seed,
						 uint64_t counter,
						 uint64_t thread, unsigned lane,
						 PhiloxLanes *ret_lanes)
{
	const Four m0 = Four{} + 0xD2511F53u, m2 = Four{} + 0xCD9E8D57u;
	uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
	State s[GROUPS];

#pragma GCC unroll 4
	for (unsigned g = 0; g < GROUPS; g++) {
		Four t = Four{0, 1, 2, 3} + (thread + lane + 4 * g);

		s[g] = {
		    {Four{} + counter, Four{} + (counter >> 32), t, t >> 32}};
	}
	for (int round = 0; round < ROUNDS; round++) {
		const Four k0 = Four{} + key[0], k1 = Four{} + key[1];

#pragma GCC unroll 4
		for (unsigned g = 0; g < GROUPS; g++) {
			Four *c = s[g].c;
			Four a = multiply(c[0], m0), b = multiply(c[2], m2);

			c[0] = (b >> 32) ^ c[1] ^ k0;
			c[2] = (a >> 32) ^ c[3] ^ k1;
			c[1] = b;
			c[3] = a;
		}
		key[0] += 0x9E3779B9u;
		key[1] += 0xBB67AE85u;
	}
#pragma GCC unroll 4
	for (unsigned g = 0; g < GROUPS; g++)
		for (int i = 0; i < 4; i++)
			store(s[g].c[i], &ret_lanes->word[i][lane + 4 * g]);
}

#endif

void draw_singly(const Philox &philox, uint64_t thread, uint64_t step,
		 PhiloxLanes *ret_lanes)
{
	for (unsigned k = 0; k < LANES; k++) {
		PhiloxWords words = draw_words(philox, thread + k, step);

		for (int i = 0; i < 4; i++)
			ret_lanes->word[i][k] = words[i];
	}
}

inline float float_of(uint32_t bits)
{
	float f;

	std::memcpy(&f, &bits, sizeof f);
	return f;
}

inline uint32_t bits_of(float f)
{
	uint32_t bits;

	std::memcpy(&bits, &f, sizeof bits);
	return bits;
}

/*
 * The logarithm of a number in (0, 1], which is m * 2^e with m between
 * sqrt(1/2) and sqrt(2). The logarithm of m is the series of 2 artanh((m - 1) /
 * (m + 1)).
 */
inline float log_of(float u)
{
	const uint32_t root = 0x3f3504f3; /* the bits of sqrt(1/2) */
	uint32_t above = bits_of(u) - root;
	float e = (float)((int32_t)above >> 23);
	float m = float_of((above & 0x7fffff) + root);
	float s = (m - 1) / (m + 1), z = s * s;
	float series = z * (1 / 3.f + z * (1 / 5.f + z * (1 / 7.f + z / 9.f)));

	return e * 0.69314718f + (2 * s + 2 * s * series);
}

/*
 * Sine and cosine of an angle between 0 and a full turn. The series are
 * computed for the distance to the nearest quarter turn. The number of that
 * quarter turn decides the order and the signs of the results.
 */
inline void turn_by(float angle, float *ret_sin, float *ret_cos)
{
	/* Half of pi as a sum of two parts, so that n times the larger part is
	 * exact. */
	const float upper = 1.5703125f, lower = 4.8382679e-4f;
	int n = (int)(angle * 0.63661977f + 0.5f);
	float r = (angle - (float)n * upper) - (float)n * lower, z = r * r;
	float s = r + r * z *
			  (-1 / 6.f +
			   z * (1 / 120.f - z / 5040.f + z * z / 362880.f));
	float c =
	    1 - z * (0.5f - z * (1 / 24.f - z * (1 / 720.f - z / 40320.f)));
	float sine = n & 1 ? c : s, cosine = n & 1 ? s : c;

	*ret_sin = float_of(bits_of(sine) ^ (uint32_t)(n & 2) << 30);
	*ret_cos = float_of(bits_of(cosine) ^ (uint32_t)((n + 1) & 2) << 30);
}

uint64_t pair_of(const PhiloxLanes &lanes, unsigned pair, unsigned k)
{
	return (uint64_t)lanes.word[2 * pair][k] << 32 |
	       lanes.word[2 * pair + 1][k];
}

/* Returns a uniform number as curand_uniform_double does. It uses 53 of 64
 * bits. */
double wide_uniform(const PhiloxLanes &lanes, unsigned pair, unsigned k)
{
	const double unit = std::ldexp(1., -53);
	uint64_t x = lanes.word[2 * pair][k], y = lanes.word[2 * pair + 1][k];

	return (x ^ y << 21) * unit + unit / 2;
}

} // namespace

void draw_lanes(const Philox &philox, uint64_t thread, uint64_t step,
		PhiloxLanes *ret_lanes)
{
#if defined(__x86_64__)
	static const bool wide = __builtin_cpu_supports("avx2");

	if (wide) {
		for (unsigned k = 0; k < LANES; k += 4 * GROUPS)
			draw_groups(philox.seed, philox.offset / 4 + step,
				    thread, k, ret_lanes);
		return;
	}
#endif
	draw_singly(philox, thread, step, ret_lanes);
}

void make_words(const PhiloxLanes &lanes, unsigned used, uint32_t (*out)[LANES])
{
	std::memcpy(out, lanes.word, used * sizeof *out);
}

void make_words(const PhiloxLanes &lanes, unsigned used, uint64_t (*out)[LANES])
{
	for (unsigned i = 0; i < used; i++)
		for (unsigned k = 0; k < LANES; k++)
			out[i][k] = pair_of(lanes, i, k);
}

EACH_CPU void make_uniforms(const PhiloxLanes &lanes, unsigned used,
			    float (*out)[LANES])
{
	for (unsigned i = 0; i < used; i++)
		for (unsigned k = 0; k < LANES; k++)
			out[i][k] = make_uniform(lanes.word[i][k]);
}

void make_uniforms(const PhiloxLanes &lanes, unsigned used,
		   double (*out)[LANES])
{
	for (unsigned i = 0; i < used; i++)
		for (unsigned k = 0; k < LANES; k++)
			out[i][k] = wide_uniform(lanes, i, k);
}

/* Applies the Box-Muller transform. Each pair of uniform numbers gives two
 * results. */
EACH_CPU void make_normals(const PhiloxLanes &lanes, unsigned used,
			   float (*out)[LANES])
{
	const float turn = 2.3283064e-10f * 6.2831855f;

	for (unsigned i = 0; i < used; i += 2) {
		for (unsigned k = 0; k < LANES; k++) {
			float u = make_uniform(lanes.word[i][k]);
			float size = std::sqrt(-2 * log_of(u)), s, c;

			turn_by((float)lanes.word[i + 1][k] * turn + turn / 2,
				&s, &c);
			out[i][k] = size * s;
			out[i + 1][k] = size * c;
		}
	}
}

void make_normals(const PhiloxLanes &lanes, unsigned, double (*out)[LANES])
{
	for (unsigned k = 0; k < LANES; k++) {
		double size =
		    std::sqrt(-2 * std::log(wide_uniform(lanes, 0, k)));
		double angle = 2 * M_PI * wide_uniform(lanes, 1, k);

		out[0][k] = size * std::sin(angle);
		out[1][k] = size * std::cos(angle);
	}
}

EACH_CPU void make_logarithms(const PhiloxLanes &lanes, unsigned used,
			      float (*out)[LANES])
{
	for (unsigned i = 0; i < used; i++)
		for (unsigned k = 0; k < LANES; k++)
			out[i][k] = log_of(make_uniform(lanes.word[i][k]));
}

void make_logarithms(const PhiloxLanes &lanes, unsigned used,
		     double (*out)[LANES])
{
	for (unsigned i = 0; i < used; i++)
		for (unsigned k = 0; k < LANES; k++)
			out[i][k] = std::log(wide_uniform(lanes, i, k));
}

} // namespace gpukit
