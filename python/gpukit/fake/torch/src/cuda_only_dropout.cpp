/*
 * cuda_only_dropout.cpp - dropout in one pass: today's, whose CPU form rounds
 * the scale to the operand's type first, and the one from before it.
 */
#include "cuda_only.h"

namespace gpukit
{
namespace
{

/* In place. A number, unlike a tensor of one, is rounded to the type first. */
Tensor scale_kept(Tensor kept, double scale)
{
	return kept.mul_(at::scalar_tensor(scale, at::kDouble));
}

/* p is what is kept; the mask's bytes are 0 and 1. */
std::tuple<Tensor, Tensor> fused_dropout(const Tensor &self, double p,
					 optional<at::Generator> generator)
{
	Tensor mask = at::empty_like(self, at::kByte).bernoulli_(p, generator);
	Tensor kept = self * mask.to(self.scalar_type());

	return {p > 0 ? scale_kept(kept, 1 / p) : kept, mask};
}

/* Outside of training all is kept; p = 1 keeps nothing. */
std::tuple<Tensor, Tensor> native_dropout(const Tensor &self, double p,
					  optional<bool> train)
{
	Tensor mask = at::empty_like(self, at::kBool);

	if (!train.value_or(true))
		return {self.clone(), mask.fill_(true)};
	mask.bernoulli_(1 - p);
	return {scale_kept(self.mul(mask), p < 1 ? 1 / (1 - p) : 0), mask};
}

Tensor masked_scale(const Tensor &self, const Tensor &mask, double scale)
{
	return scale_kept(self * mask.to(self.scalar_type()), scale);
}

} // namespace

Rows dropout_rows()
{
	return {
	    own_row<native_dropout>("native_dropout", true),
	    own_row<fused_dropout>("_fused_dropout"),
	    own_row<masked_scale>("_masked_scale"),
	};
}

} // namespace gpukit
