/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_only_flash.cpp - FlashAttention's operators. A diagonal mask ends in the
 * lower right corner, as in FlashAttention 2.1 and later. attention.h explains
 * the letters in shapes.
 */
#include "attention_batch.h"

#include <ATen/core/dispatch/Dispatcher.h>

namespace gpukit
{
namespace
{

/* Since PyTorch 2.7, seed and offset are one tensor with two values. */
bool has_rng_state()
{
	static const bool has = [] {
		auto op = c10::Dispatcher::singleton().findSchemaOrThrow(
		    "aten::_flash_attention_forward", "");

		return op.schema().returns()[2].name() == "rng_state";
	}();

	return has;
}

struct RandomState {
	Tensor first, second;
};

RandomState make_random_state(Philox philox)
{
	auto type = has_rng_state() ? at::kUInt64 : at::kLong;
	uint64_t words[2] = {philox.seed, philox.offset};

	if (has_rng_state())
		return {at::from_blob(words, {2}, type).clone(),
			at::zeros({}, type)};
	return {at::from_blob(&words[0], {}, type).clone(),
		at::from_blob(&words[1], {}, type).clone()};
}

Philox read_random_state(const Tensor &first, const Tensor &second)
{
	const uint64_t *seed = (const uint64_t *)first.const_data_ptr();

	if (first.numel() == 2)
		return {seed[0], seed[1]};
	return {seed[0], *(const uint64_t *)second.const_data_ptr()};
}

/* A window whose size is -1 or not given has no limit. */
AttentionRules make_rules(const Tensor &query, optional<double> scale,
			  double dropout_p, bool is_causal,
			  optional<int64_t> left, optional<int64_t> right)
{
	AttentionRules rules;

	rules.scale = attention_scale(query, scale);
	rules.dropout_p = dropout_p;
	rules.left = left.value_or(-1);
	rules.right = is_causal ? 0 : right.value_or(-1);
	rules.bottom_right = true;
	return rules;
}

/* The shape of query is B, M, H, D or, if cum_q is given, T, H, D. */
AttentionBatch make_batch(const Tensor &query, const Tensor &key,
			  const Tensor &value, const optional<Tensor> &cum_q,
			  const optional<Tensor> &cum_k, int64_t max_q,
			  int64_t max_k)
{
	AttentionBatch batch;
	bool is_packed = is_given(cum_q);

	batch.q = is_packed ? query : query.transpose(1, 2);
	batch.starts_q = read_lengths(cum_q);
	if (is_given(cum_k) || is_packed) {
		batch.k = key;
		batch.v = value;
		batch.starts_k = read_lengths(cum_k);
	} else {
		batch.k = key.transpose(1, 2);
		batch.v = value.transpose(1, 2);
	}
	batch.max_q = is_packed ? max_q : query.size(1);
	batch.max_k = is_packed ? max_k : key.size(1);
	return batch;
}

Tensor make_logsumexp(const AttentionBatch &batch)
{
	auto options = batch.q.options().dtype(
	    batch.q.scalar_type() == at::kDouble ? at::kDouble : at::kFloat);
	int64_t heads = batch.q.size(1);

	if (batch.starts_q.empty())
		return at::empty({batch.q.size(0), heads, batch.max_q},
				 options);
	if (has_rng_state())
		return at::empty({heads, batch.q.size(0)}, options);
	return at::full(
	    {(int64_t)batch.starts_q.size() - 1, heads, batch.max_q},
	    std::numeric_limits<double>::infinity(), options);
}

void refuse_debug_mask(bool return_debug_mask)
{
	TORCH_CHECK(!return_debug_mask,
		    "return_debug_mask is not supported by a made-up GPU");
}

using FlashResult = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>;

FlashResult run_flash(AttentionBatch &batch, AttentionRules &rules,
		      const Tensor &out)
{
	bool is_packed = !batch.starts_q.empty();
	Tensor lse = make_logsumexp(batch);

	rules.philox = take_attention_numbers(batch, rules.dropout_p);
	Tensor result = attend_batch(
	    batch, rules, is_packed ? out : out.transpose(1, 2), lse);
	RandomState state = make_random_state(rules.philox);

	return {is_packed ? result : result.transpose(1, 2), lse, state.first,
		state.second, at::empty({0}, out.options())};
}

struct FlashExtras {
	optional<Tensor> used_k, slopes, table;
};

void add_extras(AttentionBatch &batch, const FlashExtras &extras)
{
	batch.used_k = read_lengths(extras.used_k);
	if (is_given(extras.slopes))
		batch.slopes = *extras.slopes;
	if (is_given(extras.table))
		batch.table = *extras.table;
}

FlashResult flash_forward(const Tensor &query, const Tensor &key,
			  const Tensor &value, const optional<Tensor> &cum_q,
			  const optional<Tensor> &cum_k, int64_t max_q,
			  int64_t max_k, double dropout_p, bool is_causal,
			  bool return_debug_mask, optional<double> scale,
			  optional<int64_t> left, optional<int64_t> right,
			  const optional<Tensor> &used_k,
			  const optional<Tensor> &slopes)
{
	refuse_debug_mask(return_debug_mask);
	auto rules =
	    make_rules(query, scale, dropout_p, is_causal, left, right);
	auto batch = make_batch(query, key, value, cum_q, cum_k, max_q, max_k);

	add_extras(batch, {used_k, slopes, std::nullopt});
	return run_flash(batch, rules, at::empty_like(query));
}

FlashResult flash_forward_paged(
    const Tensor &query, const Tensor &key, const Tensor &value,
    const optional<Tensor> &cum_q, const optional<Tensor> &cum_k, int64_t max_q,
    int64_t max_k, double dropout_p, bool is_causal, bool return_debug_mask,
    optional<double> scale, optional<int64_t> left, optional<int64_t> right,
    const optional<Tensor> &used_k, const optional<Tensor> &slopes,
    const optional<Tensor> &table, optional<int64_t> num_splits)
{
	refuse_debug_mask(return_debug_mask);
	auto rules =
	    make_rules(query, scale, dropout_p, is_causal, left, right);
	auto batch = make_batch(query, key, value, cum_q, cum_k, max_q, max_k);

	(void)num_splits;
	add_extras(batch, {used_k, slopes, table});
	return run_flash(batch, rules, at::empty_like(query));
}

/* scale has one value for all heads, or one for each sequence and each head of
 * the keys. */
Tensor decode_heads(const Tensor &tensor, const optional<Tensor> &scale,
		    const optional<Tensor> &cum)
{
	Tensor wide = tensor.to(at::kFloat);

	if (!is_given(scale))
		return wide;
	if (scale->numel() == 1)
		return wide * *scale;
	int64_t group = tensor.size(-2) / scale->size(1);
	Tensor heads = scale->repeat_interleave(group, 1);
	if (!is_given(cum))
		return wide * heads.unsqueeze(1).unsqueeze(-1);
	return wide * heads.repeat_interleave(cum->to(at::kLong).diff(), 0)
			  .unsqueeze(-1);
}

/* Computes attention of operands in fp8. The result is in bf16. */
FlashResult flash_forward_quantized(
    const Tensor &query, const Tensor &key, const Tensor &value,
    const optional<Tensor> &cum_q, const optional<Tensor> &cum_k, int64_t max_q,
    int64_t max_k, double dropout_p, bool is_causal, bool return_debug_mask,
    const optional<Tensor> &scale_q, const optional<Tensor> &scale_k,
    const optional<Tensor> &scale_v, optional<double> scale,
    optional<int64_t> left, optional<int64_t> right,
    const optional<Tensor> &used_k, const optional<Tensor> &slopes)
{
	auto result =
	    flash_forward(decode_heads(query, scale_q, cum_q),
			  decode_heads(key, scale_k, cum_k),
			  decode_heads(value, scale_v, cum_k), cum_q, cum_k,
			  max_q, max_k, dropout_p, is_causal, return_debug_mask,
			  scale, left, right, used_k, slopes);

	std::get<0>(result) = std::get<0>(result).to(at::kBFloat16);
	return result;
}

Tensor flash_forward_inplace(
    Tensor &out, const Tensor &query, const Tensor &key, const Tensor &value,
    const optional<Tensor> &cum_q, const optional<Tensor> &cum_k, int64_t max_q,
    int64_t max_k, double dropout_p, bool is_causal, bool return_debug_mask,
    optional<double> scale, optional<int64_t> left, optional<int64_t> right,
    const optional<Tensor> &used_k, const optional<Tensor> &slopes,
    const optional<Tensor> &table, optional<int64_t> num_splits)
{
	auto result =
	    flash_forward_paged(query, key, value, cum_q, cum_k, max_q, max_k,
				dropout_p, is_causal, return_debug_mask, scale,
				left, right, used_k, slopes, table, num_splits);

	out.copy_(std::get<0>(result));
	return std::get<1>(result);
}

std::tuple<Tensor, Tensor, Tensor> flash_backward(
    const Tensor &grad_out, const Tensor &query, const Tensor &key,
    const Tensor &value, const Tensor &out, const Tensor &lse,
    const Tensor &cum_q, const Tensor &cum_k, int64_t max_q, int64_t max_k,
    double dropout_p, bool is_causal, const Tensor &first, const Tensor &second,
    optional<double> scale, optional<int64_t> left, optional<int64_t> right)
{
	auto rules =
	    make_rules(query, scale, dropout_p, is_causal, left, right);
	auto batch = make_batch(query, key, value, cum_q, cum_k, max_q, max_k);
	auto turn = [&](const Tensor &tensor) {
		return cum_q.defined() ? tensor : tensor.transpose(1, 2);
	};
	/* Rows after the last packed sequence also have gradients, which are 0.
	 */
	auto like = [&](const Tensor &tensor) {
		return turn(cum_q.defined() ? at::zeros_like(tensor)
					    : at::empty_like(tensor));
	};
	AttentionGradients grad = {like(query), like(key), like(value),
				   Tensor()};

	if (dropout_p > 0)
		rules.philox = read_random_state(first, second);
	attend_batch_backward(batch, rules, {turn(out), lse}, turn(grad_out),
			      grad);
	return {turn(grad.q), turn(grad.k), turn(grad.v)};
}

using SdpResult = std::tuple<Tensor, Tensor, Tensor, Tensor, SymInt, SymInt,
			     Tensor, Tensor, Tensor>;

/* The shape of query is B, H, M, D. */
SdpResult sdp_flash(const Tensor &query, const Tensor &key, const Tensor &value,
		    double dropout_p, bool is_causal, bool return_debug_mask,
		    optional<double> scale)
{
	auto [out, lse, first, second, mask] = flash_forward(
	    query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2),
	    std::nullopt, std::nullopt, query.size(2), key.size(2), dropout_p,
	    is_causal, return_debug_mask, scale, std::nullopt, std::nullopt,
	    std::nullopt, std::nullopt);

