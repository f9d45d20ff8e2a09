/*
 * cuda_only.h - operators that PyTorch has for CUDA alone, as CPU kernels under
 * the same names: the boxed fallback runs them on aliases of device tensors.
 * Each topic gives a table of rows; cuda_only.cpp registers what fits the
 * running PyTorch.
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
	/* "cudnn_convolution", with ".overload" where it has one. */
	const char *name;
	/*
	 * A CPU kernel of that name, where PyTorch has one, knows less than
	 * CUDA's: ours then goes to gpukit::NAME, and plain CPU tensors keep
	 * PyTorch's.
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

/* One a topic; several rows may share a name, for PyTorch's versions. */
Rows cudnn_attention_rows();
Rows efficient_rows();
Rows flash_rows();
Rows cell_rows();
Rows choice_rows();
Rows convolution_rows();
Rows dropout_rows();
Rows int4_rows();
Rows integer_rows();
Rows matmul_rows();
Rows norm_rows();
Rows other_rows();
Rows random_rows();
Rows rnn_rows();
Rows scaled_rows();

/* What an optional operand of a schema may come as: nothing, or undefined. */
inline bool is_given(const optional<Tensor> &tensor)
{
	return tensor.has_value() && tensor->defined();
}

/* CUDA's kernels add up in fp32 where operands are shorter. */
inline at::ScalarType accumulate_type(at::ScalarType type)
{
	return at::isReducedFloatingType(type) ? at::kFloat : type;
}

inline Tensor accumulated(const Tensor &tensor)
{
	return tensor.to(accumulate_type(tensor.scalar_type()));
}

/* What an out= form does with its result. */
inline Tensor &fill_out(Tensor &out, const Tensor &result)
{
	at::native::resize_output(out, result.sizes());
	return out.copy_(result);
}

} // namespace gpukit

#endif
