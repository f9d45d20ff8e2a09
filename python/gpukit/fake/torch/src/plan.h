// What is known of an operator before it is called.
#pragma once

#include "deterministic.h"

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

	// Is the argument a result that the caller gives?
	bool is_out(unsigned argument) const
	{
		return argument < 64 && outs >> argument & 1;
	}

	std::string name; // "aten::add.Tensor"
	std::vector<std::string> argument_names;
	// Of gpukit's own, where the CPU's kernel means less than CUDA's.
	std::optional<c10::OperatorHandle> instead;
	const Nondeterministic *nondeterministic; // nullptr: it is not
	unsigned arguments, returns;
	std::uint64_t written; // bits: arguments that it may change
	std::uint64_t outs;    // and those of them that are out=
	int generator;         // which argument is one; -1: none
	std::uint64_t draws;   // words, at least, that it takes
	int size_argument;     // that spares CUDA's kernel the wait; -1: none
	bool dense;            // all its tensors have bytes of their own
	bool waits;            // CUDA's kernel waits for values of the device
	bool writes_unsaid;    // it writes what its schema does not tell
	bool seeded;           // it draws random numbers
	bool philox;           // and takes them from philox_source() alone
	bool same_device;      // CUDA's kernel wants all tensors on one device
	bool host_operands;    // and this one takes some of the host's
	bool indexes;          // by tensors that may be the host's
	bool structured;       // to torchgen
	// The argument that takes numbers of the host; nullptr: any; "": none.
	const char *host_number;
};

} // namespace gpukit
