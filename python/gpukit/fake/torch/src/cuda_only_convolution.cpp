/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_only_convolution.cpp - cuDNN's convolutions, depthwise convolutions, and
 * the backward pass of all convolutions. On CPUs without fp16 or bf16
 * instructions, PyTorch computes these types value by value, up to 30 times
 * slower. There we compute in fp32, the type in which CUDA's kernels sum.
 */
#include "cuda_only.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <array>

namespace gpukit
{
namespace
{

using at::IntArrayRef;
using at::ScalarType;

struct Geometry {
	std::vector<int64_t> stride, padding, dilation, output_padding;
	int64_t groups;
	bool is_transposed;
};

/* If only one value is given, it applies to all dimensions. */
std::vector<int64_t> spread(IntArrayRef values, const Tensor &weight)
{
	size_t dims = weight.dim() - 2;

	if (values.size() == 1)
		return std::vector<int64_t>(dims, values[0]);
	return values.vec();
}

Geometry plain_geometry(const Tensor &weight, IntArrayRef stride,
			IntArrayRef padding, IntArrayRef dilation,
			int64_t groups)
{
	return {spread(stride, weight),
		spread(padding, weight),
		spread(dilation, weight),
		std::vector<int64_t>(weight.dim() - 2, 0),
		groups,
		false};
}

/* Whether the result is channels-last. As in cuDNN, it is if either operand is,
 * except in fp64. */
at::MemoryFormat result_format(const Tensor &self, const Tensor &weight)
{
	auto last = weight.dim() == 4 ? at::MemoryFormat::ChannelsLast
				      : at::MemoryFormat::ChannelsLast3d;

	if (self.scalar_type() == at::kDouble || weight.dim() < 4 ||
	    weight.dim() > 5)
		return at::MemoryFormat::Contiguous;
	if (self.suggest_memory_format() == last ||
	    weight.suggest_memory_format() == last)
		return last;
	return at::MemoryFormat::Contiguous;
}

/* Calls a PyTorch function that reports whether oneDNN supports a type. */
bool ask_support(const char *name)
{
	auto op = c10::Dispatcher::singleton().findOp({name, ""});

	return op && op->hasSchema() && op->typed<bool()>().call();
}

bool has_instructions(ScalarType type)
{
	static const bool bf16 =
	    ask_support("mkldnn::_is_mkldnn_bf16_supported");
	static const bool fp16 =
	    ask_support("mkldnn::_is_mkldnn_fp16_supported");

	return type == at::kBFloat16 ? bf16 : type != at::kHalf || fp16;
}

/* The type in which to compute. For transposed convolutions, PyTorch's CPU
 * kernels sum in the type of the result and round at every step. */
ScalarType fast_type(ScalarType type, bool is_transposed)
{
	bool is_short = at::isReducedFloatingType(type);

	return has_instructions(type) && !(is_short && is_transposed)
		   ? type
		   : at::kFloat;
}

Tensor convolve(const Tensor &self, const Tensor &weight,
		const optional<Tensor> &bias, const Geometry &how)
{
	auto type = fast_type(self.scalar_type(), how.is_transposed);
	auto wide = is_given(bias) ? bias->to(type) : bias;

	return at::convolution(self.to(type), weight.to(type), wide, how.stride,
			       how.padding, how.dilation, how.is_transposed,
			       how.output_padding, how.groups)
	    .to(self.scalar_type());
}

Tensor convolve_like_cudnn(const Tensor &self, const Tensor &weight,
			   const optional<Tensor> &bias, const Geometry &how)
{
	return convolve(self, weight, bias, how)
	    .contiguous(result_format(self, weight));
}

Tensor cudnn(const Tensor &self, const Tensor &weight, IntArrayRef padding,
	     IntArrayRef stride, IntArrayRef dilation, int64_t groups,
	     bool benchmark, bool deterministic, bool allow_tf32)
{
	(void)benchmark;
	(void)deterministic;
	(void)allow_tf32;
	return convolve_like_cudnn(
	    self, weight, std::nullopt,
	    plain_geometry(weight, stride, padding, dilation, groups));
}

Tensor &cudnn_out(const Tensor &self, const Tensor &weight, IntArrayRef padding,
		  IntArrayRef stride, IntArrayRef dilation, int64_t groups,
		  bool benchmark, bool deterministic, bool allow_tf32,
		  Tensor &out)
{
	return fill_out(out,
			cudnn(self, weight, padding, stride, dilation, groups,
			      benchmark, deterministic, allow_tf32));
}

Tensor cudnn_transpose(const Tensor &self, const Tensor &weight,
		       IntArrayRef padding, IntArrayRef output_padding,
		       IntArrayRef stride, IntArrayRef dilation, int64_t groups,
		       bool benchmark, bool deterministic, bool allow_tf32)
{
	Geometry how =
	    plain_geometry(weight, stride, padding, dilation, groups);

	(void)benchmark;
	(void)deterministic;
	(void)allow_tf32;
	how.output_padding = spread(output_padding, weight);
	how.is_transposed = true;
	return convolve_like_cudnn(self, weight, std::nullopt, how);
}

Tensor cudnn_relu(const Tensor &self, const Tensor &weight,
		  const optional<Tensor> &bias, IntArrayRef stride,
		  IntArrayRef padding, IntArrayRef dilation, int64_t groups)
{
	return convolve_like_cudnn(
		   self, weight, bias,
		   plain_geometry(weight, stride, padding, dilation, groups))
	    .relu_();
}

Tensor cudnn_add_relu(const Tensor &self, const Tensor &weight, const Tensor &z,
		      const optional<at::Scalar> &alpha,
		      const optional<Tensor> &bias, IntArrayRef stride,
		      IntArrayRef padding, IntArrayRef dilation, int64_t groups)
{
	return convolve_like_cudnn(
		   self, weight, bias,
		   plain_geometry(weight, stride, padding, dilation, groups))
	    .add_(z, alpha.value_or(1))
	    .relu_();
}

std::tuple<Tensor, Tensor, Tensor>
backward(const Tensor &grad, const Tensor &input, const Tensor &weight,
	 at::OptionalIntArrayRef bias_sizes, IntArrayRef stride,
	 IntArrayRef padding, IntArrayRef dilation, bool is_transposed,
	 IntArrayRef output_padding, int64_t groups, std::array<bool, 3> wanted)
{
	auto type = input.scalar_type(), fast = fast_type(type, is_transposed);
	auto [of_input, of_weight, of_bias] = at::convolution_backward(
	    grad.to(fast), input.to(fast), weight.to(fast), bias_sizes, stride,
	    padding, dilation, is_transposed, output_padding, groups, wanted);
	auto narrow = [&](const Tensor &wide) {
		return wide.defined() ? wide.to(type) : wide;
	};

	return {narrow(of_input), narrow(of_weight), narrow(of_bias)};
}

/* A convolution with one filter per channel: the operand has as many groups as
 * channels. */
Tensor depthwise(const Tensor &self, const Tensor &weight, IntArrayRef kernel,
		 const optional<Tensor> &bias, IntArrayRef stride,
		 IntArrayRef padding, IntArrayRef dilation)
{
	TORCH_CHECK(weight.sizes().slice(2) == kernel, "kernel_size ", kernel,
		    " is not the weight's, ", weight.sizes().slice(2));
	return convolve(
	    self, weight, bias,
	    plain_geometry(weight, stride, padding, dilation, self.size(1)));
}

/* In PyTorch before 2.8, this result is const. */
using DepthwiseOut = c10::guts::infer_function_traits_t<
    at::_ops::_conv_depthwise2d_out::schema>::return_type;

DepthwiseOut depthwise_out(const Tensor &self, const Tensor &weight,
			   IntArrayRef kernel, const optional<Tensor> &bias,
			   IntArrayRef stride, IntArrayRef padding,
			   IntArrayRef dilation, DepthwiseOut out)
{
	Tensor place = out;

	fill_out(place, depthwise(self, weight, kernel, bias, stride, padding,
				  dilation));
	return out;
}

} // namespace

Rows convolution_rows()
{
	return {
	    own_row<cudnn>("cudnn_convolution"),
	    own_row<cudnn_out>("cudnn_convolution.out"),
	    own_row<cudnn_transpose>("cudnn_convolution_transpose"),
	    own_row<cudnn_relu>("cudnn_convolution_relu"),
	    own_row<cudnn_add_relu>("cudnn_convolution_add_relu"),
	    own_row<backward>("convolution_backward", true),
	    own_row<depthwise>("_conv_depthwise2d"),
	    own_row<depthwise_out>("_conv_depthwise2d.out"),
	    own_row<depthwise>("conv_depthwise3d"),
	};
}

} // namespace gpukit
