/* SPDX-License-Identifier: Apache-2.0 */
// Types of operands: those that CUDA's kernels accept, and those that the CPU's
// kernels lack.
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

// CUDA's kernel accepts the types in `takes`. For other types it reports an
// error with `words`: the name of a kernel, or a sentence in which TYPE
// represents the type.
struct TypeRule {
	Types takes;
	const char *words;
};

// Returns the rules for an operator, whose name has no overload: "aten::mm". A
// type is refused by the first rule that does not accept it.
std::vector<TypeRule> find_type_rules(const std::string &name);

// Returns the types that CUDA's kernel supports, but the CPU's kernel lacks or
// rounds more than once. The CPU's kernel then computes in wider types.
Types find_wider_types(const std::string &name);

// Throws CUDA's error if it refuses the type of the operands. Does nothing if
// the operands differ in type or one is empty, because other checks come first.
void check_types(const Plan &plan, const torch::jit::Stack &stack,
		 std::size_t first);

} // namespace gpukit
