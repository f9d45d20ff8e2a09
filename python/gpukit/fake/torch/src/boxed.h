/* SPDX-License-Identifier: Apache-2.0 */
// Runs operators on CUDA tensors with the CPU's kernels.
#pragma once

#include "plan.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/ivalue.h>

namespace gpukit
{

// The kernel of one operator for the key CUDA. dense = false: it is for tensors
// that consist of other tensors.
class BoxedKernel final : public c10::OperatorKernel
{
      public:
	BoxedKernel(const c10::OperatorHandle &op, bool dense)
	    : plan_(op, dense)
	{
	}
	void operator()(const c10::OperatorHandle &op, c10::DispatchKeySet keys,
			torch::jit::Stack *stack);

      private:
	Plan plan_;
};

// The keys of autograd, autocast and views. They were handled before the kernel
// was called, and must not be handled again for the aliases.
const c10::DispatchKeySet ABOVE_KERNELS =
    c10::autograd_dispatch_keyset_with_ADInplaceOrView |
    c10::autocast_dispatch_keyset;

// Visits each tensor of an argument or a result.
template <class Visit> void visit_tensors(const c10::IValue &v, Visit visit)
{
	if (v.isTensor()) {
		visit(v.toTensor());
	} else if (v.isTensorList()) {
		for (const at::Tensor &t : v.toTensorList())
			visit(t);
	} else if (v.isOptionalTensorList()) {
		for (const std::optional<at::Tensor> &t :
		     v.toOptionalTensorList())
			if (t)
				visit(*t);
	}
}

} // namespace gpukit
