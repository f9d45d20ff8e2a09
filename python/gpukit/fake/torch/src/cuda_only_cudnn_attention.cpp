/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_only_cudnn_attention.cpp - cuDNN's attention operators. A causal mask
 * starts in the upper left corner. attention.h explains the letters in shapes.
 */
#include "attention_batch.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace gpukit
{
namespace
{

struct Lengths {
	optional<Tensor> cum_q, cum_k, used_k, table;
	int64_t max_q, max_k;
};

/* The shape of query is B, H, M, D or, if cum_q is given, T, H, D. */
AttentionBatch make_batch(const Tensor &query, const Tensor &key,
			  const Tensor &value, const optional<Tensor> &bias,
			  const Lengths &lengths)
{
	AttentionBatch batch;
	bool is_packed = is_given(lengths.cum_q);

	batch.q = query;
	batch.k = key;
	batch.v = value;
	batch.starts_q = read_lengths(lengths.cum_q);
	batch.starts_k = read_lengths(lengths.cum_k);
	batch.used_k = read_lengths(lengths.used_k);
	if (is_given(lengths.table))
		batch.table = *lengths.table;
	batch.max_q = is_packed ? lengths.max_q : query.size(2);
	batch.max_k = is_packed ? lengths.max_k : key.size(2);
	TORCH_CHECK(!is_packed || !is_given(bias),
		    "packed sequences do not support a bias here");
	if (is_given(bias))
		batch.bias = bias->expand(
		    {query.size(0), query.size(1), query.size(2), key.size(2)});
	return batch;
}

AttentionRules make_rules(const Tensor &query, optional<double> scale,
			  double dropout_p, bool is_causal)
{
	AttentionRules rules;

	rules.scale = attention_scale(query, scale);
	rules.dropout_p = dropout_p;
	rules.right = is_causal ? 0 : -1;
	return rules;
}

/* Makes a result whose dimensions are in the same order in memory as those of
 * the query. */
Tensor make_out(const Tensor &query, int64_t head_size)
{
	std::vector<int64_t> order(query.dim()), sizes, back(query.dim());

	std::iota(order.begin(), order.end(), 0);
	std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
		return query.stride(a) > query.stride(b);
	});
	for (size_t i = 0; i < order.size(); i++) {
		sizes.push_back(order[i] == query.dim() - 1
				    ? head_size
				    : query.size(order[i]));
		back[order[i]] = i;
	}
	return at::empty(sizes, query.options()).permute(back);
}

/* The shape is B, H, M, 1 or, for packed sequences, H, T. */
Tensor make_logsumexp(const AttentionBatch &batch)
{
	auto type =
	    batch.q.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
	auto options = batch.q.options().dtype(type);

	if (batch.starts_q.empty())
		return at::empty(
		    {batch.q.size(0), batch.q.size(1), batch.q.size(2), 1},
		    options);
	return at::empty({batch.q.size(1), batch.q.size(0)}, options);
}

/* Removes the last dimension of size 1. Only some versions of PyTorch have
 * it. */
Tensor plain_logsumexp(const AttentionBatch &batch, const Tensor &lse)
{
	if (batch.starts_q.empty())
		return lse.view({lse.size(0), lse.size(1), lse.size(2)});
	return lse;
}

Tensor make_word(uint64_t word)
{
	return at::scalar_tensor((int64_t)word, at::kLong);
}

using SdpResult = std::tuple<Tensor, Tensor, Tensor, Tensor, SymInt, SymInt,
			     Tensor, Tensor, Tensor>;

SdpResult run_forward(AttentionBatch &batch, AttentionRules &rules,
		      const Lengths &lengths, bool wants_lse)
{
	Tensor lse = wants_lse ? make_logsumexp(batch) : Tensor();

	rules.philox = take_attention_numbers(batch, rules.dropout_p);
	Tensor out =
	    attend_batch(batch, rules, make_out(batch.q, batch.v.size(-1)),
			 wants_lse ? plain_logsumexp(batch, lse) : Tensor());
	return {out,
		lse,
		lengths.cum_q.value_or(Tensor()),
		lengths.cum_k.value_or(Tensor()),
		batch.max_q,
		batch.max_k,
		make_word(rules.philox.seed),
		make_word(rules.philox.offset),
		Tensor()};
}

void refuse_debug_mask(bool return_debug_mask)
{
	TORCH_CHECK(!return_debug_mask,
		    "return_debug_mask is not supported by a made-up GPU");
}