	return {out.transpose(1, 2), lse,   Tensor(), Tensor(), query.size(2),
		key.size(2),         first, second,   mask};
}

SdpResult sdp_flash_quantized(const Tensor &query, const Tensor &key,
			      const Tensor &value,
			      const optional<Tensor> &scale_q,
			      const optional<Tensor> &scale_k,
			      const optional<Tensor> &scale_v, double dropout_p,
			      bool is_causal, bool return_debug_mask,
			      optional<double> scale)
{
	auto turn = [](const Tensor &tensor, const optional<Tensor> &by) {
		return decode_heads(tensor.transpose(1, 2), by, std::nullopt)
		    .transpose(1, 2);
	};
	auto result = sdp_flash(turn(query, scale_q), turn(key, scale_k),
				turn(value, scale_v), dropout_p, is_causal,
				return_debug_mask, scale);

	std::get<0>(result) = std::get<0>(result).to(at::kBFloat16);
	return result;
}

std::tuple<Tensor, Tensor, Tensor>
sdp_flash_backward(const Tensor &grad_out, const Tensor &query,
		   const Tensor &key, const Tensor &value, const Tensor &out,
		   const Tensor &lse, const Tensor &cum_q, const Tensor &cum_k,
		   int64_t max_q, int64_t max_k, double dropout_p,
		   bool is_causal, const Tensor &first, const Tensor &second,
		   optional<double> scale)
{
	if (!grad_out.defined())
		return {};
	auto [q, k, v] = flash_backward(
	    grad_out.transpose(1, 2), query.transpose(1, 2),
	    key.transpose(1, 2), value.transpose(1, 2), out.transpose(1, 2),
	    lse, cum_q, cum_k, max_q, max_k, dropout_p, is_causal, first,
	    second, scale, std::nullopt, std::nullopt);

	return {q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)};
}

} // namespace

Rows flash_rows()
{
	return {
	    own_row<flash_forward>("_flash_attention_forward"),
	    own_row<flash_forward_paged>("_flash_attention_forward"),
	    own_row<flash_forward_inplace>(
		"_flash_attention_forward_no_dropout_inplace"),
	    own_row<flash_forward_quantized>(
		"_flash_attention_forward.quantized"),
	    own_row<flash_backward>("_flash_attention_backward"),
	    own_row<sdp_flash>("_scaled_dot_product_flash_attention"),
	    own_row<sdp_flash_quantized>(
		"_scaled_dot_product_flash_attention.quantized"),
	    own_row<sdp_flash_backward>(
		"_scaled_dot_product_flash_attention_backward"),
	};
}

} // namespace gpukit
