// Kernels of ours in CUDA graphs: functions that the driver calls.
#pragma once

#include "driver.h"

#include <string>

namespace gpukit
{

// Puts a kernel into a captured stream. `run` answers 0 or what the context
// fails with, on any thread, once a launch of the graph; `drop` is called when
// no graph has it any more. Throws.
void launch_captured(const CapturedStream &stream, const std::string &name,
		     void *data, int (*run)(void *data),
		     void (*drop)(void *data));

} // namespace gpukit
