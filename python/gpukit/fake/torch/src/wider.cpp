/* SPDX-License-Identifier: Apache-2.0 */
// Computes in wider types if a CPU kernel lacks the operands' type or rounds
// more than once: fp16, bf16 and complex fp16 become fp32, and booleans become
// integers, also in the result.
#include "wider.h"

#include "boxed.h"
#include "types.h"

#include <ATen/ATen.h>

#include <optional>
#include <utility>
#include <vector>

namespace gpukit
{

namespace
{

using c10::IValue;
using c10::ScalarType;

ScalarType wide_type(ScalarType type)
{
	switch (type) {
	case ScalarType::Half:
	case ScalarType::BFloat16:
		return ScalarType::Float;
	case ScalarType::ComplexHalf:
		return ScalarType::ComplexFloat;
	case ScalarType::Bool:
		return ScalarType::Long;
	default:
		return type;
	}
}

class WideCall
{
      public:
	WideCall(const Plan &plan, torch::jit::Stack *stack)
	    : plan_(plan), stack_(*stack),
	      first_(stack->size() - plan.arguments)
	{
	}

	bool is_needed() const;
	void widen();
	void narrow();

      private:
	bool is_short(ScalarType type) const
	{
		return plan_.wider & type_bit(type);
	}
	void widen_tensor(IValue *v, bool written);
	at::Tensor narrowed(const at::Tensor &wide) const;

	const Plan &plan_;
	torch::jit::Stack &stack_;
	std::size_t first_;
	ScalarType short_ = ScalarType::Undefined;
	// Pairs: the tensor to write to, and the wide tensor that is computed.
	std::vector<std::pair<at::Tensor, at::Tensor>> written_;
};

bool WideCall::is_needed() const
{
	bool found = false;

	for (unsigned i = 0; i < plan_.arguments; i++)
		visit_tensors(stack_[first_ + i], [&](const at::Tensor &t) {
			found |= t.defined() && is_short(t.scalar_type());
		});
	return found;
}

void WideCall::widen_tensor(IValue *v, bool written)
{
	at::Tensor narrow = v->toTensor();

	if (!narrow.defined() || !is_short(narrow.scalar_type()))
		return;
	if (short_ == ScalarType::Undefined || !written)
		short_ = narrow.scalar_type();
	at::Tensor wide = narrow.to(wide_type(narrow.scalar_type()));
	if (written)
		written_.emplace_back(narrow, wide);
	*v = wide;
}

void WideCall::widen()
{
	for (unsigned i = 0; i < plan_.arguments; i++) {
		IValue &v = stack_[first_ + i];

		if (v.isTensor())
			widen_tensor(&v, plan_.writes(i));
		else if (plan_.argument_names[i] == "dtype" && v.isInt())
			v = static_cast<int64_t>(
			    wide_type(static_cast<ScalarType>(v.toInt())));
	}
}

// Returns a new result in the type of the operands.
at::Tensor WideCall::narrowed(const at::Tensor &wide) const
{
	bool is_bf16 = short_ == ScalarType::BFloat16;

	if (!wide.defined())
		return wide;
	if (wide.scalar_type() == ScalarType::Float)
		return wide.to(is_bf16 ? ScalarType::BFloat16
				       : ScalarType::Half);
	if (wide.scalar_type() == ScalarType::ComplexFloat)
		return wide.to(ScalarType::ComplexHalf);
	return wide;
}

void WideCall::narrow()
{
	for (auto &[to, wide] : written_) {
		if (to.sizes() != wide.sizes())
			to.resize_(wide.sizes());
		to.copy_(wide);
	}
	for (std::size_t i = stack_.size() - plan_.returns; i < stack_.size();
	     i++) {
		if (!stack_[i].isTensor())
			continue;
		at::Tensor answer = stack_[i].toTensor(), given;
		for (auto &[to, wide] : written_)
			if (answer.is_same(wide))
				given = to;
		stack_[i] = given.defined() ? given : narrowed(answer);
	}
}

} // namespace

void call_cpu_kernel(const Plan &plan, const c10::OperatorHandle &kernel,
		     torch::jit::Stack *stack)
{
	WideCall call(plan, stack);
	bool wide = C10_UNLIKELY(plan.wider != 0) && call.is_needed();

	if (wide)
		call.widen();
	kernel.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU),
			       stack);
	if (wide)
		call.narrow();
}

} // namespace gpukit
