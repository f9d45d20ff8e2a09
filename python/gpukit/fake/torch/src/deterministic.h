// Which operators torch.use_deterministic_algorithms() refuses on CUDA.
#pragma once

#include <ATen/core/stack.h>

#include <string>

namespace gpukit
{

struct Plan;

// An operator whose CUDA kernel adds in any order, what PyTorch calls it then,
// and when: "" always, "floating" of such numbers, "weights" and "prod" where
// it is given these, "max" in this mode, "dim" in the overloads with one.
struct Nondeterministic {
	const char *name, *said, *when;
};

// nullptr: CUDA's kernel is deterministic, or the CPU's is not either.
const Nondeterministic *find_nondeterministic(const std::string &name);

// Throws, or warns, as PyTorch does where the program asks for it.
void check_deterministic(const Plan &plan, const torch::jit::Stack &stack,
			 std::size_t first);

} // namespace gpukit
