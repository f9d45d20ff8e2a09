/* SPDX-License-Identifier: Apache-2.0 */
// Runs the CPU kernel of an operator, even for types that the kernel lacks.
#pragma once

#include "plan.h"

#include <ATen/core/stack.h>

namespace gpukit
{

// Calls the CPU kernel. Its operands are CPU tensors at the end of the stack;
// its results replace them there. If `plan` lists types that the kernel lacks,
// the operands are converted to wider types, and the results are rounded once.
void call_cpu_kernel(const Plan &plan, const c10::OperatorHandle &kernel,
		     torch::jit::Stack *stack);

} // namespace gpukit
