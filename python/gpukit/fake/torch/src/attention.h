/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attention.h - computes softmax(scale * q k^T + bias) v, forward and backward,
 * as CUDA's fused kernels do: operands shorter than fp32 are computed in fp32,
 * one block of rows at a time. The backward pass uses the logsumexp that the
 * forward pass has stored.
 *
 * The shapes here, and in the files of attention operators, are lists of these
 * letters: B sequences of a batch, H heads, M queries, N keys, D elements of a
 * head, T rows of all packed sequences. Hk is the number of heads of k and v,
 * Dv the number of elements of a head of v.
 */
#ifndef GPUKIT_TORCH_ATTENTION_H
#define GPUKIT_TORCH_ATTENTION_H

#include "cuda_only.h"
#include "philox.h"

namespace gpukit
{

struct AttentionRules {
	double scale = 1;
	double dropout_p = 0;
	Philox philox = {0, 0};
	/*
	 * Query i sees the keys from i + shift - left to i + shift + right; -1
	 * means no limit. The shift is N - M if the diagonal ends in the lower
	 * right corner, else 0.
	 */
	int64_t left = -1;
	int64_t right = -1;
	bool bottom_right = false;
};

/* One sequence with all heads. k and v may have fewer heads than q. */
struct Sequence {
	Tensor q;      /* H, M, D */
	Tensor k;      /* Hk, N, D */
	Tensor v;      /* Hk, N, Dv */
	Tensor bias;   /* shape H, M, N, or undefined; boolean: visible keys */
	Tensor slopes; /* shape H, for ALiBi; or undefined */
	/* Index of the first of the H * M * N random numbers that dropout
	 * uses. */
	uint64_t random_start = 0;
};

struct Attended {
	Tensor out; /* H, M, Dv */
	Tensor lse; /* shape H, M; infinite if a query sees no key */
};

struct AttentionGradients {
	Tensor q, k, v;
	Tensor bias; /* undefined if not requested */
};

/* Results are in fp32, or in fp64 if the operands are. */
Attended attend(const Sequence &sequence, const AttentionRules &rules);
AttentionGradients attend_backward(const Sequence &sequence,
				   const AttentionRules &rules,
				   const Attended &forward,
				   const Tensor &grad_out, bool wants_bias);

} // namespace gpukit

#endif
