// Operators of a stream that is captured, as kernels of its graph: each launch
// of that does them again, on the same memory.
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

// Why an operator cannot be captured: CUDA's own waits for the device there, so
// the capture becomes invalid; or it is none of ours to record. Throws.
void check_capture(const Plan &plan, const torch::jit::Stack &stack,
		   std::size_t first, const CapturedStream &stream);

// One operator, as it is recorded while it runs for the first time.
class Recording
{
      public:
	Recording(const Plan &plan, const c10::OperatorHandle &kernel,
		  const CapturedStream &stream);
	~Recording();

	// Its arguments, with the CPU's tensors in place of the device's,
	// before it runs. Aliases: of those.
	void take_arguments(const torch::jit::Stack &stack, std::size_t first,
			    const Aliases &aliases);
	void take_numbers(const CapturedNumbers &numbers);

	// What it answered, as tensors of the device. Aliases: of its
	// arguments.
	void take_answers(const torch::jit::Stack &stack,
			  const Aliases &aliases);

	// A node of the graph.
	void launch();

      private:
	struct Replay;

	const Plan &plan_;
	CapturedStream stream_;
	Journal &journal_;
	std::unique_ptr<Replay> replay_;
};

} // namespace gpukit
