/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_only_choice.cpp - random orders and choices, with the same results as
 * CUDA's kernels. randperm sorts by random keys. multinomial divides by
 * exponential numbers, or looks up a uniform number in the cumulative
 * probabilities.
 */
#include "cuda_only.h"
#include "draw.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/native/TensorFactories.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace gpukit
{
namespace
{

using OptionalGenerator = optional<at::Generator>;

/*
 * Bits per key for a permutation of n elements: enough that all keys differ
 * with a probability of 0.9.
 */
int count_key_bits(double n)
{
	return std::min(64., std::ceil(std::log2(n - (6 * n * n + 1) /
							 (12 * std::log(.9)))));
}

template <class Key> Tensor draw_keys(int64_t n, int bits)
{
	using Limits = std::numeric_limits<Key>;
	Tensor keys = at::empty({n}, c10::CppTypeToScalarType<Key>::value);

	draw_integers(keys, Limits::min(), Limits::max());
	return bits < 8 * (int)sizeof(Key)
		   ? keys.bitwise_and_((int64_t)((1ull << bits) - 1))
		   : keys;
}

/*
 * Shuffles an island (a run of equal keys) by Fisher and Yates' method. The
 * random numbers are those of the thread that has the first key of the island.
 */
void shuffle_island(int64_t *order, int64_t size, const Philox &philox,
		    int64_t first)
{
	for (int64_t i = size - 1, drawn = 0; i > 0; i--, drawn++) {
		uint32_t word = draw_words(philox, first, drawn / 4)[drawn % 4];

		std::swap(order[first + i], order[first + word % (i + 1)]);
	}
}

/* Shuffles every island. */
template <class Key>
void shuffle_islands(const Key *keys, int64_t *order, int64_t n,
		     const Philox &philox)
{
	for (int64_t first = 0, next; first < n; first = next) {
		for (next = first + 1; next < n && keys[next] == keys[first];)
			next++;
		shuffle_island(order, next - first, philox, first);
	}
}

template <class Key> Tensor permute(int64_t n, int bits)
{
	auto [keys, order] = at::sort(draw_keys<Key>(n, bits), true, 0, false);

	shuffle_islands(keys.template const_data_ptr<Key>(),
			order.template mutable_data_ptr<int64_t>(), n,
			take_philox(n));
	return order;
}

Tensor &randperm_out(int64_t n, OptionalGenerator, Tensor &out)
{
	int bits = count_key_bits(n);

	TORCH_CHECK(n >= 0, "n must be non-negative, got", n);
	at::native::check_supported_max_int_with_precision(n, out);
	out.resize_({n});
	if (n)
		out.copy_(bits <= 32 ? permute<int32_t>(n, bits)
				     : permute<int64_t>(n, bits));
	return out;
}

void check_choice(const Tensor &weights, int64_t samples, bool again)
{
	TORCH_CHECK(weights.dim() > 0 && weights.dim() <= 2,
		    "prob_dist must be 1 or 2 dim");
	TORCH_CHECK(at::isFloatingType(weights.scalar_type()),
		    "multinomial only supports floating-point dtypes for "
		    "input, got: ",
		    weights.scalar_type());
	TORCH_CHECK(samples > 0, "cannot sample n_sample <= 0 samples");
	TORCH_CHECK(again || samples <= weights.size(-1),
		    "cannot sample n_sample > prob_dist.size(-1) samples "
		    "without replacement");
	TORCH_CHECK(weights.size(-1) <= 1 << 24,
		    "number of categories cannot exceed 2^24");
	if (weights.dim() == 2 && !weights.size(0))
		return;
	TORCH_CHECK(weights.size(-1),
		    "invalid multinomial distribution (sum of probabilities "
		    "<= 0)");
	TORCH_CHECK(
	    ((weights.max() < INFINITY) & (weights.min() >= 0)).item<bool>(),
	    "probability tensor contains either `inf`, `nan` or "
	    "element < 0");
	TORCH_CHECK(weights.sum(-1).gt(0).all().item<bool>(),
		    "invalid multinomial distribution (sum of probabilities "
		    "<= 0)");
}

/* Chooses the indices with the largest quotients of weight and exponential
 * number. */
Tensor choose_once(const Tensor &weights, int64_t samples)
{
	Tensor q = at::empty_like(weights);

	draw_exponential(q, 1);
	at::div_out(q, weights, q);
	return samples == 1 ? q.argmax(-1, true) : std::get<1>(q.topk(samples));
}

/*
 * Returns the first index at which the cumulative sum reaches the number. If
 * the weight at that index is 0, returns the last earlier index whose weight is
 * not 0.
 */
template <class T>
int64_t look_up(T number, const T *sums, const T *weights, int64_t count)
{
	int64_t at = std::lower_bound(sums, sums + count, number) - sums;

	if (at == count)
		at--;
	while (at > 0 && weights[at] == 0)
		at--;
	return at;
}

/*
 * The grid has for each row a thread per sample, rounded up to blocks of 128.
 * The number of rows in the grid is limited.
 */
template <class T>
void choose_rows(const Tensor &weights, const Tensor &sums, Tensor &out)
{
	int64_t rows = weights.size(0), count = weights.size(1);
	int64_t samples = out.size(1), width = (samples + 127) / 128 * 128;
	int64_t height = std::min<int64_t>(rows, 65535);
	Philox philox = take_philox(4 * ((rows - 1) / height + 1));
	const T *weight = weights.const_data_ptr<T>();
	const T *sum = sums.const_data_ptr<T>();
	int64_t *to = out.mutable_data_ptr<int64_t>();

	at::parallel_for(0, rows * samples, 1024, [&](int64_t i, int64_t end) {
		for (; i < end; i++) {
			int64_t row = i / samples;
			PhiloxWords words = draw_words(
			    philox, row % height * width + i % samples,
			    row / height);

			to[i] = look_up<T>(make_uniform(words[0]),
					   sum + row * count,
					   weight + row * count, count);
		}
	});
}

Tensor choose_again(const Tensor &weights, int64_t samples)
{
	Tensor rows = weights.dim() == 1 ? weights.unsqueeze(0) : weights;
	Tensor shares = (rows / rows.sum(1, true)).contiguous();
	Tensor sums = shares.cumsum(1);
	Tensor out = at::empty({rows.size(0), samples}, at::kLong);

	if (out.numel())
		AT_DISPATCH_FLOATING_TYPES_AND2(
		    at::kHalf, at::kBFloat16, shares.scalar_type(),
		    "multinomial",
		    [&] { choose_rows<scalar_t>(shares, sums, out); });
	return weights.dim() == 1 ? out.squeeze(0) : out;
}

Tensor choose(const Tensor &weights, int64_t samples, bool again,
	      OptionalGenerator)
{
	check_choice(weights, samples, again);
	return again && samples > 1 ? choose_again(weights, samples)
				    : choose_once(weights, samples);
}

Tensor &choose_out(const Tensor &weights, int64_t samples, bool again,
		   OptionalGenerator g, Tensor &out)
{
	TORCH_CHECK(
	    out.scalar_type() == at::kLong,
	    "multinomial expects Long tensor out, got: ", out.scalar_type());
	return fill_out(out, choose(weights, samples, again, g));
}

} // namespace

Rows choice_rows()
{
	return {
	    own_row<randperm_out>("randperm.generator_out", true),
	    own_row<choose>("multinomial", true),
	    own_row<choose_out>("multinomial.out", true),
	};
}

} // namespace gpukit
