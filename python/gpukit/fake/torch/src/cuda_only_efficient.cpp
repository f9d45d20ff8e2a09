/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_only_efficient.cpp - the operators of memory-efficient attention. It
 * supports biases, head sizes and fp32, which FlashAttention does not support.
 * attention.h explains the letters in shapes.
 */
#include "attention_batch.h"

#include <array>
#include <limits>

namespace gpukit
{
namespace
{

const int64_t LSE_STEP = 32;
const int64_t BIAS_STEP = 16;

/* custom_mask_type in PyTorch's sdp_utils. */
enum { NO_MASK, CAUSAL_TOP_LEFT, CAUSAL_BOTTOM_RIGHT };

int64_t round_up(int64_t n, int64_t step)
{
	return (n + step - 1) / step * step;
}

AttentionRules make_rules(const Tensor &query, optional<double> scale,
			  double dropout_p, int64_t mask_type,
			  optional<int64_t> window)
{
	AttentionRules rules;

	TORCH_CHECK(mask_type >= NO_MASK && mask_type <= CAUSAL_BOTTOM_RIGHT,
		    "custom_mask_type must be 0, 1 or 2, not ", mask_type);
	rules.scale = attention_scale(query, scale);
	rules.dropout_p = dropout_p;
	if (mask_type != NO_MASK)
		rules.right = 0;
	rules.bottom_right = mask_type == CAUSAL_BOTTOM_RIGHT;
	if (window.value_or(0) > 0)
		rules.left = *window - 1;
	return rules;
}

struct Lengths {
	optional<Tensor> cum_q, cum_k, used_k;
	optional<int64_t> max_q, max_k;
};

/* The shape of query is B, M, H, D or, for packed sequences, 1, T, H, D. */
AttentionBatch make_batch(const Tensor &query, const Tensor &key,
			  const Tensor &value, const optional<Tensor> &bias,
			  const Lengths &lengths)
{
	AttentionBatch batch;
	bool is_packed = is_given(lengths.cum_q);
	auto turn = [&](const Tensor &tensor) {
		return is_packed ? tensor[0] : tensor.transpose(1, 2);
	};

	TORCH_CHECK(!is_packed || query.size(0) == 1,
		    "cu_seqlen only supports batch_size=1");
	batch.q = turn(query);
	batch.k = turn(key);
	batch.v = turn(value);
	batch.starts_q = read_lengths(lengths.cum_q);
	batch.starts_k = read_lengths(lengths.cum_k);
	batch.used_k = read_lengths(lengths.used_k);
	batch.max_q = is_packed ? lengths.max_q.value() : query.size(1);
	batch.max_k =
	    is_packed ? lengths.max_k.value_or(key.size(1)) : key.size(1);
	if (is_given(bias))
		batch.bias = bias->expand(
		    {query.size(0), query.size(2), query.size(1), key.size(1)});
	return batch;
}

/* Pads rows to whole blocks with infinity. The backward pass skips such
 * rows. */
Tensor make_logsumexp(const AttentionBatch &batch, bool is_wanted)
{
	bool is_packed = !batch.starts_q.empty();
	auto type =
	    batch.q.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
	int64_t count = is_packed ? batch.starts_q.size() - 1 : batch.q.size(0);

	return at::full({count, batch.q.size(1),
			 is_wanted ? round_up(batch.max_q, LSE_STEP) : 0},
			std::numeric_limits<double>::infinity(),
			batch.q.options().dtype(type));
}

Tensor make_word(uint64_t word)
{
	return at::scalar_tensor((int64_t)word, at::kLong);
}

std::tuple<Tensor, Tensor, Tensor, Tensor, SymInt, SymInt>
efficient_forward(const Tensor &query, const Tensor &key, const Tensor &value,
		  const optional<Tensor> &bias, const optional<Tensor> &cum_q,
		  const optional<Tensor> &cum_k, optional<int64_t> max_q,
		  optional<int64_t> max_k, double dropout_p, int64_t mask_type,
		  bool wants_lse, optional<double> scale,
		  const optional<Tensor> &used_k, optional<int64_t> window)
{
	auto rules = make_rules(query, scale, dropout_p, mask_type, window);
	auto batch = make_batch(query, key, value, bias,
				{cum_q, cum_k, used_k, max_q, max_k});
	Tensor lse = make_logsumexp(batch, wants_lse);
	Tensor out = at::empty(
	    {query.size(0), query.size(1), query.size(2), value.size(3)},
	    query.options());
	bool is_packed = !batch.starts_q.empty();

	rules.philox = take_attention_numbers(batch, dropout_p);
	Tensor result =
	    attend_batch(batch, rules, is_packed ? out[0] : out.transpose(1, 2),
			 wants_lse ? lse : Tensor());
	return {is_packed ? out : result.transpose(1, 2),
		lse,
		make_word(rules.philox.seed),
		make_word(rules.philox.offset),
		batch.max_q,
		batch.max_k};
}

/* is_shared: the gradients of q, k and v become parts of one tensor, which the
 * caller may return. */
AttentionGradients make_gradients(const AttentionBatch &batch, bool is_shared)
{
	auto like = [](const Tensor &tensor) {
		auto sizes = tensor.transpose(1, 2).sizes().vec();

		return at::empty(sizes, tensor.options()).transpose(1, 2);
	};

	if (!batch.starts_q.empty())
		return {at::zeros(batch.q.sizes(), batch.q.options()),
			at::zeros(batch.k.sizes(), batch.k.options()),
			at::zeros(batch.v.sizes(), batch.v.options()),
			Tensor()};
	if (!is_shared)
		return {like(batch.q), like(batch.k), like(batch.v), Tensor()};
	Tensor chunk = at::empty({batch.q.size(0), batch.q.size(2), 3,
				  batch.q.size(1), batch.q.size(3)},
				 batch.q.options());
	return {chunk.select(2, 0).transpose(1, 2),
		chunk.select(2, 1).transpose(1, 2),
		chunk.select(2, 2).transpose(1, 2), Tensor()};
}

/* Reduces the gradient to the size of the bias that was given. Rows start at
 * multiples of 16. */
Tensor shape_bias_gradient(const Tensor &grad, const Tensor &bias)
{
	auto sizes = bias.sizes().vec();
	int64_t last = sizes.back();

	sizes.back() = round_up(last, BIAS_STEP);
	Tensor shaped = at::empty(sizes, bias.options()).narrow(-1, 0, last);
	return shaped.copy_(at::sum_to(grad, bias.sizes()));
}

struct BackwardOptions {
	double dropout_p;
	int64_t mask_type;
	bool wants_bias, is_shared;
	optional<double> scale;
	optional<int64_t> window;
	Tensor seed, offset;
};

using FourTensors = std::tuple<Tensor, Tensor, Tensor, Tensor>;

/* Gives the gradients of packed sequences the shape 1, T, H, D again. */
Tensor turn_back(const AttentionBatch &batch, const Tensor &grad)
{
	return batch.starts_q.empty() ? grad.transpose(1, 2)
				      : grad.unsqueeze(0);
}

FourTensors run_backward(const AttentionBatch &batch, const Tensor &grad_out,
			 const Tensor &out, const Tensor &lse,
			 const optional<Tensor> &bias,
			 const BackwardOptions &how)
{
	auto rules = make_rules(batch.q, how.scale, how.dropout_p,
				how.mask_type, how.window);
	auto grad = make_gradients(batch, how.is_shared);
	auto turn = [&](const Tensor &tensor) {
		return batch.starts_q.empty() ? tensor.transpose(1, 2)
					      : tensor[0];
	};

	if (how.dropout_p > 0)
		rules.philox = {(uint64_t)how.seed.item<int64_t>(),
				(uint64_t)how.offset.item<int64_t>()};
	if (how.wants_bias)
		grad.bias = at::empty({batch.q.size(0), batch.q.size(1),
				       batch.q.size(2), batch.k.size(2)},
				      lse.options());
	attend_batch_backward(batch, rules, {turn(out), lse}, turn(grad_out),
			      grad);
	return {turn_back(batch, grad.q), turn_back(batch, grad.k),
		turn_back(batch, grad.v),
		how.wants_bias ? shape_bias_gradient(grad.bias, *bias)
			       : Tensor()};
}

FourTensors efficient_backward(
    const Tensor &grad_out, const Tensor &query, const Tensor &key,
    const Tensor &value, const optional<Tensor> &bias, const Tensor &out,
    const optional<Tensor> &cum_q, const optional<Tensor> &cum_k, int64_t max_q,
    int64_t max_k, const Tensor &lse, double dropout_p, const Tensor &seed,
    const Tensor &offset, int64_t mask_type, bool bias_requires_grad,
    optional<double> scale, optional<int64_t> num_splits,
    optional<int64_t> window, bool is_shared)
{
	if (!grad_out.defined())
		return {};
	(void)num_splits;
	auto batch = make_batch(query, key, value, bias,
				{cum_q, cum_k, std::nullopt, max_q, max_k});
	return run_backward(batch, grad_out, out, lse, bias,
			    {dropout_p, mask_type,
			     bias_requires_grad && is_given(bias), is_shared,
			     scale, window, seed, offset});
}

/* The shape of query is B, H, M, D. */
FourTensors sdp_efficient(const Tensor &query, const Tensor &key,
			  const Tensor &value, const optional<Tensor> &bias,
			  bool wants_lse, double dropout_p, bool is_causal,
			  optional<double> scale)
{
	auto [out, lse, seed, offset, max_q, max_k] = efficient_forward(
	    query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2),
	    bias, std::nullopt, std::nullopt, std::nullopt, std::nullopt,
	    dropout_p, is_causal ? CAUSAL_TOP_LEFT : NO_MASK, wants_lse, scale,
	    std::nullopt, std::nullopt);

