/* SPDX-License-Identifier: Apache-2.0 */
// The facts of an operator that are known before a call.
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

	// Whether the argument is a result given by the caller.
	bool is_out(unsigned argument) const
	{
		return argument < 64 && outs >> argument & 1;
	}

	std::string name; // "aten::add.Tensor"
	std::vector<std::string> argument_names;
	// Our own operator, if the CPU's kernel does less than CUDA's.
	std::optional<c10::OperatorHandle> instead;
	const Nondeterministic *nondeterministic; // nullptr: deterministic
	unsigned arguments, returns;
	std::uint64_t written; // bit mask: arguments that it may change
	std::uint64_t outs;    // bit mask: those of them that are out=
	int generator;         // the generator's argument; -1: none
	std::uint64_t draws;   // the least number of words that it draws
	int size_argument;  // giving it spares CUDA's kernel a wait; -1: none
	bool dense;         // its tensors have bytes of their own
	bool waits;         // CUDA's kernel waits for values of the device
	bool writes_unsaid; // it writes more than its schema says
	bool seeded;        // it draws random numbers
	bool philox;        // it draws only from philox_source()
	bool same_device;   // CUDA's kernel needs all tensors on one device
	bool host_operands; // but accepts some of them on the host
	bool indexes;       // its index tensors may be on the host
	bool structured;    // torchgen calls it structured
	bool transforms;    // it is a Fourier transform
	bool converts;      // it converts its operands to the result's type
	std::vector<TypeRule> types; // types that CUDA's kernel refuses
	Types wider; // types that the CPU computes in wider ones
	// The argument that may be a host number; nullptr: any; "": none.
	const char *host_number;
};

} // namespace gpukit
