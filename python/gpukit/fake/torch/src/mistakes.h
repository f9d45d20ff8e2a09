/* SPDX-License-Identifier: Apache-2.0 */
// Errors made by programs, reported in the words of CUDA and PyTorch.
#pragma once

#include "plan.h"

#include <ATen/core/stack.h>
#include <c10/util/Exception.h>

#include <string>

namespace gpukit
{

// Throws PyTorch's error unless all tensors of a call are on `device`, or the
// operator accepts tensors on other devices.
void check_devices(const Plan &plan, const torch::jit::Stack &stack,
		   std::size_t first, c10::Device device);

// Whether an assertion in CUDA's kernel would fail where this CPU kernel has
// thrown.
bool is_assertion(const c10::Error &error);

// Counts an operator whose CPU kernel lacks something that CUDA's kernel may
// have.
void tell_refusal(const Plan &plan, const c10::Error &error);

// Throws an error that consists of "CUDA error: " and the runtime's text for a
// result.
[[noreturn]] void throw_cuda(int result, const std::string &more);

} // namespace gpukit
