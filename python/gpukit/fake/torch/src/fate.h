/* SPDX-License-Identifier: Apache-2.0 */
// How each operator with a CUDA kernel is run.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <string>

namespace gpukit
{

enum class Fate {
	CPU,       // by the CPU's kernel
	COMPOSITE, // by the operators that it is made of
	OWN,       // by a kernel of ours
	KEPT,      // by CUDA's own kernel, which needs no GPU
	REFUSED,
};

// key: one whose tensors are on GPUs.
Fate find_fate(const c10::OperatorHandle &op, c10::DispatchKey key);

// Returns why it is refused.
const char *refusal_reason(const c10::OperatorHandle &op, c10::DispatchKey key);

// Adds a line to the table: key, name, fate, reason, separated by tabs.
void note_fate(const c10::OperatorHandle &op, c10::DispatchKey key, Fate fate);
const char *fate_table();

} // namespace gpukit
