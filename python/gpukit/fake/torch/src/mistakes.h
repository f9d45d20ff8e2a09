// What a program does wrong, in CUDA's words and PyTorch's.
#pragma once

#include "plan.h"

#include <ATen/core/stack.h>
#include <c10/util/Exception.h>

#include <string>

namespace gpukit
{

// The tensors of a call are not all on `device`: throws what PyTorch says of
// it, unless the operator takes such.
void check_devices(const Plan &plan, const torch::jit::Stack &stack,
		   std::size_t first, c10::Device device);

// Is it a CPU kernel's that found what CUDA's would assert?
bool is_assertion(const c10::Error &error);

// "CUDA error: " and what the runtime says of a result.
[[noreturn]] void throw_cuda(int result, const std::string &more);

} // namespace gpukit
