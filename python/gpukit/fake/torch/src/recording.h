/* SPDX-License-Identifier: Apache-2.0 */
// Operators of a captured stream as kernels of its graph. Each launch of the
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

// Throws if the operator cannot be captured: either CUDA's kernel waits for the
// device, which invalidates the capture, or we are not able to record it.
void check_capture(const Plan &plan, const torch::jit::Stack &stack,
		   std::size_t first, const CapturedStream &stream);

// One operator, recorded while it runs for the first time.
class Recording
{
      public:
	Recording(const Plan &plan, const c10::OperatorHandle &kernel,
		  const CapturedStream &stream);
	~Recording();

	// Stores the operator's arguments, before it runs, with CPU tensors in
	// place of device tensors. `aliases` are those of the arguments.
	void take_arguments(const torch::jit::Stack &stack, std::size_t first,
			    const Aliases &aliases);
	void take_numbers(const CapturedNumbers &numbers);

	// Stores the operator's results as device tensors. `aliases` are those
	// of its arguments.
	void take_answers(const torch::jit::Stack &stack,
			  const Aliases &aliases);

	// Adds the operator to the graph as a node.
	void launch();

      private:
	struct Replay;

	const Plan &plan_;
	CapturedStream stream_;
	Journal &journal_;
	std::unique_ptr<Replay> replay_;
};

} // namespace gpukit
