/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attention_batch.h - the sequences in one call of an attention operator: a
 * dense batch, sequences packed one after another, or keys in pages. For the
 * letters of shapes see attention.h.
 */
#ifndef GPUKIT_TORCH_ATTENTION_BATCH_H
#define GPUKIT_TORCH_ATTENTION_BATCH_H

#include "attention.h"

#include <vector>

namespace gpukit
{

struct AttentionBatch {
	/*
	 * Shape: B, H, M, D for a dense batch; T, H, D for q if starts_q is
	 * given, and for k and v if starts_k is given; pages, page size, Hk, D
	 * for k and v if table is given.
	 */
	Tensor q, k, v;
	Tensor bias;   /* B, H, M, N; or undefined */
	Tensor slopes; /* H, or B and H; or undefined */
	/* One more entry than sequences. */
	std::vector<int64_t> starts_q, starts_k;
	/* Number of keys of each sequence. */
	std::vector<int64_t> used_k;
	/* B, pages: the pages of each sequence's keys; or undefined. */
	Tensor table;
	int64_t max_q = 0, max_k = 0;
};

std::vector<int64_t> read_lengths(const optional<Tensor> &tensor);

/*
 * out has the shape of q, with the last dimension of v. lse is B, H, M or
 * longer, or H, T for packed queries; it may be undefined. Returns out, or
 * another tensor of the same layout, to use in its place.
 */
Tensor attend_batch(const AttentionBatch &batch, const AttentionRules &rules,
		    Tensor out, Tensor lse);

/* Fills in grad; grad.bias is B, H, M, N, or undefined. */
void attend_batch_backward(const AttentionBatch &batch,
			   const AttentionRules &rules, const Attended &forward,
			   const Tensor &grad_out, AttentionGradients &grad);

/* Returns the given scale, or 1 / sqrt(D). */
double attention_scale(const Tensor &query, optional<double> scale);

/* Draws B * H * M * N numbers if there is dropout. */
Philox take_attention_numbers(const AttentionBatch &batch, double dropout_p);

} // namespace gpukit

#endif
