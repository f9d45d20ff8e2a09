/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_only_histogram.cpp - histc as CUDA has it: it also counts integers, and
 * its result has the type of its operand.
 */
#include "cuda_only.h"

#include <ATen/Dispatch.h>

#include <utility>

namespace gpukit
{
namespace
{

using at::Scalar;

/*
 * The lower end of the first bin and the upper end of the last bin. If the
 * given ends are equal, uses the range of the data.
 */
template <class T>
std::pair<T, T> find_ends(const Tensor &self, const Scalar &min,
			  const Scalar &max)
{
	T least = min.to<T>(), most = max.to<T>();

	if (least == most && self.numel()) {
		least = self.min().item<T>();
		most = self.max().item<T>();
	}
	if (least == most) {
		least = static_cast<T>(least - 1);
		most = static_cast<T>(most + 1);
	}
	TORCH_CHECK(least < most, "max must be larger than min");
	return {least, most};
}

template <class T>
Tensor count(const Tensor &self, int64_t bins, std::pair<T, T> ends)
{
	Tensor counts = at::zeros({bins}, self.options());
	Tensor flat = self.contiguous();
	T *of_bin = counts.mutable_data_ptr<T>();
	const T *values = flat.const_data_ptr<T>();
	auto width = static_cast<__int128>(ends.second) - ends.first;

	for (int64_t i = 0; i < flat.numel(); i++) {
		if (values[i] < ends.first || values[i] > ends.second)
			continue;
		auto above = static_cast<__int128>(values[i]) - ends.first;
		auto bin = static_cast<int64_t>(above * bins / width);

		of_bin[std::min(bin, bins - 1)]++;
	}
	return counts;
}

Tensor count_values(const Tensor &self, int64_t bins, const Scalar &min,
		    const Scalar &max)
{
	Tensor counts;

	if (!at::isIntegralType(self.scalar_type(), false))
		return at::histc(self, bins, min, max);
	TORCH_CHECK(bins > 0, "bins must be > 0");
	AT_DISPATCH_INTEGRAL_TYPES(self.scalar_type(), "histc", [&] {
		counts = count<scalar_t>(self, bins,
					 find_ends<scalar_t>(self, min, max));
	});
	return counts;
}

Tensor &count_values_out(const Tensor &self, int64_t bins, const Scalar &min,
			 const Scalar &max, Tensor &out)
{
	return fill_out(out, count_values(self, bins, min, max));
}

} // namespace

Rows histogram_rows()
{
	return {
	    own_row<count_values>("histc", true),
	    own_row<count_values_out>("histc.out", true),
	};
}

} // namespace gpukit
