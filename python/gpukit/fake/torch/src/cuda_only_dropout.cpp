/*
 * cuda_only_dropout.cpp - dropout in one pass, from before native_dropout, and
 * the random state that cuDNN's recurrent networks are handed.
 */
#include "cuda_only.h"

namespace gpukit
{
namespace
{

/* p is what is kept; the mask's bytes are 0 and 1. */
std::tuple<Tensor, Tensor> fused_dropout(const Tensor &self, double p,
					 optional<at::Generator> generator)
{
	Tensor mask = at::empty_like(self, at::kByte).bernoulli_(p, generator);
	Tensor kept = self * mask.to(self.scalar_type());

	return {p > 0 ? kept.mul_(1 / p) : kept, mask};
}

Tensor masked_scale(const Tensor &self, const Tensor &mask, double scale)
{
	return self * mask.to(self.scalar_type()) * scale;
}

} // namespace

Rows dropout_rows()
{
	return {
	    own_row<fused_dropout>("_fused_dropout"),
	    own_row<masked_scale>("_masked_scale"),
	};
}

} // namespace gpukit
