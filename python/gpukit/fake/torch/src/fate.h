// What becomes of each operator that has a kernel of CUDA's.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <string>

namespace gpukit
{

enum class Fate {
	CPU,       // the CPU's kernel runs
	COMPOSITE, // it is made of others, which do
	OWN,       // a kernel of ours runs
	KEPT,      // CUDA's own runs: it needs no GPU
	REFUSED,
};

// key: one of those whose tensors lie on GPUs.
Fate find_fate(const c10::OperatorHandle &op, c10::DispatchKey key);

// Why it is refused.
const char *refusal_reason(const c10::OperatorHandle &op, c10::DispatchKey key);

// Adds a line to the table: key, name, fate, reason, parted by tabs.
void note_fate(const c10::OperatorHandle &op, c10::DispatchKey key, Fate fate);
const char *fate_table();

} // namespace gpukit
