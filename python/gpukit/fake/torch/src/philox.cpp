/* SPDX-License-Identifier: Apache-2.0 */
/* philox.cpp - computes Philox4x32-10, and owns the source of random numbers of
 * each thread. */
#include "philox.h"

#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <array>
#include <mutex>

namespace gpukit
{
namespace
{

using Words = PhiloxWords;

Words compute_block(uint64_t seed, uint64_t counter, uint64_t thread = 0)
{
	uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
	Words c = {(uint32_t)counter, (uint32_t)(counter >> 32),
		   (uint32_t)thread, (uint32_t)(thread >> 32)};

	for (int round = 0; round < 10; round++) {
		uint64_t a = 0xD2511F53ull * c[0];
		uint64_t b = 0xCD9E8D57ull * c[2];

		c = {(uint32_t)(b >> 32) ^ c[1] ^ key[0], (uint32_t)b,
		     (uint32_t)(a >> 32) ^ c[3] ^ key[1], (uint32_t)a};
		key[0] += 0x9E3779B9u;
		key[1] += 0xBB67AE85u;
	}
	return c;
}

uint64_t draw_seed()
{
	auto gen = at::get_generator_or_default<at::CPUGeneratorImpl>(
	    std::nullopt, at::detail::getDefaultCPUGenerator());
	std::lock_guard<std::mutex> lock(gen->mutex_);

	return gen->random64();
}

} // namespace

PhiloxWords draw_words(const Philox &philox, uint64_t thread, uint64_t step)
{
	return compute_block(philox.seed, philox.offset / 4 + step, thread);
}

PhiloxSource &philox_source()
{
	static thread_local PhiloxSource source;

	return source;
}

Philox take_philox(uint64_t count)
{
	PhiloxSource &source = philox_source();
	Philox taken;

	if (!source.is_set)
		return {draw_seed(), 0};
	taken = source.next;
	source.next.offset += (count + 3) / 4 * 4;
	return taken;
}

void fill_uniform(float *out, uint64_t n, Philox philox, uint64_t start)
{
	uint64_t at = philox.offset + start;

	for (uint64_t done = 0; done < n;) {
		Words words = compute_block(philox.seed, (at + done) / 4);
		uint64_t first = (at + done) % 4;
		uint64_t some = std::min(4 - first, n - done);

		for (uint64_t i = 0; i < some; i++)
			out[done + i] = make_uniform(words[first + i]);
		done += some;
	}
}

} // namespace gpukit
