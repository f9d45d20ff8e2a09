/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_only_random.cpp - random numbers of continuous distributions, with the
 * same results as CUDA's kernels. PyTorch's templates check arguments and make
 * iterators; our kernels are their template parameters.
 */
#include "cuda_only.h"
#include "distribution.h"
#include "draw.h"

#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/native/DistributionTemplates.h>

#include <cmath>

namespace gpukit
{
namespace
{

namespace templates = at::native::templates;

using at::TensorIteratorBase;
using OptionalGenerator = optional<at::Generator>;
/* The generator type for the templates. It is unused, because our kernels have
 * their own source of numbers. */
using NoGenerator = void;

/* Calls work(T(), Wide()). T is the type of the iterator's elements, Wide the
 * type in which to compute. */
template <class Work> void dispatch(TensorIteratorBase &iter, Work work)
{
	AT_DISPATCH_FLOATING_TYPES_AND2(
	    at::kHalf, at::kBFloat16, iter.dtype(), "distribution",
	    [&] { work(scalar_t(), at::opmath_type<scalar_t>()); });
}

template <class> struct UniformKernel {
	void operator()(TensorIteratorBase &iter, double from, double to,
			OptionalGenerator)
	{
		dispatch(iter, [&](auto t, auto wide) {
			using T = decltype(t);
			using Wide = decltype(wide);
			auto low = static_cast<T>(from);
			auto high = static_cast<T>(to);
			Wide range = static_cast<Wide>(high - low);

			/* maps (0, 1] to [from, to) */
			fill<T, Wide>(iter, make_uniforms, [=](Wide x) {
				auto y = static_cast<T>(x * range + (Wide)low);

				return y == high ? low : y;
			});
		});
	}
};

template <class> struct NormalKernel {
	void operator()(const at::TensorBase &self, double mean, double std,
			OptionalGenerator)
	{
		auto iter = at::TensorIterator::borrowing_nullary_op(self);

		dispatch(iter, [&](auto t, auto wide) {
			using T = decltype(t);
			using Wide = decltype(wide);

			fill<T, Wide>(iter, make_normals, [=](Wide x) {
				return static_cast<T>(x * (Wide)std +
						      (Wide)mean);
			});
		});
	}
};

template <class> struct LogNormalKernel {
	void operator()(TensorIteratorBase &iter, double mean, double std,
			OptionalGenerator)
	{
		dispatch(iter, [&](auto t, auto wide) {
			using T = decltype(t);
			using Wide = decltype(wide);

			fill<T, Wide>(iter, make_normals, [=](Wide x) {
				return static_cast<T>(
				    std::exp(x * (Wide)std + (Wide)mean));
			});
		});
	}
};

template <class> struct ExponentialKernel {
	void operator()(TensorIteratorBase &iter, double lambda,
			OptionalGenerator)
	{
		dispatch(iter, [&](auto t, auto wide) {
			using T = decltype(t);
			using Wide = decltype(wide);
			/* Never 0. */
			const Wide most =
			    -std::numeric_limits<Wide>::epsilon() / 2;

			fill<T, Wide>(iter, make_logarithms, [=](Wide log) {
				return static_cast<T>(Wide(-1) / (Wide)lambda *
						      std::min(log, most));
			});
		});
	}
};

template <class> struct CauchyKernel {
	void operator()(TensorIteratorBase &iter, double median, double sigma,
			OptionalGenerator)
	{
		dispatch(iter, [&](auto t, auto wide) {
			using T = decltype(t);
			using Wide = decltype(wide);
			/* CUDA limits the argument of the tangent of a float
			 * like this. */
			const Wide least =
			    sizeof(Wide) == 4
				? std::numeric_limits<Wide>::epsilon()
				: 0;

			fill<T, Wide>(iter, make_uniforms, [=](Wide x) {
				x = std::min(std::max(x, least), 1 - least);
				return static_cast<T>(
				    (Wide)median +
				    (Wide)sigma *
					std::tan((Wide)M_PI * (x - Wide(0.5))));
			});
		});
	}
};

/* Integer tensors are filled, too. */
template <class> struct GeometricKernel {
	template <class T, class Wide>
	static void run(TensorIteratorBase &iter, double p)
	{
		const Wide of_failure = std::log1p(-(Wide)p);

		fill<T, Wide>(iter, make_logarithms, [=](Wide log) {
			return static_cast<T>(std::ceil(log / of_failure));
		});
	}

	void operator()(TensorIteratorBase &iter, double p, OptionalGenerator)
	{
		AT_DISPATCH_ALL_TYPES_AND2(
		    at::kHalf, at::kBFloat16, iter.dtype(), "geometric_", [&] {
			    if (std::is_same_v<scalar_t, double>)
				    run<scalar_t, double>(iter, p);
			    else
				    run<scalar_t, float>(iter, p);
		    });
	}
};

Tensor &uniform(Tensor &self, double from, double to, OptionalGenerator g)
{
	return templates::uniform_impl_<UniformKernel, NoGenerator>(self, from,
								    to, g);
}

Tensor &normal(Tensor &self, double mean, double std, OptionalGenerator g)
{
	return templates::normal_impl_<NormalKernel, NoGenerator>(self, mean,
								  std, g);
}

Tensor &log_normal(Tensor &self, double mean, double std, OptionalGenerator g)
{
	return templates::log_normal_impl_<LogNormalKernel, NoGenerator>(
	    self, mean, std, g);
}

Tensor &exponential(Tensor &self, double lambda, OptionalGenerator g)
{
	return templates::exponential_impl_<ExponentialKernel, NoGenerator>(
	    self, lambda, g);
}

Tensor &cauchy(Tensor &self, double median, double sigma, OptionalGenerator g)
{
	return templates::cauchy_impl_<CauchyKernel, NoGenerator>(self, median,
								  sigma, g);
}

Tensor &geometric(Tensor &self, double p, OptionalGenerator g)
{
	return templates::geometric_impl_<GeometricKernel, NoGenerator>(self, p,
									g);
}

/* normal() where Mean and Std are tensors or numbers. */
template <class Mean, class Std>
Tensor normal_of(Mean mean, Std std, OptionalGenerator g)
{
	return templates::normal_impl<NormalKernel, NoGenerator>(mean, std, g);
}

template <class Mean, class Std>
Tensor &normal_out(Mean mean, Std std, OptionalGenerator g, Tensor &out)
{
	return templates::normal_out_impl<NormalKernel, NoGenerator>(out, mean,
								     std, g);
}

} // namespace

void draw_exponential(Tensor &self, double lambda)
{
	exponential(self, lambda, std::nullopt);
}

Rows random_rows()
{
	using Given = const Tensor &;

	return {
	    own_row<uniform>("uniform_", true),
	    own_row<normal>("normal_", true),
	    own_row<log_normal>("log_normal_", true),
	    own_row<exponential>("exponential_", true),
	    own_row<cauchy>("cauchy_", true),
	    own_row<geometric>("geometric_", true),
	    own_row<normal_of<Given, double>>("normal.Tensor_float", true),
	    own_row<normal_of<double, Given>>("normal.float_Tensor", true),
	    own_row<normal_of<Given, Given>>("normal.Tensor_Tensor", true),
	    own_row<normal_out<Given, double>>("normal.Tensor_float_out", true),
	    own_row<normal_out<double, Given>>("normal.float_Tensor_out", true),
	    own_row<normal_out<Given, Given>>("normal.Tensor_Tensor_out", true),
	};
}

} // namespace gpukit
