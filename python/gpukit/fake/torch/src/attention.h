/*
 * attention.h - softmax(scale * q k^T + bias) v, forward and backward, as the
 * fused kernels of CUDA compute it: in fp32 for shorter types, block of rows by
 * block of rows, from the logsumexp that the forward pass has kept.
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
	 * Query i sees the keys from i + shift - left to i + shift + right;
	 * -1: without end. The shift is 0, or N - M where the diagonal starts
	 * in the right lower corner.
	 */
	int64_t left = -1;
	int64_t right = -1;
	bool bottom_right = false;
};

/* One sequence of all heads. k and v may have fewer heads than q. */
struct Sequence {
	Tensor q;      /* H, M, D */
	Tensor k;      /* Hk, N, D */
	Tensor v;      /* Hk, N, Dv */
	Tensor bias;   /* H, M, N; or undefined; boolean: which keys are seen */
	Tensor slopes; /* H, of ALiBi; or undefined */
	/* Dropout: where its (H, M, N) numbers start. */
	uint64_t random_start = 0;
};

struct Attended {
	Tensor out; /* H, M, Dv */
	Tensor lse; /* H, M; infinite where a query sees no key */
};

struct AttentionGradients {
	Tensor q, k, v;
	Tensor bias; /* undefined where it isn't wanted */
};

/* Results are fp32, or fp64 for fp64 operands. */
Attended attend(const Sequence &sequence, const AttentionRules &rules);
AttentionGradients attend_backward(const Sequence &sequence,
				   const AttentionRules &rules,
				   const Attended &forward,
				   const Tensor &grad_out, bool wants_bias);

} // namespace gpukit

#endif
