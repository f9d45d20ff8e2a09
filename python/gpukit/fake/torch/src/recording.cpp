/* SPDX-License-Identifier: Apache-2.0 */
// Records the operators of captured streams, and replays them.
#include "recording.h"

#include "boxed.h"
#include "kernel.h"
#include "mistakes.h"
#include "wider.h"

#include <ATen/ATen.h>

namespace gpukit
{

namespace
{

// Device memory used by a recorded operator.
struct Region {
	const void *address;
	std::size_t size;
	void *view;
};

void add_regions(const Aliases &aliases, std::vector<Region> *regions)
{
	aliases.visit_bytes(
	    [&](const c10::Storage &original, void *view, std::size_t size) {
		    if (size)
			    regions->push_back({original.data(), size, view});
	    });
}

// Tensors on the host keep the values that they had during capture.
c10::IValue taken(const c10::IValue &v, const Aliases &aliases)
{
	if (v.isTensor() && v.toTensor().defined() &&
	    !aliases.is_alias(v.toTensor()))
		return v.toTensor().clone();
	return v;
}

bool is_mask(const at::Tensor &t)
{
	return t.scalar_type() == at::kBool || t.scalar_type() == at::kByte;
}

bool has_mask(const c10::IValue &v)
{
	bool found = false;

	if (v.isOptionalTensorList())
		visit_tensors(v, [&](const at::Tensor &t) {
			found |= t.defined() && is_mask(t);
		});
	return found;
}

bool is_host_array(const at::Tensor &t)
{
	return t.defined() && t.device().is_cpu() && t.dim();
}

bool is_host_number(const at::Tensor &t)
{
	return t.defined() && t.device().is_cpu() && !t.dim();
}

// Whether CUDA's kernel waits for values from the device, or copies from the
// host.
bool waits(const Plan &plan, const torch::jit::Stack &stack, std::size_t first)
{
	bool indexed = false, found = false, masked = false, filled = false;

	for (unsigned i = 0; i < plan.arguments; i++) {
		const c10::IValue &v = stack[first + i];

		indexed |= v.isOptionalTensorList();
		masked |= has_mask(v);
		visit_tensors(v, [&](const at::Tensor &t) {
			found |= is_host_array(t);
			filled |= is_host_number(t);
		});
	}
	// If a mask selects elements to fill with a single number, they need
	// not be counted.
	return found || (masked && !filled) ||
	       (plan.waits && !indexed &&
		!(plan.size_argument >= 0 &&
		  !stack[first + plan.size_argument].isNone()));
}

} // namespace

void check_capture(const Plan &plan, const torch::jit::Stack &stack,
		   std::size_t first, const CapturedStream &stream)
{
	if (C10_UNLIKELY(!plan.dense)) {
		refuse(plan.name.c_str());
		TORCH_CHECK_NOT_IMPLEMENTED(
		    false, plan.name,
		    " on tensors that are made of others is "
		    "not captured into a CUDA graph of a made-up GPU");
	}
	if (!waits(plan, stack, first))
		return;
	wait_in_capture(stream);
	throw_cuda(DRIVER_CAPTURE_UNSUPPORTED,
		   plan.name + " waits for values of the device");
}

struct Recording::Replay {
	const Plan &plan;
	c10::OperatorHandle kernel;
	torch::jit::Stack arguments;
	std::vector<at::Tensor> answers; // the tensors that receive the results
	std::vector<Region> regions;
	std::optional<CapturedNumbers> numbers;

	int run();
	bool is_mapped() const;
	void compute(torch::jit::Stack *stack);
	void hand_over(const torch::jit::Stack &stack) const;
};

// Whether all its memory is still mapped. If not, CUDA's kernel would fail,
// too.
bool Recording::Replay::is_mapped() const
{
	for (const Region &r : regions)
		if (driver().view(reinterpret_cast<std::uint64_t>(r.address),
				  r.size) != r.view)
			return false;
	return true;
}

void Recording::Replay::compute(torch::jit::Stack *stack)
{
	std::optional<Drawing> drawing;

	if (numbers) {
		drawing.emplace(numbers->now());
		drawing->give_to(plan, plan.generator < 0
					   ? nullptr
					   : &(*stack)[plan.generator]);
	}
	call_cpu_kernel(plan, kernel, stack);
}

void Recording::Replay::hand_over(const torch::jit::Stack &stack) const
{
	std::size_t next = 0;

	for (const c10::IValue &v : stack)
		visit_tensors(v, [&](const at::Tensor &t) {
			const at::Tensor &to = answers.at(next++);

			if (!t.defined() || t.data_ptr() == to.data_ptr())
				return;
			TORCH_CHECK(t.sizes() == to.sizes(), "it has sizes ",
				    t.sizes(), " now, and had ", to.sizes(),
				    " when it was captured");
			to.copy_(t);
		});
}

int Recording::Replay::run()
{
	c10::impl::ExcludeDispatchKeyGuard below(ABOVE_KERNELS);
	torch::jit::Stack stack = arguments;

	if (!is_mapped())
		return DRIVER_ILLEGAL_ADDRESS;
	try {
		compute(&stack);
		hand_over(stack);
	} catch (const c10::Error &e) {
		tell_failure(plan.name + ": " + e.what_without_backtrace());
		return is_assertion(e) ? DRIVER_ASSERT : DRIVER_LAUNCH_FAILED;
	} catch (const std::exception &e) {
		tell_failure(plan.name + ": " + e.what());
		return DRIVER_LAUNCH_FAILED;
	}
	return 0;
}

Recording::Recording(const Plan &plan, const c10::OperatorHandle &kernel,
		     const CapturedStream &stream)
    : plan_(plan), stream_(stream), journal_(Journal::of(stream)),
      replay_(new Replay{plan, kernel, {}, {}, {}, {}})
{
	Journal::current() = &journal_;
}

Recording::~Recording()
{
	Journal::current() = nullptr;
}

void Recording::take_arguments(const torch::jit::Stack &stack,
			       std::size_t first, const Aliases &aliases)
{
	for (unsigned i = 0; i < plan_.arguments; i++) {
		const c10::IValue &v = stack[first + i];

		replay_->arguments.push_back(taken(v, aliases));
		if (!plan_.writes(i) && !plan_.writes_unsaid)
			continue;
		visit_tensors(v, [&](const at::Tensor &t) {
			if (t.defined() && aliases.is_alias(t))
				journal_.keep(t.storage().mutable_data(),
					      t.storage().nbytes());
		});
	}
}

void Recording::take_numbers(const CapturedNumbers &numbers)
{
	replay_->numbers = numbers;
}

void Recording::take_answers(const torch::jit::Stack &stack,
			     const Aliases &aliases)
{
	Aliases targets;

	for (std::size_t i = stack.size() - plan_.returns; i < stack.size();
	     i++)
		visit_tensors(stack[i], [&](const at::Tensor &t) {
			replay_->answers.push_back(
			    is_on_device(t) ? targets.of(t, true) : t);
		});
	add_regions(aliases, &replay_->regions);
	add_regions(targets, &replay_->regions);
}

void Recording::launch()
{
	launch_captured(
	    stream_, plan_.name, replay_.release(),
	    [](void *replay) { return static_cast<Replay *>(replay)->run(); },
	    [](void *replay) { delete static_cast<Replay *>(replay); });
}

} // namespace gpukit
