/* SPDX-License-Identifier: Apache-2.0 */
// Types of operands: what CUDA's kernels take, and what the CPU's lack.
#pragma once

#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>
#include <c10/core/ScalarType.h>

#include <cstdint>
#include <string>
#include <vector>

namespace gpukit
{

struct Plan;

// A set of scalar types, one bit each.
using Types = std::uint64_t;

inline Types type_bit(c10::ScalarType type)
{
	return Types(1) << static_cast<unsigned>(type);
}

// CUDA's kernel takes these types and reports others with `words`: the name of
// a kernel, or a sentence in which TYPE stands for the type.
struct TypeRule {
	Types takes;
	const char *words;
};

// The rules of an operator, without its overload: "aten::mm". The first rule
// that does not take a type refuses it.
std::vector<TypeRule> find_type_rules(const std::string &name);

// Types that CUDA's kernel has and the CPU's lacks, or rounds more than once:
// the CPU's kernel then computes in wider ones.
Types find_wider_types(const std::string &name);

// Throws CUDA's error for a type that it does not take. Ignores operands that
// differ in type or are empty, because other checks come first.
void check_types(const Plan &plan, const torch::jit::Stack &stack,
		 std::size_t first);

} // namespace gpukit
