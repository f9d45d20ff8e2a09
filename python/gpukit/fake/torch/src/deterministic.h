/* SPDX-License-Identifier: Apache-2.0 */
// The operators that torch.use_deterministic_algorithms() refuses on CUDA.
#pragma once

#include <ATen/core/stack.h>

#include <string>

namespace gpukit
{

struct Plan;

// name: an operator whose CUDA kernel adds in any order; said: its name in
// PyTorch's error; when: "" always, "floating" for such numbers, "weights" and
// "prod" if given, "max" in this mode, "dim" for overloads with one.
struct Nondeterministic {
	const char *name, *said, *when;
};

// Returns nullptr if CUDA's kernel is deterministic, or the CPU's is not.
const Nondeterministic *find_nondeterministic(const std::string &name);

// Throws or warns as PyTorch does, if the program asked for it.
void check_deterministic(const Plan &plan, const torch::jit::Stack &stack,
			 std::size_t first);

} // namespace gpukit
