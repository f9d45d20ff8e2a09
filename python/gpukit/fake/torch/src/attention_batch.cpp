/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attention_batch.cpp - splits a call into its sequences. PyTorch's own CPU
 * attention is faster, so that dense calls that it supports are passed to it.
 */
#include "attention_batch.h"

#include <algorithm>
#include <cmath>

namespace gpukit
{
namespace
{

bool is_packed(const AttentionBatch &batch)
{
	return !batch.starts_q.empty();
}

int64_t count_sequences(const AttentionBatch &batch)
{
	return is_packed(batch) ? (int64_t)batch.starts_q.size() - 1
				: batch.q.size(0);
}

int64_t count_heads(const AttentionBatch &batch)
{
	return batch.q.size(1);
}

/* Returns the part of q, or of a tensor with q's shape, for one sequence: H, M,
 * D. */
Tensor part_of_q(const AttentionBatch &batch, const Tensor &tensor, int64_t b)
{
	if (!is_packed(batch))
		return tensor.select(0, b);
	return tensor.slice(0, batch.starts_q[b], batch.starts_q[b + 1])
	    .transpose(0, 1);
}

Tensor gather_pages(const AttentionBatch &batch, const Tensor &tensor,
		    int64_t b)
{
	return tensor.index_select(0, batch.table.select(0, b).to(at::kLong))
	    .flatten(0, 1)
	    .transpose(0, 1);
}

/* Returns the part of k or v for one sequence: Hk, N, D. */
Tensor part_of_k(const AttentionBatch &batch, const Tensor &tensor, int64_t b)
{
	Tensor part;

	if (batch.table.defined())
		part = gather_pages(batch, tensor, b);
	else if (batch.starts_k.empty())
		part = tensor.select(0, b);
	else
		part = tensor.slice(0, batch.starts_k[b], batch.starts_k[b + 1])
			   .transpose(0, 1);
	if (batch.used_k.empty())
		return part;
	return part.narrow(1, 0, std::min(batch.used_k[b], part.size(1)));
}

/* Returns the part of a logsumexp for one sequence: H, M. */
Tensor part_of_lse(const AttentionBatch &batch, const Tensor &lse, int64_t b)
{
	if (!is_packed(batch))
		return lse.select(0, b).narrow(1, 0, batch.q.size(2));
	if (lse.dim() == 2)
		return lse.slice(1, batch.starts_q[b], batch.starts_q[b + 1]);
	return lse.select(0, b).narrow(
	    1, 0, batch.starts_q[b + 1] - batch.starts_q[b]);
}

Sequence make_sequence(const AttentionBatch &batch, int64_t b)
{
	Sequence sequence;

	sequence.q = part_of_q(batch, batch.q, b);
	sequence.k = part_of_k(batch, batch.k, b);
	sequence.v = part_of_k(batch, batch.v, b);
	if (batch.bias.defined())
		sequence.bias = batch.bias.select(0, b);
	if (batch.slopes.defined())
		sequence.slopes = batch.slopes.dim() == 2
				      ? batch.slopes.select(0, b)
				      : batch.slopes;
	sequence.random_start =
	    (uint64_t)b * count_heads(batch) * batch.max_q * batch.max_k;
	return sequence;
}

/*
 * Whether PyTorch's CPU attention supports the mask. It supports calls without
 * a mask, and a causal mask that starts in the upper left corner.
 */
bool has_plain_mask(const AttentionBatch &batch, const AttentionRules &rules)
{
	bool is_square = batch.q.size(2) == batch.k.size(2);

	return rules.left < 0 && rules.right <= 0 &&
	       (rules.right < 0 || !rules.bottom_right || is_square);
}

bool suits_cpu_attention(const AttentionBatch &batch,
			 const AttentionRules &rules)
{
	return !is_packed(batch) && batch.starts_k.empty() &&
	       batch.used_k.empty() && !batch.table.defined() &&
	       !batch.slopes.defined() && !batch.bias.defined() &&
	       rules.dropout_p == 0 && has_plain_mask(batch, rules) &&
	       batch.q.size(3) == batch.v.size(3) && batch.q.numel() > 0 &&
	       batch.k.numel() > 0;
}

/* Repeats k or v, because CPU attention needs a head of k and v for each head
 * of q. */
Tensor repeat_heads(const AttentionBatch &batch, const Tensor &tensor)
{
	int64_t group = count_heads(batch) / tensor.size(1);

	return group > 1 ? tensor.repeat_interleave(group, 1) : tensor;
}

/* Returns the result if it has the layout and type of `place`; otherwise copies
 * it to `place` and returns that. */
Tensor put_result(const Tensor &place, const Tensor &result)
{
	if (place.strides() == result.strides() &&
	    place.scalar_type() == result.scalar_type())
		return result;
	place.copy_(result);
	return place;
}

Tensor attend_by_cpu(const AttentionBatch &batch, const AttentionRules &rules,
		     const Tensor &out, const Tensor &lse)
{
	auto [result, kept] = at::_scaled_dot_product_flash_attention_for_cpu(
	    batch.q, repeat_heads(batch, batch.k), repeat_heads(batch, batch.v),
	    0.0, rules.right == 0, std::nullopt, rules.scale);

	if (lse.defined())
		lse.narrow(2, 0, batch.q.size(2)).copy_(kept);
	return put_result(out, result);
}

Tensor sum_heads(const Tensor &grad, int64_t heads)
{
	if (grad.size(1) == heads)
		return grad;
	return grad.unflatten(1, {heads, -1}).sum(2);
}

void attend_backward_by_cpu(const AttentionBatch &batch,
			    const AttentionRules &rules,
			    const Attended &forward, const Tensor &grad_out,
			    AttentionGradients &grad)
{
	auto [q, k, v] =
	    at::_scaled_dot_product_flash_attention_for_cpu_backward(
		grad_out, batch.q, repeat_heads(batch, batch.k),
		repeat_heads(batch, batch.v), forward.out,
		forward.lse.narrow(2, 0, batch.q.size(2)), 0.0,
		rules.right == 0, std::nullopt, rules.scale);

	grad.q = put_result(grad.q, q);
	grad.k = put_result(grad.k, sum_heads(k, batch.k.size(1)));
	grad.v = put_result(grad.v, sum_heads(v, batch.v.size(1)));
}

} // namespace

std::vector<int64_t> read_lengths(const optional<Tensor> &tensor)
{
	if (!is_given(tensor))
		return {};
	Tensor wide = tensor->to(at::kLong).contiguous();
	const int64_t *first = wide.const_data_ptr<int64_t>();

	return {first, first + wide.numel()};
}

Tensor attend_batch(const AttentionBatch &batch, const AttentionRules &rules,
		    Tensor out, Tensor lse)
{
	if (suits_cpu_attention(batch, rules))
		return attend_by_cpu(batch, rules, out, lse);
	for (int64_t b = 0; b < count_sequences(batch); b++) {
		Attended one = attend(make_sequence(batch, b), rules);

		part_of_q(batch, out, b).copy_(one.out);
		if (lse.defined())
			part_of_lse(batch, lse, b).copy_(one.lse);
	}
	return out;
}

void attend_batch_backward(const AttentionBatch &batch,
			   const AttentionRules &rules, const Attended &forward,
			   const Tensor &grad_out, AttentionGradients &grad)
{
	if (suits_cpu_attention(batch, rules))
		return attend_backward_by_cpu(batch, rules, forward, grad_out,
					      grad);
	for (int64_t b = 0; b < count_sequences(batch); b++) {
		Attended one = {part_of_q(batch, forward.out, b),
				part_of_lse(batch, forward.lse, b)};
		AttentionGradients part = attend_backward(
		    make_sequence(batch, b), rules, one,
		    part_of_q(batch, grad_out, b), grad.bias.defined());

		part_of_q(batch, grad.q, b).copy_(part.q);
		part_of_k(batch, grad.k, b).copy_(part.k);
		part_of_k(batch, grad.v, b).copy_(part.v);
		if (grad.bias.defined())
			grad.bias.select(0, b).copy_(part.bias);
	}
}

double attention_scale(const Tensor &query, optional<double> scale)
{
	return scale.value_or(1 / std::sqrt((double)query.size(-1)));
}

Philox take_attention_numbers(const AttentionBatch &batch, double dropout_p)
{
	if (dropout_p == 0)
		return {0, 0};
	return take_philox((uint64_t)count_sequences(batch) *
			   count_heads(batch) * batch.max_q * batch.max_k);
}

} // namespace gpukit
