/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_only.h - operators that PyTorch has only for CUDA. They are implemented
 * as CPU kernels of the same names, which the boxed fallback runs on aliases of
 * device tensors. Each topic has a table of rows; cuda_only.cpp registers the
 * rows that fit the running PyTorch.
 */
#ifndef GPUKIT_TORCH_CUDA_ONLY_H
#define GPUKIT_TORCH_CUDA_ONLY_H

#include <ATen/ATen.h>
#include <ATen/native/Resize.h>
#include <ATen/core/op_registration/infer_schema.h>
#include <torch/library.h>

#include <vector>

namespace gpukit
{

using at::Tensor;
using c10::SymInt;
using std::optional;

struct Row {
	/* For example "cudnn_convolution". If there is an overload, ".overload"
	 * follows. */
	const char *name;
	/*
	 * Whether PyTorch's CPU kernel of this name exists but supports less
	 * than CUDA's. Our kernel is then named gpukit::NAME, and plain CPU
	 * tensors still use PyTorch's.
	 */
	bool beside_cpu;
	c10::FunctionSchema (*schema)();
	torch::CppFunction (*kernel)();
};

using Rows = std::vector<Row>;

template <auto *function> Row own_row(const char *name, bool beside_cpu = false)
{
	using Type = std::remove_pointer_t<decltype(function)>;

	return {name, beside_cpu,
		[] { return c10::inferFunctionSchemaFlattenedReturns<Type>(); },
		[] { return torch::CppFunction(TORCH_FN(function)); }};
}

/* One function per topic. Several rows may have the same name; they are for
 * different versions of PyTorch. */
Rows cudnn_attention_rows();
Rows efficient_rows();
Rows flash_rows();
Rows cell_rows();
Rows choice_rows();
Rows convolution_rows();
Rows dropout_rows();
Rows histogram_rows();
Rows int4_rows();
Rows integer_rows();
Rows matmul_rows();
Rows norm_rows();
Rows other_rows();
Rows random_rows();
Rows rnn_rows();
Rows scaled_rows();

/* Whether an optional operand was given: it may be nothing or an undefined
 * tensor. */
inline bool is_given(const optional<Tensor> &tensor)
{
	return tensor.has_value() && tensor->defined();
}

/* The type in which CUDA's kernels sum: fp32 for shorter operands. */
inline at::ScalarType accumulate_type(at::ScalarType type)
{
	return at::isReducedFloatingType(type) ? at::kFloat : type;
}

inline Tensor accumulated(const Tensor &tensor)
{
	return tensor.to(accumulate_type(tensor.scalar_type()));
}

/* Writes the result of an operator that has an out= argument. */
inline Tensor &fill_out(Tensor &out, const Tensor &result)
{
	at::native::resize_output(out, result.sizes());
	return out.copy_(result);
}

} // namespace gpukit

#endif
