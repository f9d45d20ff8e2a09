/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_only_scaled.cpp - products of fp8 and fp4 matrices with scales. A scale
 * applies to a matrix, a row, or a block of values. Values and scales are
 * multiplied in fp32. The right operand is transposed, so that k is the last
 * dimension of both operands.
 */
#include "cuda_only.h"

#include <cstring>

namespace gpukit
{
namespace
{

using at::IntArrayRef;
using at::Scalar;
using at::ScalarType;
using at::TensorList;

/* The values of at::blas::ScalingType, which exists since PyTorch 2.10. */
enum Recipe { WHOLE, ROWS, BLOCK_16, BLOCK_32, BLOCK_128, BLOCK_128_128 };

/* The area to which one scale applies: a number of rows, and of values along
 * k. */
struct Cover {
	int64_t rows, columns;
};
const Cover covers[] = {{0, 0}, {1, 0}, {1, 16}, {1, 32}, {1, 128}, {128, 128}};

int64_t divide_up(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

/* Older versions of PyTorch lack constants for the newest types. */
bool has_type(const Tensor &tensor, const char *name)
{
	return !std::strcmp(c10::toString(tensor.scalar_type()), name);
}

bool is_fp4(const Tensor &tensor)
{
	return has_type(tensor, "Float4_e2m1fn_x2");
}

/* Each byte contains two values, the first one in its lower half. */
Tensor decode_fp4(const Tensor &tensor)
{
	Tensor values =
	    at::tensor({0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f, -0.0f,
			-0.5f, -1.0f, -1.5f, -2.0f, -3.0f, -4.0f, -6.0f});
	Tensor bytes = tensor.contiguous().view(at::kByte).to(at::kLong);
	Tensor both = at::stack(
	    {bytes.bitwise_and(15), bytes.bitwise_right_shift(4)}, -1);

	return values.index({both.flatten(-2)});
}

Tensor decode(const Tensor &tensor)
{
	return is_fp4(tensor) ? decode_fp4(tensor) : tensor.to(at::kFloat);
}

/* Unpacks scales that are stored in tiles. A tile has 128 rows and 4 columns;
 * in memory it has the shape 32 x 4 x 4. */
Tensor straighten(const Tensor &scale, int64_t rows, int64_t columns)
{
	int64_t high = divide_up(rows, 128), wide = divide_up(columns, 4);

	TORCH_CHECK(scale.numel() == high * wide * 512, "expected ",
		    high * wide * 512, " scales in tiles of 128 x 4, got ",
		    scale.numel());
	return scale.contiguous()
	    .view({high, wide, 32, 4, 4})
	    .permute({0, 3, 2, 1, 4})
	    .reshape({high * 128, wide * 4});
}

/* Expands scales to a matrix of the given size. */
Tensor spread(const Tensor &scale, Cover cover, int64_t rows, int64_t columns)
{
	return scale.repeat_interleave(cover.rows, 0)
	    .repeat_interleave(cover.columns, 1)
	    .narrow(0, 0, rows)
	    .narrow(1, 0, columns);
}

struct Scale {
	Tensor values;
	Recipe recipe;
	bool is_swizzled;
};

/* Expands a scale to the given size, or to a shape that broadcasts to it. */
Tensor expand_scale(const Scale &scale, int64_t rows, int64_t columns)
{
	Cover cover = covers[scale.recipe];
	Tensor values = scale.values;

	if (scale.recipe == WHOLE)
		return values.to(at::kFloat).reshape({1, 1});
	if (scale.recipe == ROWS)
		return values.to(at::kFloat).reshape({rows, 1});
	int64_t high = divide_up(rows, cover.rows);
	int64_t wide = divide_up(columns, cover.columns);
	if (scale.is_swizzled)
		values = straighten(values, high, wide);
	TORCH_CHECK(values.dim() == 2 && values.size(0) >= high &&
			values.size(1) >= wide,
		    "scales of ", values.sizes(), " don't cover a matrix of ",
		    rows, " x ", columns);
	return spread(values.to(at::kFloat), cover, rows, columns);
}

/* Determines to which area a scale applies, from its type and size. Used if no
 * recipe is given. */
Scale guess_scale(const Tensor &scale, int64_t rows, int64_t columns)
{
	if (scale.numel() == 1)
		return {scale, WHOLE, false};
	if (has_type(scale, "Float8_e8m0fnu"))
		return {scale, BLOCK_32, true};
	if (has_type(scale, "Float8_e4m3fn"))
		return {scale, BLOCK_16, true};
	TORCH_CHECK(scale.dim() == 2 && scale.scalar_type() == at::kFloat,
		    "Invalid scaling configuration: scales of ", scale.sizes(),
		    ", ", scale.scalar_type());
	if (scale.size(0) == rows && scale.size(1) == 1)
		return {scale, ROWS, false};
	if (scale.size(0) == rows && scale.size(1) == divide_up(columns, 128))
		return {scale, BLOCK_128, false};
	TORCH_CHECK(scale.size(0) == divide_up(rows, 128) &&
			scale.size(1) == divide_up(columns, 128),
		    "Invalid scaling configuration: scales of ", scale.sizes(),
		    " for a matrix of ", rows, " x ", columns);
	return {scale, BLOCK_128_128, false};
}

/* Returns the scale of the right operand, whose shape is k, n. */
Tensor turn_scale(const Tensor &scale)
{
	return scale.dim() == 2 ? scale.t() : scale;
}

/* Results in fp8 are limited to its range, as in cuBLAS. */
Tensor narrow_result(const Tensor &wide, ScalarType type)
{
	double most = type == at::kFloat8_e4m3fn ? 448
		      : type == at::kFloat8_e5m2 ? 57344
						 : 0;

	return (most > 0 ? wide.clamp(-most, most) : wide).to(type);
}

void check_operands(const Tensor &self, const Tensor &mat2)
{
	TORCH_CHECK(self.dim() == 2 && mat2.dim() == 2,
		    "Inputs must be 2D but got self.dim()=", self.dim(),
		    " and mat2.dim()=", mat2.dim());
	TORCH_CHECK(self.size(1) == mat2.size(0),
		    "mat1 and mat2 shapes cannot be multiplied (", self.sizes(),
		    " and ", mat2.sizes(), ")");
	TORCH_CHECK(!self.numel() || self.stride(1) == 1,
		    "self must be row_major, got stride ", self.strides());
	TORCH_CHECK(!mat2.numel() || mat2.stride(0) == 1,
		    "mat2 must be col_major, got stride ", mat2.strides());
	TORCH_CHECK(self.size(1) % 16 == 0 && mat2.size(1) % 16 == 0,
		    "Expected self.size(1) and both dimensions of mat2 to be "
		    "divisible by 16, but got ",
		    self.sizes(), " and ", mat2.sizes());
}

Tensor add_bias(Tensor product, const optional<Tensor> &bias)
{
	return is_given(bias) ? product.add_(bias->to(at::kFloat)) : product;
}

Tensor scaled_mm(const Tensor &self, const Tensor &mat2, const Tensor &scale_a,
		 const Tensor &scale_b, const optional<Tensor> &bias,
		 const optional<Tensor> &scale_result, optional<ScalarType> out,
		 bool use_fast_accum)
{
	check_operands(self, mat2);
	Tensor left = decode(self), right = decode(mat2.t());
	int64_t k = left.size(1);
	Tensor by_left = expand_scale(guess_scale(scale_a, left.size(0), k),
				      left.size(0), k);
	Tensor by_right =
	    expand_scale(guess_scale(turn_scale(scale_b), right.size(0), k),
			 right.size(0), k);
	Tensor product =
	    add_bias(at::matmul(left * by_left, (right * by_right).t()), bias);
	ScalarType type = out.value_or(self.scalar_type());

	(void)use_fast_accum;
	if (is_given(scale_result) && at::isFloat8Type(type))
		product.mul_(scale_result->to(at::kFloat));
	return narrow_result(product, type);
}

Tensor &scaled_mm_out(const Tensor &self, const Tensor &mat2,
		      const Tensor &scale_a, const Tensor &scale_b,
		      const optional<Tensor> &bias,
		      const optional<Tensor> &scale_result,
		      optional<ScalarType> type, bool use_fast_accum,
		      Tensor &out)
{
	return fill_out(
	    out, scaled_mm(self, mat2, scale_a, scale_b, bias, scale_result,
			   type.value_or(out.scalar_type()), use_fast_accum));
}

/* Structured operators use another type for lists. */
using AnyList = const at::ITensorListRef &;

template <class List> std::vector<Tensor> copy_list(const List &list)
{
	return {list.begin(), list.end()};
}

struct Scales {
	std::vector<Tensor> values;
	IntArrayRef recipes, swizzles;
	bool is_right;
};

/* Combines scales of two levels by multiplying them. */
Tensor apply_scales(Tensor wide, const Scales &scales)
{
	TORCH_CHECK(scales.values.size() == scales.recipes.size(),
		    "each scale needs a recipe");
	for (size_t i = 0; i < scales.values.size(); i++) {
		bool is_swizzled =
		    i < scales.swizzles.size() && scales.swizzles[i];
		Tensor values = scales.values[i];

		TORCH_CHECK(scales.recipes[i] >= WHOLE &&
				scales.recipes[i] <= BLOCK_128_128,
			    "unknown recipe ", scales.recipes[i]);
		if (scales.is_right && !is_swizzled)
			values = turn_scale(values);
		wide = wide * expand_scale({values, (Recipe)scales.recipes[i],
					    is_swizzled},
					   wide.size(0), wide.size(1));
	}
	return wide;
}

Tensor multiply_scaled(const Tensor &self, const Tensor &mat2,
		       const Scales &left, const Scales &right)
{
	check_operands(self, mat2);
	return at::matmul(apply_scales(decode(self), left),
			  apply_scales(decode(mat2.t()), right).t());
}

template <class List>
Tensor scaled_mm_v2(const Tensor &self, const Tensor &mat2, List scale_a,
		    IntArrayRef recipe_a, IntArrayRef swizzle_a, List scale_b,
		    IntArrayRef recipe_b, IntArrayRef swizzle_b,
		    const optional<Tensor> &bias, optional<ScalarType> type,
		    IntArrayRef contraction_dim, bool use_fast_accum)
{
	(void)contraction_dim;
	(void)use_fast_accum;
	return narrow_result(
	    add_bias(multiply_scaled(
			 self, mat2,
			 {copy_list(scale_a), recipe_a, swizzle_a, false},
			 {copy_list(scale_b), recipe_b, swizzle_b, true}),
		     bias),
	    type.value_or(self.scalar_type()));
}

template <class List>
Tensor &scaled_mm_v2_out(const Tensor &self, const Tensor &mat2, List scale_a,
			 IntArrayRef recipe_a, IntArrayRef swizzle_a,
			 List scale_b, IntArrayRef recipe_b,
			 IntArrayRef swizzle_b, const optional<Tensor> &bias,
			 optional<ScalarType> type, IntArrayRef contraction_dim,
			 bool use_fast_accum, Tensor &out)
{
	return fill_out(
	    out, scaled_mm_v2<List>(self, mat2, scale_a, recipe_a, swizzle_a,
				    scale_b, recipe_b, swizzle_b, bias,
				    type.value_or(out.scalar_type()),
				    contraction_dim, use_fast_accum));
}

template <class List>
Tensor &scaled_addmm_out(const Tensor &self, const Tensor &mat1,
			 const Tensor &mat2, List scale_a, IntArrayRef recipe_a,
			 IntArrayRef swizzle_a, List scale_b,
			 IntArrayRef recipe_b, IntArrayRef swizzle_b,
			 IntArrayRef contraction_dim, const Scalar &beta,
			 const Scalar &alpha, bool use_fast_accum, Tensor &out)
{
	Tensor sum =
	    multiply_scaled(mat1, mat2,
			    {copy_list(scale_a), recipe_a, swizzle_a, false},
			    {copy_list(scale_b), recipe_b, swizzle_b, true})
		.mul_(alpha);

	(void)contraction_dim;
	(void)use_fast_accum;
	if (beta.toDouble() != 0)
		sum.add_(self.to(at::kFloat), beta);
	return fill_out(out, narrow_result(sum, out.scalar_type()));
}

/* Computes one product of a group. The shape of right is n, k. Each row has one
 * scale. */
struct Part {
	Tensor left, right, scale_left, scale_right, out;
};

void multiply_part(const Part &part)
{
	Tensor product =
	    at::matmul(part.left.to(at::kFloat), part.right.to(at::kFloat).t());

	product.mul_(part.scale_left.unsqueeze(1)).mul_(part.scale_right);
	part.out.copy_(product);
}

/* Returns a slice of a tensor along a dimension. */
Tensor between(const Tensor &tensor, int64_t dim, int64_t from, int64_t to)
{
	return tensor.narrow(dim, from, to - from);
}

/*
 * Returns the operands of product g. A tensor with two dimensions contains the
 * operands of all products, one after the other; those of product g begin at
 * `from` and end before `to`. A tensor with three dimensions contains one
 * matrix per product. The last two dimensions of right are n, k.
 */
Part take_part(const Tensor &left, const Tensor &right, const Tensor &by_left,
	       const Tensor &by_right, const Tensor &out, int64_t g,
	       int64_t from, int64_t to)
{
	bool flat_left = left.dim() == 2, flat_right = right.dim() == 2;
	int64_t m = left.size(-2), n = right.size(-2);

	if (flat_left && flat_right)
		return {between(left, 1, from, to), between(right, 1, from, to),
			by_left.narrow(0, g * m, m),
			by_right.narrow(0, g * n, n), out[g]};
	if (flat_left)
		return {between(left, 0, from, to), right[g],
			between(by_left, 0, from, to), by_right[g],
			between(out, 0, from, to)};
	if (flat_right)
		return {left[g], between(right, 0, from, to), by_left[g],
			between(by_right, 0, from, to),
			between(out, 1, from, to)};
	return {left[g], right[g], by_left[g], by_right[g], out[g]};
}

std::vector<int64_t> read_ends(const optional<Tensor> &ends)
{
	if (!is_given(ends))
		return {};
	Tensor wide = ends->to(at::kLong).contiguous();
	const int64_t *first = wide.const_data_ptr<int64_t>();

	return {first, first + wide.numel()};
}

std::vector<int64_t> result_sizes(const Tensor &left, const Tensor &right,
				  int64_t groups)
{
	if (left.dim() == 2 && right.dim() == 2)
		return {groups, left.size(0), right.size(0)};
	if (left.dim() == 3 && right.dim() == 3)
		return {groups, left.size(1), right.size(1)};
	return {left.size(-2), right.size(-2)};
}

Tensor multiply_groups(const Tensor &self, const Tensor &mat2,
		       const Tensor &scale_a, const Tensor &scale_b,
		       const optional<Tensor> &offs, ScalarType type)
{
	auto ends = read_ends(offs);
	Tensor right = mat2.transpose(-1, -2);
	bool is_batch = self.dim() == 3 && mat2.dim() == 3;
	int64_t groups = is_batch ? self.size(0) : (int64_t)ends.size();

	TORCH_CHECK(is_batch != is_given(offs),
		    "Have to provide offsets if there is a 2d matrix");
	TORCH_CHECK(scale_a.scalar_type() == at::kFloat &&
			scale_b.scalar_type() == at::kFloat,
		    "a made-up GPU supports only scales of rows in fp32 here, "
		    "not ",
		    scale_a.scalar_type());
	Tensor out = at::zeros(result_sizes(self, right, groups),
			       self.options().dtype(type));
	for (int64_t g = 0; g < groups; g++)
		multiply_part(take_part(self, right, scale_a, scale_b, out, g,
					g && !is_batch ? ends[g - 1] : 0,
					is_batch ? 0 : ends[g]));
	return out;
}

Tensor scaled_grouped_mm(const Tensor &self, const Tensor &mat2,
			 const Tensor &scale_a, const Tensor &scale_b,
			 const optional<Tensor> &offs,
			 const optional<Tensor> &bias,
			 const optional<Tensor> &scale_result,
			 optional<ScalarType> type, bool use_fast_accum)
{
	(void)use_fast_accum;
	TORCH_CHECK(!is_given(bias), "Bias not supported yet");
	TORCH_CHECK(!is_given(scale_result), "Scale result not supported yet");
	return multiply_groups(self, mat2, scale_a, scale_b, offs,
			       type.value_or(at::kBFloat16));
}

template <class List>
Tensor &scaled_grouped_mm_v2_out(
    const Tensor &self, const Tensor &mat2, List scale_a, IntArrayRef recipe_a,
    IntArrayRef swizzle_a, List scale_b, IntArrayRef recipe_b,
    IntArrayRef swizzle_b, const optional<Tensor> &offs,
    const optional<Tensor> &bias, optional<ScalarType> type,
    IntArrayRef contraction_dim, bool use_fast_accum, Tensor &out)
{
	(void)swizzle_a;
	(void)swizzle_b;
	(void)contraction_dim;
	(void)use_fast_accum;
	TORCH_CHECK(!is_given(bias), "Bias not supported yet");
	TORCH_CHECK(recipe_a.size() == 1 && recipe_b.size() == 1 &&
			recipe_a[0] == ROWS && recipe_b[0] == ROWS,
		    "a made-up GPU supports only scales of rows here");
	return fill_out(out, multiply_groups(self, mat2, copy_list(scale_a)[0],
					     copy_list(scale_b)[0], offs,
					     type.value_or(at::kBFloat16)));
}

} // namespace

Rows scaled_rows()
{
	return {
	    own_row<scaled_mm>("_scaled_mm", true),
	    own_row<scaled_mm_out>("_scaled_mm.out", true),
	    own_row<scaled_mm_v2<TensorList>>("_scaled_mm_v2", true),
	    own_row<scaled_mm_v2<AnyList>>("_scaled_mm_v2", true),
	    own_row<scaled_mm_v2_out<TensorList>>("_scaled_mm_v2.out", true),
	    own_row<scaled_mm_v2_out<AnyList>>("_scaled_mm_v2.out", true),
	    own_row<scaled_addmm_out<AnyList>>("_scaled_addmm.out"),
	    own_row<scaled_grouped_mm>("_scaled_grouped_mm"),
	    own_row<scaled_grouped_mm_v2_out<AnyList>>(
		"_scaled_grouped_mm_v2.out"),
	};
}

} // namespace gpukit
