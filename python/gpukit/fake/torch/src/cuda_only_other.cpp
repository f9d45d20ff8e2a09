/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_only_other.cpp - the other operators of cuDNN: grid samplers, CTC loss,
 * and the state of dropout.
 */
#include "cuda_only.h"

namespace gpukit
{
namespace
{

using at::IntArrayRef;
using Two = std::tuple<Tensor, Tensor>;

/* grid_sampler's codes for bilinear interpolation and for zero padding. */
enum { BILINEAR = 0, ZEROS = 0 };

Tensor affine_grid(const Tensor &theta, int64_t n, int64_t c, int64_t h,
		   int64_t w)
{
	return at::affine_grid_generator(theta, {n, c, h, w}, true);
}

Tensor affine_grid_backward(const Tensor &grad, int64_t n, int64_t c, int64_t h,
			    int64_t w)
{
	return at::affine_grid_generator_backward(grad, {n, c, h, w}, true);
}

Tensor sample_grid(const Tensor &self, const Tensor &grid)
{
	return at::grid_sampler_2d(self, grid, BILINEAR, ZEROS, true);
}

Two sample_grid_backward(const Tensor &self, const Tensor &grid,
			 const Tensor &grad)
{
	return at::grid_sampler_2d_backward(grad, self, grid, BILINEAR, ZEROS,
					    true, {true, true});
}

/* Returns false, so that ctc_loss uses PyTorch's own kernels. */
bool use_ctc(const Tensor &log_probs, const Tensor &targets,
	     IntArrayRef input_lengths, IntArrayRef target_lengths,
	     int64_t blank)
{
	(void)log_probs;
	(void)targets;
	(void)input_lengths;
	(void)target_lengths;
	(void)blank;
	return false;
}

bool use_ctc_tensor(const Tensor &log_probs, const Tensor &targets,
		    const Tensor &input_lengths, const Tensor &target_lengths,
		    int64_t blank)
{
	(void)input_lengths;
	(void)target_lengths;
	return use_ctc(log_probs, targets, {}, {}, blank);
}

/* Returns the loss and its derivative; autograd multiplies the derivative by
 * the incoming gradient. */
Two ctc_loss(const Tensor &log_probs, const Tensor &targets,
	     IntArrayRef input_lengths, IntArrayRef target_lengths,
	     int64_t blank, bool deterministic, bool zero_infinity)
{
	(void)deterministic;
	auto [loss, alpha] =
	    at::_ctc_loss(log_probs, targets, input_lengths, target_lengths,
			  blank, zero_infinity);
	Tensor grad = at::_ctc_loss_backward(
	    at::ones_like(loss), log_probs, targets, input_lengths,
	    target_lengths, loss, alpha, blank, zero_infinity);

	return {loss, grad};
}

std::vector<int64_t> read_numbers(const Tensor &tensor)
{
	Tensor wide = tensor.to(at::kLong).contiguous();
	const int64_t *first = wide.const_data_ptr<int64_t>();

	return {first, first + wide.numel()};
}

Two ctc_loss_tensor(const Tensor &log_probs, const Tensor &targets,
		    const Tensor &input_lengths, const Tensor &target_lengths,
		    int64_t blank, bool deterministic, bool zero_infinity)
{
	return ctc_loss(log_probs, targets, read_numbers(input_lengths),
			read_numbers(target_lengths), blank, deterministic,
			zero_infinity);
}

} // namespace

Rows other_rows()
{
	return {
	    own_row<affine_grid>("cudnn_affine_grid_generator"),
	    own_row<affine_grid_backward>(
		"cudnn_affine_grid_generator_backward"),
	    own_row<sample_grid>("cudnn_grid_sampler"),
	    own_row<sample_grid_backward>("cudnn_grid_sampler_backward"),
	    own_row<use_ctc>("_use_cudnn_ctc_loss"),
	    own_row<use_ctc_tensor>("_use_cudnn_ctc_loss.Tensor"),
	    own_row<use_ctc>("_use_miopen_ctc_loss"),
	    own_row<use_ctc_tensor>("_use_miopen_ctc_loss.Tensor"),
	    own_row<ctc_loss>("_cudnn_ctc_loss"),
	    own_row<ctc_loss_tensor>("_cudnn_ctc_loss.Tensor"),
	};
}

} // namespace gpukit
