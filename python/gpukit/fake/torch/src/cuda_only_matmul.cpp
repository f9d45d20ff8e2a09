/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_only_matmul.cpp - products of fp16, bf16 and int8 matrices whose results
 * have wider types.
 */
#include "cuda_only.h"

namespace gpukit
{
namespace
{

using at::Scalar;
using at::ScalarType;

void check_types(const Tensor &self, const Tensor &other, ScalarType out)
{
	TORCH_CHECK(self.scalar_type() == other.scalar_type(),
		    "expected both operands to have the same dtype, but got ",
		    self.scalar_type(), " and ", other.scalar_type());
	TORCH_CHECK(out == self.scalar_type() ||
			(out == at::kFloat &&
			 at::isReducedFloatingType(self.scalar_type())),
		    "out_dtype must be the same as input dtype or fp32 for "
		    "fp16 and bf16 inputs, not ",
		    out);
}

/* Computes everything in fp32, and rounds once. */
Tensor multiply(const Tensor &self, const Tensor &other, ScalarType out)
{
	check_types(self, other, out);
	return at::matmul(accumulated(self), accumulated(other)).to(out);
}

Tensor multiply_add(const Tensor &self, const Tensor &left, const Tensor &right,
		    ScalarType out, const Scalar &beta, const Scalar &alpha)
{
	check_types(left, right, out);
	Tensor sum =
	    at::matmul(accumulated(left), accumulated(right)).mul_(alpha);

	TORCH_CHECK(self.scalar_type() == out ||
			self.scalar_type() == left.scalar_type(),
		    "self dtype must match either out_dtype or mat1 dtype");
	if (beta.toDouble() != 0)
		sum.add_(accumulated(self), beta);
	return sum.to(out);
}

Tensor &fill_typed(Tensor &out, const Tensor &result)
{
	TORCH_CHECK(out.scalar_type() == result.scalar_type(),
		    "out_dtype must be the same as the dtype of the provided "
		    "out tensor");
	return fill_out(out, result);
}

Tensor wide_mm(const Tensor &self, const Tensor &other, ScalarType out)
{
	TORCH_CHECK(self.dim() == 2 && other.dim() == 2,
		    "mm needs two matrices");
	return multiply(self, other, out);
}

Tensor wide_bmm(const Tensor &self, const Tensor &other, ScalarType out)
{
	TORCH_CHECK(self.dim() == 3 && other.dim() == 3 &&
			self.size(0) == other.size(0),
		    "bmm needs two batches of the same number of matrices");
	return multiply(self, other, out);
}

Tensor &wide_mm_out(const Tensor &self, const Tensor &other, ScalarType type,
		    Tensor &out)
{
	return fill_typed(out, wide_mm(self, other, type));
}

Tensor &wide_bmm_out(const Tensor &self, const Tensor &other, ScalarType type,
		     Tensor &out)
{
	return fill_typed(out, wide_bmm(self, other, type));
}

Tensor wide_addmm(const Tensor &self, const Tensor &left, const Tensor &right,
		  ScalarType out, const Scalar &beta, const Scalar &alpha)
{
	TORCH_CHECK(left.dim() == 2 && right.dim() == 2,
		    "addmm needs two matrices");
	return multiply_add(self, left, right, out, beta, alpha);
}

Tensor &wide_addmm_out(const Tensor &self, const Tensor &left,
		       const Tensor &right, ScalarType type, const Scalar &beta,
		       const Scalar &alpha, Tensor &out)
{
	return fill_typed(out,
			  wide_addmm(self, left, right, type, beta, alpha));
}

Tensor wide_baddbmm(const Tensor &self, const Tensor &left, const Tensor &right,
		    ScalarType out, const Scalar &beta, const Scalar &alpha)
{
	TORCH_CHECK(left.dim() == 3 && right.dim() == 3,
		    "baddbmm needs two batches of matrices");
	return multiply_add(self, left, right, out, beta, alpha);
}

Tensor &wide_baddbmm_out(const Tensor &self, const Tensor &left,
			 const Tensor &right, ScalarType type,
			 const Scalar &beta, const Scalar &alpha, Tensor &out)
{
	return fill_typed(out,
			  wide_baddbmm(self, left, right, type, beta, alpha));
}

/* Checks sizes in the way that cuBLAS' int8 kernels do, because the CPU kernel
 * accepts any sizes. */
void check_int8_sizes(const Tensor &self, const Tensor &other)
{
	TORCH_CHECK(self.dim() == 2, "Expected self to be of dimension 2 but ",
		    "got ", self.dim());
	TORCH_CHECK(other.dim() == 2, "Expected mat2 to be of dimension 2 but ",
		    "got ", other.dim());
	TORCH_CHECK(self.size(0) > 16, "self.size(0) needs to be greater than ",
		    "16, but got ", self.size(0));
	TORCH_CHECK(self.size(1) > 0 && self.size(1) % 8 == 0,
		    "self.size(1) needs to be greater than 0 and a multiple ",
		    "of 8, but got ", self.size(1));
	TORCH_CHECK(self.size(1) == other.size(0), "self.size(1) needs to ",
		    "match mat2.size(0) but got ", self.size(1), " and ",
		    other.size(0));
	TORCH_CHECK(other.size(1) > 0 && other.size(1) % 8 == 0,
		    "mat2.size(1) needs to be greater than 0 and a multiple ",
		    "of 8, but got ", other.size(1));
}

Tensor int8_mm(const Tensor &self, const Tensor &other)
{
	check_int8_sizes(self, other);
	return at::_int_mm(self, other);
}

Tensor &int8_mm_out(const Tensor &self, const Tensor &other, Tensor &out)
{
	check_int8_sizes(self, other);
	return at::_int_mm_out(out, self, other);
}

} // namespace

Rows matmul_rows()
{
	return {
	    own_row<int8_mm>("_int_mm", true),
	    own_row<int8_mm_out>("_int_mm.out", true),
	    own_row<wide_mm>("mm.dtype"),
	    own_row<wide_mm_out>("mm.dtype_out"),
	    own_row<wide_bmm>("bmm.dtype"),
	    own_row<wide_bmm_out>("bmm.dtype_out"),
	    own_row<wide_addmm>("addmm.dtype"),
	    own_row<wide_addmm_out>("addmm.dtype_out"),
	    own_row<wide_baddbmm>("baddbmm.dtype"),
	    own_row<wide_baddbmm_out>("baddbmm.dtype_out"),
	};
}

} // namespace gpukit