SdpResult cudnn_forward_paged(const Tensor &query, const Tensor &key,
			      const Tensor &value, const optional<Tensor> &bias,
			      const optional<Tensor> &cum_q,
			      const optional<Tensor> &cum_k, int64_t max_q,
			      int64_t max_k, bool wants_lse, double dropout_p,
			      bool is_causal, bool return_debug_mask,
			      optional<double> scale,
			      const optional<Tensor> &used_k,
			      const optional<Tensor> &table)
{
	Lengths lengths = {cum_q, cum_k, used_k, table, max_q, max_k};
	auto batch = make_batch(query, key, value, bias, lengths);
	auto rules = make_rules(query, scale, dropout_p, is_causal);

	refuse_debug_mask(return_debug_mask);
	return run_forward(batch, rules, lengths, wants_lse);
}

SdpResult cudnn_forward(const Tensor &query, const Tensor &key,
			const Tensor &value, const optional<Tensor> &bias,
			const optional<Tensor> &cum_q,
			const optional<Tensor> &cum_k, int64_t max_q,
			int64_t max_k, bool wants_lse, double dropout_p,
			bool is_causal, bool return_debug_mask,
			optional<double> scale)
{
	return cudnn_forward_paged(query, key, value, bias, cum_q, cum_k, max_q,
				   max_k, wants_lse, dropout_p, is_causal,
				   return_debug_mask, scale, std::nullopt,
				   std::nullopt);
}

Tensor cudnn_forward_inplace(Tensor &out, const Tensor &query,
			     const Tensor &key, const Tensor &value,
			     const Tensor &cum_q, const optional<Tensor> &cum_k,
			     int64_t max_q, int64_t max_k, bool is_causal,
			     optional<double> scale,
			     const optional<Tensor> &used_k,
			     const optional<Tensor> &table)
{
	auto result = cudnn_forward_paged(
	    query, key, value, std::nullopt, cum_q, cum_k, max_q, max_k, true,
	    0.0, is_causal, false, scale, used_k, table);

	out.copy_(std::get<0>(result));
	return std::get<1>(result);
}

std::tuple<Tensor, Tensor, Tensor>
cudnn_backward(const Tensor &grad_out, const Tensor &query, const Tensor &key,
	       const Tensor &value, const Tensor &out, const Tensor &lse,
	       const Tensor &seed, const Tensor &offset, const Tensor &bias,
	       const Tensor &cum_q, const Tensor &cum_k, int64_t max_q,
	       int64_t max_k, double dropout_p, bool is_causal,
	       optional<double> scale)
{
	if (!grad_out.defined())
		return {};
	auto batch = make_batch(
	    query, key, value, bias,
	    {cum_q, cum_k, std::nullopt, std::nullopt, max_q, max_k});
	auto rules = make_rules(query, scale, dropout_p, is_causal);
	AttentionGradients grad = {at::zeros_like(query), at::zeros_like(key),
				   at::zeros_like(value), Tensor()};

	if (dropout_p > 0)
		rules.philox = {(uint64_t)seed.item<int64_t>(),
				(uint64_t)offset.item<int64_t>()};
	attend_batch_backward(batch, rules, {out, plain_logsumexp(batch, lse)},
			      grad_out, grad);
	return {grad.q, grad.k, grad.v};
}

SdpResult sdp_cudnn(const Tensor &query, const Tensor &key, const Tensor &value,
		    const optional<Tensor> &bias, bool wants_lse,
		    double dropout_p, bool is_causal, bool return_debug_mask,
		    optional<double> scale)
{
	return cudnn_forward(query, key, value, bias, std::nullopt,
			     std::nullopt, query.size(2), key.size(2),
			     wants_lse, dropout_p, is_causal, return_debug_mask,
			     scale);
}

} // namespace

Rows cudnn_attention_rows()
{
	return {
	    own_row<cudnn_forward>("_cudnn_attention_forward"),
	    own_row<cudnn_forward_paged>("_cudnn_attention_forward"),
	    own_row<cudnn_forward_inplace>(
		"_cudnn_attention_forward_no_dropout_inplace"),
	    own_row<cudnn_backward>("_cudnn_attention_backward"),
	    own_row<sdp_cudnn>("_scaled_dot_product_cudnn_attention"),
	    own_row<cudnn_backward>(
		"_scaled_dot_product_cudnn_attention_backward"),
	};
}

} // namespace gpukit
