/* SPDX-License-Identifier: Apache-2.0 */
// The one kernel for all operators on a made-up device. It turns their tensors
// into CPU tensors on the same bytes, runs the CPU kernel, and turns the
// results into tensors of the device.
#include "boxed.h"

#include "alias.h"
#include "driver.h"
#include "memory.h"
#include "mistakes.h"
#include "random.h"
#include "recording.h"
#include "wider.h"

#include <ATen/ATen.h>
#include <ATen/core/stack.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace gpukit
{

namespace
{

using c10::IValue;

class Call
{
      public:
	Call(const Plan &plan, torch::jit::Stack *stack)
	    : plan_(plan), stack_(*stack),
	      first_(stack->size() - plan.arguments)
	{
	}

	void run(const c10::OperatorHandle &op);

      private:
	c10::Device find_device();
	void look_at(const IValue &v);
	void replace(IValue *v, bool written);
	at::Tensor replaced(const at::Tensor &t, bool written);
	const c10::OperatorHandle &kernel_of(const c10::OperatorHandle &op);
	void run_kernel(const c10::OperatorHandle &op, DeviceWork *work);
	void run_drawing(const c10::OperatorHandle &op, DeviceWork *work);
	void run_captured(const c10::OperatorHandle &op, DeviceWork *work);
	void draw_captured(const c10::OperatorHandle &op, DeviceWork *work,
			   Recording *recording);
	DeviceGenerator generator() const;
	IValue *generator_argument();
	void give_back(IValue *v);

	const Plan &plan_;
	torch::jit::Stack &stack_;
	std::size_t first_;
	c10::Device device_ = c10::kCPU; // used until a device is known
	Aliases aliases_;
};

void Call::look_at(const IValue &v)
{
	if (v.isDevice() && v.toDevice().is_cuda() && !device_.is_cuda())
		device_ = v.toDevice();
	visit_tensors(v, [&](const at::Tensor &t) {
		if (is_on_device(t) && !device_.is_cuda())
			device_ = t.device();
	});
}

c10::Device Call::find_device()
{
	bool elsewhere = false;

	for (unsigned i = 0; i < plan_.arguments; i++)
		look_at(stack_[first_ + i]);
	if (!device_.is_cuda() || !device_.has_index())
		device_ = c10::Device(c10::kCUDA,
				      c10::impl::getDeviceGuardImpl(c10::kCUDA)
					  ->getDevice()
					  .index());
	for (unsigned i = 0; i < plan_.arguments; i++)
		visit_tensors(stack_[first_ + i], [&](const at::Tensor &t) {
			elsewhere |= t.defined() && t.device() != device_;
		});
	if (C10_UNLIKELY(elsewhere))
		check_devices(plan_, stack_, first_, device_);
	return device_;
}

at::Tensor Call::replaced(const at::Tensor &t, bool written)
{
	return is_on_device(t) ? aliases_.of(t, written) : t;
}

void Call::replace(IValue *v, bool written)
{
	if (v->isTensor()) {
		const at::Tensor &t = v->toTensor();

		if (is_on_device(t))
			*v = aliases_.of(t, written);
	} else if (v->isTensorList()) {
		c10::List<at::Tensor> list;

		for (const at::Tensor &t : v->toTensorList())
			list.push_back(replaced(t, written));
		*v = std::move(list);
	} else if (v->isOptionalTensorList()) {
		c10::List<std::optional<at::Tensor>> list;

		for (const std::optional<at::Tensor> &t :
		     v->toOptionalTensorList())
			list.push_back(
			    t ? std::optional<at::Tensor>(replaced(*t, written))
			      : std::nullopt);
		*v = std::move(list);
	} else if (v->isDevice() && v->toDevice().is_cuda()) {
		*v = c10::Device(c10::kCPU);
	}
}

void Call::give_back(IValue *v)
{
	if (v->isTensor()) {
		*v = aliases_.original_of(v->toTensor());
	} else if (v->isTensorList()) {
		c10::List<at::Tensor> list;

		for (const at::Tensor &t : v->toTensorList())
			list.push_back(aliases_.original_of(t));
		*v = std::move(list);
	}
}

const c10::OperatorHandle &Call::kernel_of(const c10::OperatorHandle &op)
{
	return plan_.instead ? *plan_.instead : op;
}

void Call::run_kernel(const c10::OperatorHandle &op, DeviceWork *work)
{
	DeviceAllocation allocation;

	try {
		if (C10_LIKELY(plan_.dense))
			call_cpu_kernel(plan_, kernel_of(op), &stack_);
		else
			kernel_of(op).callBoxed(&stack_);
	} catch (const c10::Error &e) {
		if (!is_assertion(e)) {
			tell_refusal(plan_, e);
			throw;
		}
		std::string what = plan_.name + ": " +
				   e.what_without_backtrace() +
				   aliases_.describe();
		TORCH_CHECK(!work->is_captured(),
			    "CUDA error: a made-up GPU runs operators when it "
			    "captures them, and this one failed: ",
			    what);
		work->fail_assertion(what);
		throw_cuda(DRIVER_ASSERT, what);
	}
}

DeviceGenerator Call::generator() const
{
	const IValue none;
	const IValue &v =
	    plan_.generator < 0 ? none : stack_[first_ + plan_.generator];

	return {v.isGenerator() ? v.toGenerator() : at::Generator(),
		device_.index()};
}

IValue *Call::generator_argument()
{
	return plan_.generator < 0 ? nullptr
				   : &stack_[first_ + plan_.generator];
}

// Runs the operator with random numbers of the device's generator.
void Call::run_drawing(const c10::OperatorHandle &op, DeviceWork *work)
{
	DeviceGenerator from = generator();
	Drawing drawing(from.state());

	drawing.give_to(plan_, generator_argument());
	run_kernel(op, work);
	from.advance(drawing.drawn());
}

void Call::draw_captured(const c10::OperatorHandle &op, DeviceWork *work,
			 Recording *recording)
{
	DeviceGenerator from = generator();
	CapturedNumbers numbers = from.captured_state();
	Drawing drawing({0, numbers.drawn_before, numbers.blocks});

	drawing.give_to(plan_, generator_argument());
	recording->take_numbers(numbers);
	run_kernel(op, work);
	from.advance_captured(drawing.drawn());
}

void Call::run_captured(const c10::OperatorHandle &op, DeviceWork *work)
{
	check_capture(plan_, stack_, first_, work->captured());
	for (unsigned i = 0; i < plan_.arguments; i++)
		replace(&stack_[first_ + i], plan_.writes(i));

	Recording recording(plan_, kernel_of(op), work->captured());

	recording.take_arguments(stack_, first_, aliases_);
	if (plan_.seeded)
		draw_captured(op, work, &recording);
	else
		run_kernel(op, work);
	aliases_.settle();
	for (std::size_t i = stack_.size() - plan_.returns; i < stack_.size();
	     i++)
		give_back(&stack_[i]);
	recording.take_answers(stack_, aliases_);
	recording.launch();
}

void Call::run(const c10::OperatorHandle &op)
{
	c10::DeviceGuard guard(find_device());
	c10::impl::ExcludeDispatchKeyGuard below(ABOVE_KERNELS);
	if (C10_UNLIKELY(plan_.nondeterministic != nullptr))
		check_deterministic(plan_, stack_, first_);
	if (C10_UNLIKELY(!plan_.types.empty() || plan_.transforms))
		check_types(plan_, stack_, first_);
	DeviceWork work(device_.index(), plan_.name.c_str());

	if (C10_UNLIKELY(work.is_captured())) {
		run_captured(op, &work);
		return;
	}
	for (unsigned i = 0; i < plan_.arguments; i++)
		replace(&stack_[first_ + i], plan_.writes(i));
	if (C10_UNLIKELY(plan_.seeded))
		run_drawing(op, &work);
	else
		run_kernel(op, &work);
	aliases_.settle();
	for (std::size_t i = stack_.size() - plan_.returns; i < stack_.size();
	     i++)
		give_back(&stack_[i]);
}

} // namespace

void BoxedKernel::operator()(const c10::OperatorHandle &op, c10::DispatchKeySet,
			     torch::jit::Stack *stack)
{
	Call(plan_, stack).run(op);
}

} // namespace gpukit
