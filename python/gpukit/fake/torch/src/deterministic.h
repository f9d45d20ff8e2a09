/* SPDX-License-Identifier: Apache-2.0 */
// The operators that torch.use_deterministic_algorithms() refuses on CUDA.
#pragma once

#include <ATen/core/stack.h>

#include <string>

namespace gpukit
{

struct Plan;

// A rule for an operator whose CUDA kernel adds in no fixed order. name: the
// operator; said: its name in PyTorch's error; when: when the rule applies.
// when is "" (always), "floating" (if the operand has such numbers), "weights"
// or "prod" (if that argument is given), "max" (in this mode), or "dim" (for
// overloads with this argument).
struct Nondeterministic {
	const char *name, *said, *when;
};

// Returns nullptr if CUDA's kernel is deterministic, or if the CPU's is not.
const Nondeterministic *find_nondeterministic(const std::string &name);

// Throws or warns as PyTorch does, if the program has requested that.
void check_deterministic(const Plan &plan, const torch::jit::Stack &stack,
			 std::size_t first);

} // namespace gpukit
