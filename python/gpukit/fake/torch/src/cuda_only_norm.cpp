/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_only_norm.cpp - cuDNN's batch norm, the parts of SyncBatchNorm, and the
 * backward pass of RMS norm. Statistics of operands shorter than fp32 are
 * computed in fp32.
 */
#include "cuda_only.h"

#include <array>

namespace gpukit
{
namespace
{

using Two = std::tuple<Tensor, Tensor>;
using Three = std::tuple<Tensor, Tensor, Tensor>;
using Four = std::tuple<Tensor, Tensor, Tensor, Tensor>;

/* Shapes a tensor with one value per channel so that it broadcasts over the
 * operand. */
Tensor by_channel(const Tensor &values, const Tensor &like)
{
	std::vector<int64_t> shape(like.dim(), 1);

	shape[1] = -1;
	return accumulated(values).reshape(shape);
}

std::vector<int64_t> other_dims(const Tensor &tensor)
{
	std::vector<int64_t> dims = {0};

	for (int64_t dim = 2; dim < tensor.dim(); dim++)
		dims.push_back(dim);
	return dims;
}

Tensor sum_channels(const Tensor &tensor)
{
	return tensor.sum(other_dims(tensor));
}

Tensor like_operand(const Tensor &wide, const Tensor &operand)
{
	return wide.to(operand.scalar_type())
	    .contiguous(operand.suggest_memory_format());
}

/* cuDNN does not update statistics when not training. */
Four cudnn_forward(const Tensor &input, const Tensor &weight,
		   const optional<Tensor> &bias,
		   const optional<Tensor> &running_mean,
		   const optional<Tensor> &running_var, bool training,
		   double momentum, double eps)
{
	auto [out, mean, invstd] =
	    at::native_batch_norm(input, weight, bias, running_mean,
				  running_var, training, momentum, eps);
	auto kept = weight.options();
	Tensor reserve = at::empty({0}, input.options().dtype(at::kByte));

	if (!training)
		return {like_operand(out, input), at::empty({0}, kept),
			at::empty({0}, kept), reserve};
	return {like_operand(out, input), mean.to(kept), invstd.to(kept),
		reserve};
}

std::tuple<Tensor &, Tensor &, Tensor &, Tensor &> cudnn_forward_out(
    const Tensor &input, const Tensor &weight, const optional<Tensor> &bias,
    const optional<Tensor> &running_mean, const optional<Tensor> &running_var,
    bool training, double momentum, double eps, Tensor &out, Tensor &mean,
    Tensor &invstd, Tensor &reserve)
{
	auto result = cudnn_forward(input, weight, bias, running_mean,
				    running_var, training, momentum, eps);

	return {fill_out(out, std::get<0>(result)),
		fill_out(mean, std::get<1>(result)),
		fill_out(invstd, std::get<2>(result)),
		fill_out(reserve, std::get<3>(result))};
}

Three cudnn_backward(const Tensor &input, const Tensor &grad_out,
		     const Tensor &weight, const optional<Tensor> &running_mean,
		     const optional<Tensor> &running_var,
		     const optional<Tensor> &mean,
		     const optional<Tensor> &invstd, double eps,
		     const Tensor &reserve)
{
	(void)reserve;
	auto [grad, grad_weight, grad_bias] = at::native_batch_norm_backward(
	    grad_out, input, weight, running_mean, running_var, mean, invstd,
	    true, eps, {true, true, true});

	return {like_operand(grad, input), grad_weight, grad_bias};
}

Two batch_stats(const Tensor &input, double eps)
{
	Tensor wide = accumulated(input);
	auto dims = other_dims(input);
	Tensor mean = wide.mean(dims);
	Tensor var = wide.var(dims, false);

	return {mean, (var + eps).rsqrt_()};
}

Tensor batch_elemt(const Tensor &input, const optional<Tensor> &weight,
		   const optional<Tensor> &bias, const Tensor &mean,
		   const Tensor &invstd, double eps)
{
	Tensor wide = (accumulated(input) - by_channel(mean, input)) *
		      by_channel(invstd, input);

	(void)eps;
	if (is_given(weight))
		wide.mul_(by_channel(*weight, input));
	if (is_given(bias))
		wide.add_(by_channel(*bias, input));
	return like_operand(wide, input);
}

Tensor &batch_elemt_out(const Tensor &input, const optional<Tensor> &weight,
			const optional<Tensor> &bias, const Tensor &mean,
			const Tensor &invstd, double eps, Tensor &out)
{
	return fill_out(out,
			batch_elemt(input, weight, bias, mean, invstd, eps));
}

void update_running(const optional<Tensor> &running, const Tensor &value,
		    double momentum)
{
	if (is_given(running))
		running->mul_(1 - momentum)
		    .add_(value.to(running->options()), momentum);
}

/* mean and invstd have the shape (ranks, channels); counts has the number of
 * values of each rank. */
Two gather_with_counts(const Tensor &input, const Tensor &mean,
		       const Tensor &invstd,
		       const optional<Tensor> &running_mean,
		       const optional<Tensor> &running_var, double momentum,
		       double eps, const Tensor &counts)
{
	auto type = accumulate_type(input.scalar_type());
	Tensor means = mean.to(type);
	Tensor weights = counts.to(type).view({-1, 1});
	Tensor total = weights.sum();
	Tensor center = (means * weights).sum(0) / total;
	Tensor vars = invstd.to(type).pow(-2) - eps;
	Tensor squares = ((vars + (means - center).square()) * weights).sum(0);

	update_running(running_mean, center, momentum);
	update_running(running_var, squares / (total - 1), momentum);
	return {center, (squares / total + eps).rsqrt_()};
}

Two gather_stats(const Tensor &input, const Tensor &mean, const Tensor &invstd,
		 const optional<Tensor> &running_mean,
		 const optional<Tensor> &running_var, double momentum,
		 double eps, int64_t count)
{
	return gather_with_counts(input, mean, invstd, running_mean,
				  running_var, momentum, eps,
				  at::full({mean.size(0)}, count, at::kDouble));
}

Four backward_reduce(const Tensor &grad_out, const Tensor &input,
		     const Tensor &mean, const Tensor &invstd,
		     const optional<Tensor> &weight, bool input_g,
		     bool weight_g, bool bias_g)
{
	Tensor grad = accumulated(grad_out);
	Tensor centered = accumulated(input) - by_channel(mean, input);
	Tensor sum = sum_channels(grad);
	Tensor product = sum_channels(grad * centered);
	auto narrow = [&](const Tensor &value) {
		return is_given(weight) ? value.to(weight->scalar_type())
					: value;
	};

	return {input_g ? sum : Tensor(), input_g ? product : Tensor(),
		weight_g ? narrow(product * invstd) : Tensor(),
		bias_g ? narrow(sum) : Tensor()};
}

Tensor backward_elemt(const Tensor &grad_out, const Tensor &input,
		      const Tensor &mean, const Tensor &invstd,
		      const optional<Tensor> &weight, const Tensor &sum,
		      const Tensor &product, const Tensor &count)
{
	auto type = accumulate_type(input.scalar_type());
	Tensor total = count.sum().to(type);
	Tensor inverse = invstd.to(type);
	Tensor slope = product.to(type) / total * inverse.square();
	Tensor grad = accumulated(grad_out) -
		      by_channel(sum.to(type) / total, input) -
		      (accumulated(input) - by_channel(mean, input)) *
			  by_channel(slope, input);

	grad.mul_(by_channel(inverse, input));
	if (is_given(weight))
		grad.mul_(by_channel(*weight, input));
	return like_operand(grad, input);
}

/* y = x * rstd * weight. There is one rstd for each normalized part. */
Two rms_backward(const Tensor &grad_out, const Tensor &input,
		 at::IntArrayRef shape, const Tensor &rstd,
		 const optional<Tensor> &weight, std::array<bool, 2> wanted)
{
	Tensor grad = accumulated(grad_out), wide = accumulated(input);
	Tensor normal = wide * accumulated(rstd);
	std::vector<int64_t> inner, outer;
	Tensor grad_input, grad_weight;

	for (int64_t dim = 0; dim < input.dim(); dim++)
		(dim < input.dim() - (int64_t)shape.size() ? outer : inner)
		    .push_back(dim);
	if (wanted[1] && is_given(weight))
		grad_weight =
		    (outer.empty() ? grad * normal : (grad * normal).sum(outer))
			.to(weight->scalar_type());
	if (!wanted[0])
		return {grad_input, grad_weight};
	if (is_given(weight))
		grad = grad * accumulated(*weight);
	grad_input = (grad - normal * (grad * normal).mean(inner, true)) *
		     accumulated(rstd);
	return {grad_input.to(input.scalar_type()), grad_weight};
}

} // namespace

Rows norm_rows()
{
	return {
	    own_row<cudnn_forward>("cudnn_batch_norm"),
	    own_row<cudnn_forward_out>("cudnn_batch_norm.out"),
	    own_row<cudnn_backward>("cudnn_batch_norm_backward"),
	    own_row<batch_stats>("batch_norm_stats"),
	    own_row<batch_elemt>("batch_norm_elemt"),
	    own_row<batch_elemt_out>("batch_norm_elemt.out"),
	    own_row<gather_stats>("batch_norm_gather_stats"),
	    own_row<gather_with_counts>("batch_norm_gather_stats_with_counts"),
	    own_row<backward_reduce>("batch_norm_backward_reduce"),
	    own_row<backward_elemt>("batch_norm_backward_elemt"),
	    own_row<rms_backward>("_fused_rms_norm_backward"),
	};
}

} // namespace gpukit
