/* SPDX-License-Identifier: Apache-2.0 */
// Runs the CPU's kernel of an operator, also on types that it lacks.
#pragma once

#include "plan.h"

#include <ATen/core/stack.h>

namespace gpukit
{

// Calls the CPU's kernel on the operands at the end of a stack, which are on
// the CPU; its results replace them. If `plan` lists types that the kernel
// lacks, it gets wider operands, and its results are rounded once.
void call_cpu_kernel(const Plan &plan, const c10::OperatorHandle &kernel,
		     torch::jit::Stack *stack);

} // namespace gpukit
