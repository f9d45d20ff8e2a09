/* SPDX-License-Identifier: Apache-2.0 */
// Operators of a captured stream as kernels of its graph: each launch of the
// graph repeats them on the same memory.
#pragma once

#include "alias.h"
#include "journal.h"
#include "plan.h"
#include "random.h"

#include <ATen/core/stack.h>

#include <memory>
#include <vector>

namespace gpukit
{

// Throws if the operator cannot be captured: CUDA's kernel waits for the
// device, which invalidates the capture, or we cannot record it.
void check_capture(const Plan &plan, const torch::jit::Stack &stack,
		   std::size_t first, const CapturedStream &stream);

// One operator, recorded while it runs for the first time.
class Recording
{
      public:
	Recording(const Plan &plan, const c10::OperatorHandle &kernel,
		  const CapturedStream &stream);
	~Recording();

	// Takes its arguments before it runs, with the CPU's tensors in place
	// of the device's. aliases: of the arguments.
	void take_arguments(const torch::jit::Stack &stack, std::size_t first,
			    const Aliases &aliases);
	void take_numbers(const CapturedNumbers &numbers);

	// Takes its results, as tensors of the device. aliases: of its
	// arguments.
	void take_answers(const torch::jit::Stack &stack,
			  const Aliases &aliases);

	// Adds a node to the graph.
	void launch();

      private:
	struct Replay;

	const Plan &plan_;
	CapturedStream stream_;
	Journal &journal_;
	std::unique_ptr<Replay> replay_;
};

} // namespace gpukit
