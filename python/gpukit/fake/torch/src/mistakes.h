/* SPDX-License-Identifier: Apache-2.0 */
// Errors of programs, in the words of CUDA and PyTorch.
#pragma once

#include "plan.h"

#include <ATen/core/stack.h>
#include <c10/util/Exception.h>

#include <string>

namespace gpukit
{

// Throws PyTorch's error if the tensors of a call are not all on `device`,
// unless the operator accepts that.
void check_devices(const Plan &plan, const torch::jit::Stack &stack,
		   std::size_t first, c10::Device device);

// Whether CUDA's kernel would assert where this CPU kernel threw.
bool is_assertion(const c10::Error &error);

// Counts an operator whose CPU kernel lacks something that CUDA's may have.
void tell_refusal(const Plan &plan, const c10::Error &error);

// Throws "CUDA error: " and the runtime's text for a result.
[[noreturn]] void throw_cuda(int result, const std::string &more);

} // namespace gpukit