	return {out.transpose(1, 2), lse, seed, offset};
}

FourTensors sdp_efficient_backward(const Tensor &grad_out, const Tensor &query,
				   const Tensor &key, const Tensor &value,
				   const Tensor &bias, const Tensor &out,
				   const Tensor &lse, const Tensor &seed,
				   const Tensor &offset, double dropout_p,
				   std::array<bool, 4> wanted, bool is_causal,
				   optional<double> scale)
{
	if (!grad_out.defined())
		return {};
	auto [q, k, v, grad_bias] = efficient_backward(
	    grad_out.transpose(1, 2), query.transpose(1, 2),
	    key.transpose(1, 2), value.transpose(1, 2), bias,
	    out.transpose(1, 2), std::nullopt, std::nullopt, query.size(2),
	    key.size(2), lse, dropout_p, seed, offset,
	    is_causal ? CAUSAL_TOP_LEFT : NO_MASK, wanted[3], scale,
	    std::nullopt, std::nullopt, false);

	return {q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2),
		grad_bias};
}

/* Fills in the numbers that dropout compares with p, so that callers can check
 * them. */
Tensor &fill_dropout_mask(Tensor &self, double dropout_p, int64_t seed,
			  int64_t offset)
{
	(void)dropout_p;
	TORCH_CHECK(self.is_contiguous() && self.scalar_type() == at::kFloat);
	fill_uniform(self.mutable_data_ptr<float>(), self.numel(),
		     {(uint64_t)seed, (uint64_t)offset}, 0);
	return self;
}

} // namespace

Rows efficient_rows()
{
	return {
	    own_row<efficient_forward>("_efficient_attention_forward"),
	    own_row<efficient_backward>("_efficient_attention_backward"),
	    own_row<sdp_efficient>("_scaled_dot_product_efficient_attention"),
	    own_row<sdp_efficient_backward>(
		"_scaled_dot_product_efficient_attention_backward"),
	    own_row<fill_dropout_mask>("_fill_mem_eff_dropout_mask_"),
	};
}

} // namespace gpukit
