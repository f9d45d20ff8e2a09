/* SPDX-License-Identifier: Apache-2.0 */
// How each operator that has a CUDA kernel is run.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <string>

namespace gpukit
{

enum class Fate {
	CPU,       // by the CPU's kernel
	COMPOSITE, // by the operators of which it is composed
	OWN,       // by one of our kernels
	KEPT,      // by CUDA's own kernel, which needs no GPU
	REFUSED,
};

// Returns how an operator is run for a key of tensors on GPUs.
Fate find_fate(const c10::OperatorHandle &op, c10::DispatchKey key);

// Returns why an operator is refused.
const char *refusal_reason(const c10::OperatorHandle &op, c10::DispatchKey key);

// Adds a line to the table: key, name, fate, reason, separated by tabs.
void note_fate(const c10::OperatorHandle &op, c10::DispatchKey key, Fate fate);
const char *fate_table();

} // namespace gpukit
