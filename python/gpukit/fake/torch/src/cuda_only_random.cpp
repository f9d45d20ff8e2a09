/*
 * cuda_only_random.cpp - uniform_ and normal_ with the numbers of CUDA's
 * kernels: a thread draws four words at a time, which go to elements that lie
 * as far apart as there are threads (ATen's distribution kernels, for their
 * unroll of four; of two in double precision).
 */
#include "cuda_only.h"
#include "philox.h"

#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/Parallel.h>

#include <cmath>

namespace gpukit
{
namespace
{

constexpr int64_t THREADS = 256; /* of a block */

/* What four words come to: as many numbers as a step has elements. */
struct Step {
	double value[4];
};

Step uniform_step(const PhiloxWords &w, bool wide)
{
	const double unit = std::ldexp(1., -53);
	Step s = {};

	for (int i = 0; i < (wide ? 2 : 4); i++)
		s.value[i] =
		    wide ? (w[2 * i] ^ (uint64_t)w[2 * i + 1] << 21) * unit +
			       unit / 2
			 : make_uniform(w[i]);
	return s;
}

/* Box and Muller's, of two uniform numbers. */
Step normal_step(const PhiloxWords &w, bool wide)
{
	const float turn = 2.3283064e-10f * 6.2831855f;
	Step s = uniform_step(w, wide);

	if (wide) {
		double size = std::sqrt(-2 * std::log(s.value[0]));
		double angle = 2 * M_PI * s.value[1];

		return {{size * std::sin(angle), size * std::cos(angle)}};
	}
	for (int i = 0; i < 4; i += 2) {
		float size = std::sqrt(-2 * std::log((float)s.value[i]));
		float angle = (float)w[i + 1] * turn + turn / 2;

		s.value[i] = size * std::sin(angle);
		s.value[i + 1] = size * std::cos(angle);
	}
	return s;
}

/* How threads and elements belong together. */
struct Layout {
	int64_t count, per_step, threads, steps;

	Layout(int64_t n, bool wide, uint64_t blocks)
	    : count(n), per_step(wide ? 2 : 4)
	{
		int64_t wanted = (n + THREADS - 1) / THREADS;

		threads = THREADS * std::min(wanted, (int64_t)blocks);
		steps = (n - 1) / (threads * per_step) + 1;
	}
};

template <class T, class Put>
void fill_thread(T *out, const Layout &l, const Philox &philox, int64_t thread,
		 Step (*step)(const PhiloxWords &, bool), Put put)
{
	for (int64_t k = 0; k < l.steps; k++) {
		int64_t at = thread + k * l.threads * l.per_step;

		if (at >= l.count)
			return;
		Step s = step(draw_words(philox, thread, k), l.per_step == 2);
		for (int64_t i = 0; i < l.per_step; i++, at += l.threads)
			if (at < l.count)
				out[at] = put(s.value[i]);
	}
}

/* Elements in the order in which they lie, where they lie without gaps. */
Tensor in_order(const Tensor &self)
{
	return self.is_non_overlapping_and_dense()
		   ? self.as_strided({self.numel()}, {1})
		   : at::empty({self.numel()}, self.options());
}

template <class T, class Put>
void fill(Tensor &self, Step (*step)(const PhiloxWords &, bool), Put put)
{
	Tensor flat = in_order(self);
	T *out = flat.mutable_data_ptr<T>();
	uint64_t blocks = philox_source().next.blocks;
	Layout layout(self.numel(), sizeof(T) == 8, blocks);
	Philox philox = take_philox(4 * layout.steps);

	at::parallel_for(
	    0, layout.threads, 4 * THREADS, [&](int64_t begin, int64_t end) {
		    for (int64_t t = begin; t < end; t++)
			    fill_thread(out, layout, philox, t, step, put);
	    });
	if (!self.is_non_overlapping_and_dense())
		self.copy_(flat.view(self.sizes()));
}

Tensor &uniform(Tensor &self, double from, double to, optional<at::Generator>)
{
	TORCH_CHECK(from <= to,
		    "uniform_ expects to return a [from, to) "
		    "range, but found from=",
		    from, " > to=", to);
	if (!self.numel())
		return self;
	AT_DISPATCH_FLOATING_TYPES_AND2(
	    at::kHalf, at::kBFloat16, self.scalar_type(), "uniform_", [&] {
		    using Wide = at::opmath_type<scalar_t>;
		    auto low = static_cast<scalar_t>(from);
		    auto high = static_cast<scalar_t>(to);
		    Wide range = (Wide)high - (Wide)low;

		    fill<scalar_t>(self, uniform_step, [=](double x) {
			    auto y = static_cast<scalar_t>((Wide)x * range +
							   (Wide)low);

			    return y == high ? low : y;
		    });
	    });
	return self;
}

Tensor &normal(Tensor &self, double mean, double std, optional<at::Generator>)
{
	TORCH_CHECK(std >= 0, "normal expects std >= 0.0, but found std ", std);
	if (self.is_complex()) {
		Tensor parts = at::view_as_real(self);

		normal(parts, mean, std / std::sqrt(2.), std::nullopt);
		return self;
	}
	if (!self.numel())
		return self;
	AT_DISPATCH_FLOATING_TYPES_AND2(
	    at::kHalf, at::kBFloat16, self.scalar_type(), "normal_", [&] {
		    using Wide = at::opmath_type<scalar_t>;

		    fill<scalar_t>(self, normal_step, [=](double x) {
			    return static_cast<scalar_t>((Wide)x * (Wide)std +
							 (Wide)mean);
		    });
	    });
	return self;
}

} // namespace

Rows random_rows()
{
	return {
	    own_row<uniform>("uniform_", true),
	    own_row<normal>("normal_", true),
	};
}

} // namespace gpukit
