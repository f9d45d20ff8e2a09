// Operators of CUDA tensors by the CPU's kernels.
#pragma once

#include "plan.h"

#include <ATen/core/boxing/KernelFunction.h>

namespace gpukit
{

// The kernel of one operator for the key CUDA; not dense: for tensors that are
// made of others.
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

} // namespace gpukit
