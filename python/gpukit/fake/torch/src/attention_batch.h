/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attention_batch.h - the sequences of one call of an attention operator: a
 * dense batch, sequences packed one after the other, or keys in pages.
 * attention.h explains the letters in shapes.
 */
#ifndef GPUKIT_TORCH_ATTENTION_BATCH_H
#define GPUKIT_TORCH_ATTENTION_BATCH_H

#include "attention.h"

#include <vector>

namespace gpukit
{

struct AttentionBatch {
	/*
	 * Shapes. Dense batch: B, H, M, D. With starts_q: T, H, D for q. With
	 * starts_k: T, H, D for k and v. With table: pages, page size, Hk, D
	 * for k and v.
	 */
	Tensor q, k, v;
	Tensor bias;   /* shape B, H, M, N; or undefined */
	Tensor slopes; /* shape H, or B and H; or undefined */
	/* Where each sequence starts, and where the last one ends. */
	std::vector<int64_t> starts_q, starts_k;
	/* The number of keys of each sequence. */
	std::vector<int64_t> used_k;
	/* The pages that contain each sequence's keys (shape B, pages); or
	 * undefined. */
	Tensor table;
	int64_t max_q = 0, max_k = 0;
};

std::vector<int64_t> read_lengths(const optional<Tensor> &tensor);

/*
 * Computes the result. out has the shape of q, but the last dimension of v. lse
 * has the shape B, H, M (or is longer), or H, T for packed queries; it may be
 * undefined. Returns out, or another tensor of the same layout to use instead.
 */
Tensor attend_batch(const AttentionBatch &batch, const AttentionRules &rules,
		    Tensor out, Tensor lse);

/* Fills in grad. The shape of grad.bias is B, H, M, N, unless it is
 * undefined. */
void attend_batch_backward(const AttentionBatch &batch,
			   const AttentionRules &rules, const Attended &forward,
			   const Tensor &grad_out, AttentionGradients &grad);

/* Returns the given scale, or 1 / sqrt(D). */
double attention_scale(const Tensor &query, optional<double> scale);

/* Draws B * H * M * N numbers if there is dropout. */
Philox take_attention_numbers(const AttentionBatch &batch, double dropout_p);

} // namespace gpukit

#endif
