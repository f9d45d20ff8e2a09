/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_only_cells.cpp - the fused cells of LSTM and GRU. nn.LSTM and nn.GRU use
 * them because cuDNN, which cannot be called, is reported as unavailable for
 * every tensor.
 */
#include "cuda_only.h"

namespace gpukit
{
namespace
{

using Two = std::tuple<Tensor, Tensor>;
using Three = std::tuple<Tensor, Tensor, Tensor>;
using Five = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>;

Tensor add_bias(const Tensor &gates, const optional<Tensor> &bias)
{
	Tensor wide = accumulated(gates);

	return is_given(bias) ? wide + accumulated(*bias) : wide;
}

/* The workspace keeps the gates i, f, g and o for the backward pass. */
Three lstm_cell(const Tensor &input_gates, const Tensor &hidden_gates,
		const Tensor &cx, const optional<Tensor> &input_bias,
		const optional<Tensor> &hidden_bias)
{
	auto type = input_gates.scalar_type();
	auto gates = (add_bias(input_gates, input_bias) +
		      add_bias(hidden_gates, hidden_bias))
			 .chunk(4, 1);
	Tensor i = gates[0].sigmoid(), f = gates[1].sigmoid();
	Tensor g = gates[2].tanh(), o = gates[3].sigmoid();
	Tensor cy = f * accumulated(cx) + i * g;

	return {(o * cy.tanh()).to(type), cy.to(type),
		at::cat({i, f, g, o}, 1).to(type)};
}

Three lstm_cell_backward(const optional<Tensor> &grad_hy,
			 const optional<Tensor> &grad_cy, const Tensor &cx,
			 const Tensor &cy, const Tensor &workspace,
			 bool has_bias)
{
	if (!is_given(grad_hy) && !is_given(grad_cy))
		return {};
	auto type = workspace.scalar_type();
	auto gates = accumulated(workspace).chunk(4, 1);
	const Tensor &i = gates[0], &f = gates[1], &g = gates[2], &o = gates[3];
	Tensor tanh = accumulated(cy).tanh();
	Tensor grad_h =
	    is_given(grad_hy) ? accumulated(*grad_hy) : at::zeros_like(tanh);
	Tensor grad_c = grad_h * o * (1 - tanh * tanh);
	if (is_given(grad_cy))
		grad_c = grad_c + accumulated(*grad_cy);
	Tensor grad_gates =
	    at::cat({grad_c * g * i * (1 - i),
		     grad_c * accumulated(cx) * f * (1 - f),
		     grad_c * i * (1 - g * g), grad_h * tanh * o * (1 - o)},
		    1)
		.to(type);

	return {grad_gates, (grad_c * f).to(type),
		has_bias ? grad_gates.sum(0) : Tensor()};
}

/* The workspace keeps r, z, n, hx and the hidden part of n. */
Two gru_cell(const Tensor &input_gates, const Tensor &hidden_gates,
	     const Tensor &hx, const optional<Tensor> &input_bias,
	     const optional<Tensor> &hidden_bias)
{
	auto type = input_gates.scalar_type();
	auto in = add_bias(input_gates, input_bias).chunk(3, 1);
	auto hidden = add_bias(hidden_gates, hidden_bias).chunk(3, 1);
	Tensor r = (in[0] + hidden[0]).sigmoid();
	Tensor z = (in[1] + hidden[1]).sigmoid();
	Tensor n = (in[2] + r * hidden[2]).tanh();
	Tensor h = accumulated(hx);

	return {(n + z * (h - n)).to(type),
		at::cat({r, z, n, h, hidden[2]}, 1).to(type)};
}

Five gru_cell_backward(const Tensor &grad_hy, const Tensor &workspace,
		       bool has_bias)
{
	auto type = workspace.scalar_type();
	auto kept = accumulated(workspace).chunk(5, 1);
	const Tensor &r = kept[0], &z = kept[1], &n = kept[2], &h = kept[3];
	Tensor grad = accumulated(grad_hy);
	Tensor grad_n = grad * (1 - z) * (1 - n * n);
	Tensor grad_r = grad_n * kept[4] * r * (1 - r);
	Tensor grad_z = grad * (h - n) * z * (1 - z);
	Tensor input = at::cat({grad_r, grad_z, grad_n}, 1).to(type);
	Tensor hidden = at::cat({grad_r, grad_z, grad_n * r}, 1).to(type);

	return {input, hidden, (grad * z).to(type),
		has_bias ? input.sum(0) : Tensor(),
		has_bias ? hidden.sum(0) : Tensor()};
}

bool is_acceptable_to_cudnn(const Tensor &tensor)
{
	(void)tensor;
	return false;
}

} // namespace

Rows cell_rows()
{
	return {
	    own_row<lstm_cell>("_thnn_fused_lstm_cell"),
	    own_row<lstm_cell_backward>("_thnn_fused_lstm_cell_backward_impl"),
	    own_row<gru_cell>("_thnn_fused_gru_cell"),
	    own_row<gru_cell_backward>("_thnn_fused_gru_cell_backward"),
	};
}

TORCH_LIBRARY_IMPL(aten, CUDA, library)
{
	library.impl("cudnn_is_acceptable", TORCH_FN(is_acceptable_to_cudnn));
}

} // namespace gpukit
