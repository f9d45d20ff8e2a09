/* SPDX-License-Identifier: Apache-2.0 */
// The facts about an operator that are known before a call.
#pragma once

#include "deterministic.h"
#include "types.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpukit
{

struct Plan {
	Plan(const c10::OperatorHandle &op, bool dense);

	bool writes(unsigned argument) const
	{
		return argument < 64 ? written >> argument & 1 : true;
	}

	// Whether an argument is a result provided by the caller.
	bool is_out(unsigned argument) const
	{
		return argument < 64 && outs >> argument & 1;
	}

	std::string name; // "aten::add.Tensor"
	std::vector<std::string> argument_names;
	// Our operator to call instead, if the CPU kernel does less than
	// CUDA's.
	std::optional<c10::OperatorHandle> instead;
	const Nondeterministic *nondeterministic; // nullptr: deterministic
	unsigned arguments, returns;
	// bit mask: arguments that the operator may change
	std::uint64_t written;
	std::uint64_t outs;  // bit mask: arguments that are out=
	int generator;       // index of the generator argument; -1: none
	std::uint64_t draws; // the minimum number of words that it draws
	int size_argument;   // if given, CUDA's kernel need not wait; -1: none
	bool dense;          // its tensors have their own bytes
	bool waits;          // CUDA's kernel waits for values from the device
	bool writes_unsaid;  // it writes to more than its schema says
	bool seeded;         // it draws random numbers
	bool philox;         // it draws from philox_source() only
	bool same_device;    // CUDA's kernel needs all tensors on one device
	bool host_operands;  // even so, it accepts whole tensors on the host
	bool indexes;        // its tensors of indices may be on the host
	bool structured;     // a "structured" operator of torchgen
	bool transforms;     // it is a Fourier transform
	bool converts;       // it converts its operands to the result's type
	std::vector<TypeRule> types; // rules of CUDA's kernel for types
	Types wider; // types for which the CPU computes in wider ones
	// The argument that may be a number on the host. nullptr: any argument;
	// "": none.
	const char *host_number;
};

} // namespace gpukit
