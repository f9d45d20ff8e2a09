/* SPDX-License-Identifier: Apache-2.0 */
// Our kernels in CUDA graphs: functions that the driver calls.
#pragma once

#include "driver.h"

#include <string>

namespace gpukit
{

// Adds a kernel to a captured stream. Each launch of the graph calls `run` on
// any thread; it returns 0 or the error that the context gets. `drop` is called
// once no graph uses the kernel any longer. Throws.
void launch_captured(const CapturedStream &stream, const std::string &name,
		     void *data, int (*run)(void *data),
		     void (*drop)(void *data));

} // namespace gpukit
