// The one kernel that all operators have on a made-up device: their tensors
// become CPU tensors on the same bytes, the CPU's kernel runs, and what it
// answers becomes tensors of the device.
#include "boxed.h"

#include "alias.h"
#include "driver.h"
#include "memory.h"
#include "random.h"

#include <ATen/ATen.h>
#include <ATen/core/stack.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <cstring>

namespace gpukit
{

namespace
{

using c10::IValue;

// Autograd, autocast and views are above us: not once more for the aliases.
const c10::DispatchKeySet NOT_AGAIN =
    c10::autograd_dispatch_keyset_with_ADInplaceOrView |
    c10::autocast_dispatch_keyset;

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
	void look_at(const IValue &v, unsigned argument);
	void look_at(const at::Tensor &t, unsigned argument);
	void replace(IValue *v, bool written);
	at::Tensor replaced(const at::Tensor &t, bool written);
	void run_kernel(const c10::OperatorHandle &op, DeviceWork *work);
	void run_drawing(const c10::OperatorHandle &op, DeviceWork *work);
	void give_back(IValue *v);
	[[noreturn]] void refuse_mixed(const at::Tensor &t, unsigned argument);

	const Plan &plan_;
	torch::jit::Stack &stack_;
	std::size_t first_;
	c10::Device device_ = c10::kCPU; // until one is found
	Aliases aliases_;
};

void Call::refuse_mixed(const at::Tensor &t, unsigned argument)
{
	TORCH_CHECK(false,
		    "Expected all tensors to be on the same device, but found "
		    "at least two devices, ",
		    device_, " and ", t.device(),
		    "! (when checking argument number ", argument + 1, " of ",
		    plan_.name, ")");
}

// Tensors of the host: numbers may be anywhere, others in few operators.
void Call::look_at(const at::Tensor &t, unsigned argument)
{
	if (!t.defined() || t.device() == device_)
		return;
	if (t.device().is_cuda()) {
		if (!device_.is_cuda())
			device_ = t.device();
		else
			refuse_mixed(t, argument);
	}
}

template <class Visit> void visit_tensors(const IValue &v, Visit visit)
{
	if (v.isTensor()) {
		visit(v.toTensor());
	} else if (v.isTensorList()) {
		for (const at::Tensor &t : v.toTensorList())
			visit(t);
	} else if (v.isOptionalTensorList()) {
		for (const std::optional<at::Tensor> &t :
		     v.toOptionalTensorList())
			if (t)
				visit(*t);
	}
}

void Call::look_at(const IValue &v, unsigned argument)
{
	if (v.isDevice() && v.toDevice().is_cuda() && !device_.is_cuda())
		device_ = v.toDevice();
	visit_tensors(v, [&](const at::Tensor &t) { look_at(t, argument); });
}

bool may_be_on_host(const Plan &plan, const at::Tensor &t, unsigned argument)
{
	if (plan.host_operands)
		return true;
	return !plan.same_device && !t.dim() && !plan.writes(argument);
}

c10::Device Call::find_device()
{
	bool host = false;

	for (unsigned i = 0; i < plan_.arguments; i++)
		look_at(stack_[first_ + i], i);
	if (!device_.is_cuda() || !device_.has_index())
		device_ = c10::Device(c10::kCUDA,
				      c10::impl::getDeviceGuardImpl(c10::kCUDA)
					  ->getDevice()
					  .index());
	for (unsigned i = 0; i < plan_.arguments; i++)
		visit_tensors(stack_[first_ + i], [&](const at::Tensor &t) {
			host |= t.defined() && t.device() != device_;
		});
	if (C10_LIKELY(!host))
		return device_;
	for (unsigned i = 0; i < plan_.arguments; i++)
		visit_tensors(stack_[first_ + i], [&](const at::Tensor &t) {
			if (t.defined() && t.device() != device_ &&
			    !may_be_on_host(plan_, t, i))
				refuse_mixed(t, i);
		});
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

// Messages of CPU kernels that found an index where CUDA's would assert.
bool is_assertion(const char *message)
{
	return std::strstr(message, "out of bounds") ||
	       std::strstr(message, "index out of range in self");
}

void Call::run_kernel(const c10::OperatorHandle &op, DeviceWork *work)
{
	DeviceAllocation allocation;

	try {
		const c10::OperatorHandle &kernel =
		    plan_.instead ? *plan_.instead : op;

		if (C10_LIKELY(plan_.dense))
			kernel.redispatchBoxed(
			    c10::DispatchKeySet(c10::DispatchKey::CPU),
			    &stack_);
		else
			kernel.callBoxed(&stack_);
	} catch (const c10::Error &e) {
		if (!is_assertion(e.what_without_backtrace()))
			throw;
		work->fail_assertion();
		TORCH_CHECK(false, "CUDA error: device-side assert triggered: ",
			    plan_.name, ": ", e.what_without_backtrace(),
			    aliases_.describe());
	}
}

// With the numbers that the device's generator stands for.
void Call::run_drawing(const c10::OperatorHandle &op, DeviceWork *work)
{
	IValue none;
	IValue *v =
	    plan_.generator < 0 ? &none : &stack_[first_ + plan_.generator];
	Drawing drawing(v->isGenerator() ? v->toGenerator() : at::Generator(),
			device_.index());
	std::optional<DefaultGenerator> stands_in;

	if (plan_.philox)
		*v = IValue();
	else if (plan_.generator >= 0)
		*v = drawing.generator();
	else
		stands_in.emplace(drawing.generator());
	run_kernel(op, work);
}

void Call::run(const c10::OperatorHandle &op)
{
	c10::DeviceGuard guard(find_device());
	c10::impl::ExcludeDispatchKeyGuard below(NOT_AGAIN);
	DeviceWork work(device_.index(), plan_.name.c_str());

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
