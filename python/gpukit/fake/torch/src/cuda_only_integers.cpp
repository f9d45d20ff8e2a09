/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_only_integers.cpp - random integers, coins and permutations, with the
 * values of CUDA's kernels.
 */
#include "cuda_only.h"
#include "distribution.h"
#include "draw.h"

#include <ATen/Dispatch.h>
#include <ATen/Dispatch_v2.h>
#include <ATen/core/DistributionsHelper.h>
#include <ATen/native/DistributionTemplates.h>

#include <limits>

namespace gpukit
{
namespace
{

namespace templates = at::native::templates;

using at::TensorIteratorBase;
using OptionalGenerator = optional<at::Generator>;
using NoGenerator = void;

/*
 * Whether 64 random bits are used for a number in a range of this size. This
 * differs between versions of PyTorch, but the version's CPU header decides
 * like CUDA's kernel. So this calls the header, and records what it draws.
 */
template <class T> bool is_of_64_bits(uint64_t range)
{
	struct Witness {
		bool asked_for_64 = false;

		uint32_t random()
		{
			return 0;
		}
		uint64_t random64()
		{
			asked_for_64 = true;
			return 0;
		}
	} witness;

	at::uniform_int_from_to_distribution<T>(range, 0)(&witness);
	return witness.asked_for_64;
}

template <class T, class Word>
void fill_range(TensorIteratorBase &iter, uint64_t range, int64_t base)
{
	fill<T, Word>(iter, make_words, [=](Word word) {
		uint64_t above = word % range;

		return static_cast<T>(
		    static_cast<int64_t>(above + (uint64_t)base));
	});
}

template <class> struct FromToKernel {
	void operator()(TensorIteratorBase &iter, uint64_t range, int64_t base,
			OptionalGenerator)
	{
		AT_DISPATCH_V2(
		    iter.dtype(), "random_", AT_WRAP([&] {
			    if (is_of_64_bits<scalar_t>(range))
				    fill_range<scalar_t, uint64_t>(iter, range,
								   base);
			    else
				    fill_range<scalar_t, uint32_t>(iter, range,
								   base);
		    }),
		    AT_EXPAND(AT_ALL_TYPES), at::kBool, at::kHalf,
		    at::kBFloat16, AT_EXPAND(AT_BAREBONES_UNSIGNED_TYPES));
	}

	/* Draws from the full range of 64-bit integers. */
	void operator()(TensorIteratorBase &iter, OptionalGenerator)
	{
		AT_DISPATCH_ALL_TYPES_AND(
		    at::kBFloat16, iter.dtype(), "random_", [&] {
			    fill<scalar_t, uint64_t>(
				iter, make_words, [](uint64_t word) {
					return static_cast<scalar_t>(
					    static_cast<int64_t>(word));
				});
		    });
	}
};

/*
 * How many integers, from 0 on, a type can represent without gaps; 0 means
 * 2^64.
 */
template <class T> constexpr uint64_t count_numbers()
{
	if (std::is_same_v<T, bool>)
		return 2;
	if (std::is_integral_v<T>)
		return (uint64_t)std::numeric_limits<T>::max() + 1;
	return (1ull << std::numeric_limits<T>::digits) + 1;
}

template <class> struct AnyKernel {
	void operator()(TensorIteratorBase &iter, OptionalGenerator)
	{
		AT_DISPATCH_ALL_TYPES_AND3(
		    at::kHalf, at::kBFloat16, at::kBool, iter.dtype(),
		    "random_", [&] {
			    constexpr bool wide =
				std::is_same_v<scalar_t, double> ||
				std::is_same_v<scalar_t, int64_t>;
			    using Word =
				std::conditional_t<wide, uint64_t, uint32_t>;

			    fill_range<scalar_t, Word>(
				iter, count_numbers<scalar_t>(), 0);
		    });
	}
};

/* The result is 1 if a uniform number is less than p. */
template <class> struct CoinKernel {
	template <class T, class Wide>
	void run(TensorIteratorBase &iter, Wide p)
	{
		fill<T, Wide>(iter, make_uniforms,
			      [=](Wide x) { return static_cast<T>(x < p); });
	}

	void operator()(const Tensor &self, double p, OptionalGenerator)
	{
		auto iter = at::TensorIterator::borrowing_nullary_op(self);

		AT_DISPATCH_ALL_TYPES_AND3(
		    at::kHalf, at::kBFloat16, at::kBool, iter.dtype(),
		    "bernoulli_", [&] {
			    if (std::is_same_v<scalar_t, double>)
				    run<scalar_t, double>(iter, p);
			    else
				    run<scalar_t, float>(iter, p);
		    });
	}
};

/* Uses its own grid, in which each thread fills four adjacent elements. */
void fill_by_fours(float *out, int64_t count, const Philox &philox)
{
	at::parallel_for(
	    0, (count + 3) / 4, 4096, [&](int64_t begin, int64_t end) {
		    for (int64_t thread = begin; thread < end; thread++) {
			    PhiloxWords words = draw_words(philox, thread, 0);

			    for (int64_t i = 0;
				 i < std::min<int64_t>(4, count - 4 * thread);
				 i++)
				    out[4 * thread + i] =
					make_uniform(words[i]);
		    }
	    });
}

/* Each element has a probability of its own. */
template <class> struct CoinsKernel {
	void operator()(const Tensor &self, const Tensor &p, OptionalGenerator)
	{
		TORCH_CHECK(at::isFloatingType(p.scalar_type()),
			    "expected probabilities tensor to have floating "
			    "type, got ",
			    p.scalar_type());
		auto type = self.scalar_type() == at::kDouble ? at::kDouble
							      : at::kFloat;
		Tensor wide = p.to(type);
		Tensor drawn = at::empty(self.sizes(), at::kFloat);

		TORCH_CHECK(((wide >= 0) & (wide <= 1)).all().item<bool>(),
			    "Expected p_in >= 0 && p_in <= 1 to be true, but "
			    "got false.");
		fill_by_fours(drawn.mutable_data_ptr<float>(), drawn.numel(),
			      take_philox(10));
		self.copy_(drawn <= wide.expand(self.sizes()));
	}
};

Tensor &random_from(Tensor &self, int64_t from, optional<int64_t> to,
		    OptionalGenerator g)
{
	return templates::random_from_to_impl<FromToKernel, NoGenerator>(
	    self, from, to, g);
}

Tensor &random_to(Tensor &self, int64_t to, OptionalGenerator g)
{
	return random_from(self, 0, to, g);
}

Tensor &random_any(Tensor &self, OptionalGenerator g)
{
	return templates::random_impl<AnyKernel, NoGenerator>(self, g);
}

Tensor &coin(Tensor &self, double p, OptionalGenerator g)
{
	return templates::bernoulli_impl_<CoinKernel, NoGenerator>(self, p, g);
}

Tensor &coins(Tensor &self, const Tensor &p, OptionalGenerator g)
{
	return templates::bernoulli_impl_<CoinsKernel, NoGenerator>(self, p, g);
}

Tensor &coins_out(const Tensor &p, OptionalGenerator g, Tensor &out)
{
	return templates::bernoulli_out_impl<CoinsKernel, NoGenerator>(out, p,
								       g);
}

} // namespace

void draw_integers(Tensor &self, int64_t from, int64_t to)
{
	random_from(self, from, to, std::nullopt);
}

Rows integer_rows()
{
	return {
	    own_row<random_from>("random_.from", true),
	    own_row<random_to>("random_.to", true),
	    own_row<random_any>("random_", true),
	    own_row<coin>("bernoulli_.float", true),
	    own_row<coins>("bernoulli_.Tensor", true),
	    own_row<coins_out>("bernoulli.out", true),
	};
}

} // namespace gpukit
