/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attention.cpp - computes attention by matrix products. Only one block of the
 * scores is in memory at a time.
 */
#include "attention.h"

#include <algorithm>
#include <limits>

namespace gpukit
{
namespace
{

const int64_t BLOCK_SCORES = 1 << 22;
const double INFINITE = std::numeric_limits<double>::infinity();

/* Converts the operands to the type of the sums, and gives each head of q its
 * own k and v. */
Sequence widen(const Sequence &sequence)
{
	Sequence wide = sequence;
	int64_t group =
	    sequence.q.size(0) / std::max<int64_t>(sequence.k.size(0), 1);

	wide.q = accumulated(sequence.q);
	wide.k = accumulated(sequence.k);
	wide.v = accumulated(sequence.v);
	if (group > 1) {
		wide.k = wide.k.repeat_interleave(group, 0);
		wide.v = wide.v.repeat_interleave(group, 0);
	}
	return wide;
}

/* Sums the gradients of the heads that share a k or v. */
Tensor sum_groups(const Tensor &grad, int64_t heads)
{
	if (grad.size(0) == heads)
		return grad;
	return grad.unflatten(0, {heads, -1}).sum(1);
}

int64_t count_rows(const Sequence &s)
{
	int64_t row = std::max<int64_t>(s.q.size(0) * s.k.size(1), 1);

	return std::clamp<int64_t>(BLOCK_SCORES / row, 1,
				   std::max<int64_t>(s.q.size(1), 1));
}

int64_t diagonal_shift(const Sequence &s, const AttentionRules &rules)
{
	return rules.bottom_right ? s.k.size(1) - s.q.size(1) : 0;
}

/* Returns how far each key is to the right of the diagonal, for each query. The
 * shape is rows, N. */
Tensor distances(const Sequence &s, const AttentionRules &rules, int64_t row,
		 int64_t rows)
{
	auto keys = at::arange(s.k.size(1), at::kLong);
	auto queries = at::arange(row, row + rows, at::kLong);

	return keys - (queries + diagonal_shift(s, rules)).unsqueeze(1);
}

void add_bias(Tensor &scores, const Tensor &bias)
{
	if (bias.scalar_type() == at::kBool)
		scores.masked_fill_(bias.logical_not(), -INFINITE);
	else
		scores.add_(bias);
}

/* With a causal mask, the distances of ALiBi count from the first key. */
void add_slopes(Tensor &scores, const Sequence &s, const AttentionRules &rules,
		int64_t row)
{
	Tensor steps = rules.right == 0
			   ? at::arange(s.k.size(1), at::kLong)
			   : -distances(s, rules, row, scores.size(1)).abs();

	scores.add_(s.slopes.to(scores.scalar_type()).view({-1, 1, 1}) * steps);
}

Tensor compute_scores(const Sequence &s, const AttentionRules &rules,
		      int64_t row, int64_t rows)
{
	Tensor scores = at::matmul(s.q.narrow(1, row, rows).mul(rules.scale),
				   s.k.transpose(1, 2));

	if (s.slopes.defined())
		add_slopes(scores, s, rules, row);
	if (s.bias.defined())
		add_bias(scores, s.bias.narrow(1, row, rows));
	if (rules.left < 0 && rules.right < 0)
		return scores;
	Tensor distance = distances(s, rules, row, rows);
	if (rules.right >= 0)
		scores.masked_fill_(distance > rules.right, -INFINITE);
	if (rules.left >= 0)
		scores.masked_fill_(distance < -rules.left, -INFINITE);
	return scores;
}

/* Draws the factors by which scores are multiplied: 0 for dropped scores, 1 /
 * (1 - p) for others. */
Tensor draw_factors(const Sequence &s, const AttentionRules &rules, int64_t row,
		    int64_t rows)
{
	int64_t heads = s.q.size(0), m = s.q.size(1), n = s.k.size(1);
	double kept = 1 - rules.dropout_p;
	Tensor numbers = at::empty({heads, rows, n}, at::kFloat);
	float *out = numbers.mutable_data_ptr<float>();

	for (int64_t h = 0; h < heads; h++)
		fill_uniform(out + h * rows * n, rows * n, rules.philox,
			     s.random_start + (h * m + row) * n);
	return (numbers > rules.dropout_p).to(s.q.scalar_type()) *
	       (kept > 0 ? 1 / kept : 0);
}

Attended empty_attended(const Sequence &s)
{
	return {
	    at::zeros({s.q.size(0), s.q.size(1), s.v.size(2)}, s.q.options()),
	    at::full({s.q.size(0), s.q.size(1)}, INFINITE, s.q.options())};
}

void attend_block(const Sequence &s, const AttentionRules &rules, int64_t row,
		  int64_t rows, Attended &result)
{
	Tensor scores = compute_scores(s, rules, row, rows);
	Tensor lse = scores.logsumexp(-1);

	lse.masked_fill_(lse == -INFINITE, INFINITE);
	Tensor p = scores.sub_(lse.unsqueeze(-1)).exp_();
	if (rules.dropout_p > 0)
		p.mul_(draw_factors(s, rules, row, rows));
	result.out.narrow(1, row, rows).copy_(at::matmul(p, s.v));
	result.lse.narrow(1, row, rows).copy_(lse);
}

struct BackwardBlock {
	Tensor grad_out, delta, lse;
};

void attend_block_backward(const Sequence &s, const AttentionRules &rules,
			   int64_t row, int64_t rows,
			   const BackwardBlock &block, AttentionGradients &grad)
{
	Tensor p = compute_scores(s, rules, row, rows).sub_(block.lse).exp_();
	Tensor grad_p = at::matmul(block.grad_out, s.v.transpose(1, 2));
	Tensor dropped = p;

	if (rules.dropout_p > 0) {
		Tensor factors = draw_factors(s, rules, row, rows);

		dropped = p * factors;
		grad_p.mul_(factors);
	}
	grad.v.add_(at::matmul(dropped.transpose(1, 2), block.grad_out));
	Tensor grad_scores = grad_p.sub_(block.delta).mul_(p);
	if (grad.bias.defined())
		grad.bias.narrow(1, row, rows).copy_(grad_scores);
	grad_scores.mul_(rules.scale);
	grad.q.narrow(1, row, rows).copy_(at::matmul(grad_scores, s.k));
	grad.k.add_(
	    at::matmul(grad_scores.transpose(1, 2), s.q.narrow(1, row, rows)));
}

} // namespace

Attended attend(const Sequence &sequence, const AttentionRules &rules)
{
	Sequence s = widen(sequence);
	Attended result = empty_attended(s);
	int64_t rows = count_rows(s);

	if (!s.k.size(1) || !s.q.size(0))
		return result;
	for (int64_t row = 0; row < s.q.size(1); row += rows)
		attend_block(s, rules, row, std::min(rows, s.q.size(1) - row),
			     result);
	return result;
}

AttentionGradients attend_backward(const Sequence &sequence,
				   const AttentionRules &rules,
				   const Attended &forward,
				   const Tensor &grad_out, bool wants_bias)
{
	Sequence s = widen(sequence);
	Tensor wide = accumulated(grad_out), lse = accumulated(forward.lse);
	Tensor delta = (wide * accumulated(forward.out)).sum(-1, true);
	AttentionGradients grad = {at::zeros_like(s.q), at::zeros_like(s.k),
				   at::zeros_like(s.v), Tensor()};
	int64_t rows = count_rows(s);

	if (wants_bias)
		grad.bias = at::zeros({s.q.size(0), s.q.size(1), s.k.size(1)},
				      s.q.options());
	for (int64_t row = 0; s.k.size(1) && row < s.q.size(1); row += rows) {
		int64_t some = std::min(rows, s.q.size(1) - row);

		attend_block_backward(s, rules, row, some,
				      {wide.narrow(1, row, some),
				       delta.narrow(1, row, some),
				       lse.narrow(1, row, some).unsqueeze(-1)},
				      grad);
	}
	grad.k = sum_groups(grad.k, sequence.k.size(0));
	grad.v = sum_groups(grad.v, sequence.v.size(0));
	return grad;
}

} // namespace gpukit
