/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_only_dropout.cpp - dropout in one pass, with the random numbers of
 * CUDA's kernels: native_dropout and its predecessor. The CPU form of
 * native_dropout would first round the scale to the operand's type.
 */
#include "cuda_only.h"
#include "distribution.h"

#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <torch/version.h>

namespace gpukit
{
namespace
{

/* Returns the elements of an operand in the order in which the kernel numbers
 * them. */
template <class T, class Kept> struct Dropped {
	using Wide = at::opmath_type<T>;

	const T *in;
	T *out;
	Kept *kept;
	int64_t count;
	Wide share, scale; /* share: the part of the elements that is kept */

	void put(int64_t at, float number) const
	{
		bool is_kept = number < share;

		if (at >= count)
			return;
		kept[at] = is_kept;
		out[at] = static_cast<T>((Wide)in[at] * (Wide)is_kept * scale);
	}
};

/* Drops elements like a kernel in which each thread handles four elements, one
 * grid of threads apart. */
template <class Row>
void drop_apart(const Row &row, const Grid &grid, int64_t first)
{
	float numbers[4][LANES];
	PhiloxLanes lanes;

	for (int64_t step = 0; step < grid.steps; step++) {
		int64_t at = first + 4 * step * grid.threads;

		if (at >= row.count)
			return;
		draw_lanes(grid.philox, first, step, &lanes);
		make_uniforms(lanes, 4, numbers);
		for (int i = 0; i < 4; i++)
			for (unsigned k = 0; k < LANES; k++)
				row.put(at + i * grid.threads + k,
					numbers[i][k]);
	}
}

/* Drops elements like a kernel in which each thread handles 2, 4 or 8 adjacent
 * elements. */
template <class Row>
void drop_together(const Row &row, const Grid &grid, int64_t first,
		   int64_t width)
{
	int64_t some = std::min<int64_t>(width, 4), draws = width / some;
	float numbers[4][LANES];
	PhiloxLanes lanes;

	for (int64_t draw = 0;; draw++) {
		int64_t at = (draw / draws * grid.threads + first) * width +
			     draw % draws * 4;

		if (at >= row.count)
			return;
		draw_lanes(grid.philox, first, draw, &lanes);
		make_uniforms(lanes, some, numbers);
		for (unsigned k = 0; k < LANES; k++)
			for (int64_t i = 0; i < some; i++)
				row.put(at + k * width + i, numbers[i][k]);
	}
}

/*
 * The number of elements that CUDA's kernel loads at once: 16 bytes or, in
 * older versions, four elements. It is smaller if the alignment or the number
 * of elements requires that.
 */
int64_t count_at_once(const Tensor &self)
{
	const bool by_bytes =
	    TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 7;
	int64_t size = self.element_size();
	int64_t width = by_bytes ? 16 / size : 4;
	auto address = reinterpret_cast<uintptr_t>(self.const_data_ptr());

	if (!self.is_non_overlapping_and_dense())
		return 1;
	while (width > 1 && (address % (width * size) || self.numel() % width))
		width /= 2;
	return width;
}

template <class T, class Kept>
void drop(const Tensor &in, Tensor &out, Tensor &mask, double share,
	  int64_t width)
{
	using Wide = at::opmath_type<T>;
	Dropped<T, Kept> row = {in.const_data_ptr<T>(),
				out.mutable_data_ptr<T>(),
				mask.mutable_data_ptr<Kept>(),
				in.numel(),
				(Wide)share,
				(Wide)(share > 0 ? 1.0 / (Wide)share : 0)};
	Grid grid(row.count, 4);

	each_lanes(grid, [&](int64_t first) {
		if (width == 1)
			drop_apart(row, grid, first);
		else
			drop_together(row, grid, first, width);
	});
}

/* Flattens a tensor, in memory order or in index order. The order must be the
 * same for all three tensors. */
Tensor flat(const Tensor &tensor, bool of_memory)
{
	return of_memory ? tensor.as_strided({tensor.numel()}, {1})
			 : tensor.contiguous().view(-1);
}

template <class Kept>
std::tuple<Tensor, Tensor> drop_out(const Tensor &self, double share)
{
	Tensor out = at::empty_like(self);
	Tensor mask =
	    at::empty_like(self, c10::CppTypeToScalarType<Kept>::value);
	int64_t width = count_at_once(self);
	bool of_memory = width > 1;

	if (!self.numel())
		return {self.clone(), mask};
	Tensor in = flat(self, of_memory), to = flat(out, of_memory),
	       kept = flat(mask, of_memory);
	AT_DISPATCH_FLOATING_TYPES_AND2(
	    at::kHalf, at::kBFloat16, self.scalar_type(), "dropout",
	    [&] { drop<scalar_t, Kept>(in, to, kept, share, width); });
	if (!to.is_alias_of(out))
		out.copy_(to.view(self.sizes()));
	if (!kept.is_alias_of(mask))
		mask.copy_(kept.view(self.sizes()));
	return {out, mask};
}

/* share: the part of the elements that is kept. The mask consists of bytes 0
 * and 1. */
std::tuple<Tensor, Tensor> fused_dropout(const Tensor &self, double share,
					 optional<at::Generator>)
{
	return drop_out<uint8_t>(self, share);
}

/* When not training, all elements are kept; with p = 1, none are. */
std::tuple<Tensor, Tensor> native_dropout(const Tensor &self, double p,
					  optional<bool> train)
{
	if (!train.value_or(true))
		return {self.clone(), at::ones_like(self, at::kBool)};
	if (p == 1)
		return {at::zeros_like(self), at::zeros_like(self, at::kBool)};
	return drop_out<bool>(self, 1 - p);
}

/* Use a tensor: a plain number would first be rounded to the operand's type. */
Tensor masked_scale(const Tensor &self, const Tensor &mask, double scale)
{
	return (self * mask.to(self.scalar_type()))
	    .mul_(at::scalar_tensor(scale, at::kDouble));
}

} // namespace

Rows dropout_rows()
{
	return {
	    own_row<native_dropout>("native_dropout", true),
	    own_row<fused_dropout>("_fused_dropout"),
	    own_row<masked_scale>("_masked_scale"),
	};
}

} // namespace gpukit
