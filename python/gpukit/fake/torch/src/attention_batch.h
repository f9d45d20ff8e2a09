/*
 * attention_batch.h - the sequences of one call of an attention operator: a
 * dense batch, sequences packed one behind another, or keys in pages.
 */
#ifndef GPUKIT_TORCH_ATTENTION_BATCH_H
#define GPUKIT_TORCH_ATTENTION_BATCH_H

#include "attention.h"

#include <vector>

namespace gpukit
{

struct AttentionBatch {
	/*
	 * B, H, M, D where it is dense; T, H, D where starts_q is given, for
	 * k and v where starts_k is; pages, page size, Hk, D where table is.
	 */
	Tensor q, k, v;
	Tensor bias;   /* B, H, M, N; or undefined */
	Tensor slopes; /* H, or B and H; or undefined */
	std::vector<int64_t> starts_q, starts_k; /* one more than sequences */
	std::vector<int64_t> used_k;             /* keys of each sequence */
	Tensor table; /* B, pages: which pages its keys lie in; or undefined */
	int64_t max_q = 0, max_k = 0;
};

std::vector<int64_t> read_lengths(const optional<Tensor> &tensor);

/*
 * out has q's shape and v's last dimension; lse is B, H, M or longer, or
 * H, T for packed queries, and may be undefined. Answers out, or another tensor
 * of its layout that has its place.
 */
Tensor attend_batch(const AttentionBatch &batch, const AttentionRules &rules,
		    Tensor out, Tensor lse);

/* grad is filled; its bias B, H, M, N, or undefined. */
void attend_batch_backward(const AttentionBatch &batch,
			   const AttentionRules &rules, const Attended &forward,
			   const Tensor &grad_out, AttentionGradients &grad);

/* 1 / sqrt(D) where no scale is given. */
double attention_scale(const Tensor &query, optional<double> scale);

/* Draws for B * H * M * N scores where there is dropout. */
Philox take_attention_numbers(const AttentionBatch &batch, double dropout_p);

} // namespace gpukit

#endif
