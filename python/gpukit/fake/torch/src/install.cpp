// Puts our kernels in the place of PyTorch's for the key CUDA.
#include "boxed.h"
#include "copy.h"
#include "driver.h"
#include "memory.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <cstring>
#include <memory>
#include <set>
#include <string>

namespace gpukit
{

namespace
{

// Kernels of CUDA's that need no GPU: they make, show or ask.
const char *const kept[] = {
    "_cudnn_set_rnn_dropout",
    "_fused_sdp_choice",
    "_has_same_storage_numel",
    "_pin_memory",
    "_reshape_alias",
    "as_strided",
    "empty",
    "empty_strided",
    "is_pinned",
    "record_stream",
    "resize_",
    "set_",
    "unfold",
    "view",
    "view_as_complex",
    "view_as_real",
};

bool is_kept(const std::string &name)
{
	for (const char *k : kept)
		if (name == std::string("aten::") + k)
			return true;
	return false;
}

// The first warning of the dispatcher's about kernels that are replaced.
class Silence final : public c10::WarningHandler
{
	void process(const c10::Warning &) override
	{
	}
};

class CopyKernel final : public c10::OperatorKernel
{
      public:
	explicit CopyKernel(const c10::OperatorHandle &op) : within_(op)
	{
	}

	void operator()(const c10::OperatorHandle &op, c10::DispatchKeySet keys,
			torch::jit::Stack *stack)
	{
		std::size_t first = stack->size() - 3;
		at::Tensor self = (*stack)[first].toTensor();
		at::Tensor src = (*stack)[first + 1].toTensor();

		if (!is_copy_between(self, src)) {
			within_(op, keys, stack);
			return;
		}
		copy_between(self, src, (*stack)[first + 2].toBool());
		stack->resize(first);
		stack->emplace_back(std::move(self));
	}

      private:
	BoxedKernel within_;
};

class Refusal final : public c10::OperatorKernel
{
      public:
	void operator()(const c10::OperatorHandle &op, c10::DispatchKeySet,
			torch::jit::Stack *)
	{
		TORCH_CHECK_NOT_IMPLEMENTED(
		    false, c10::toString(op.operator_name()),
		    " is not executed on a made-up GPU: PyTorch has no kernel "
		    "of the CPU's for it");
	}
};

std::string library_name(const c10::OperatorName &name)
{
	std::string all = c10::toString(name);

	return all.substr(all.find("::") + 2);
}

bool can_run(const c10::OperatorHandle &op)
{
	return op.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU) ||
	       Plan(op).instead;
}

torch::CppFunction kernel_for(const c10::OperatorHandle &op)
{
	const std::string &name = op.operator_name().name;

	if (name == "aten::copy_")
		return torch::CppFunction::makeFromBoxedFunctor(
		    std::make_unique<CopyKernel>(op));
	if (can_run(op))
		return torch::CppFunction::makeFromBoxedFunctor(
		    std::make_unique<BoxedKernel>(op));
	return torch::CppFunction::makeFromBoxedFunctor(
	    std::make_unique<Refusal>());
}

// Registrations hold as long as their library: for ever.
torch::Library &library()
{
	static torch::Library *aten =
	    new torch::Library(torch::Library::IMPL, "aten",
			       c10::DispatchKey::CUDA, __FILE__, __LINE__);

	return *aten;
}

unsigned replace_all()
{
	c10::Dispatcher &dispatcher = c10::Dispatcher::singleton();
	auto names =
	    dispatcher.getRegistrationsForDispatchKey(c10::DispatchKey::CUDA);
	unsigned count = 0;

	names.push_back({"aten::copy_", ""});
	for (const c10::OperatorName &name : names) {
		auto op = dispatcher.findSchema(name);

		if (!op || name.getNamespace() != "aten" || is_kept(name.name))
			continue;
		library().impl(library_name(name).c_str(), kernel_for(*op));
		count++;
	}
	return count;
}

} // namespace

} // namespace gpukit

// 0; or 1: the driver is none of ours, or too old. Called once, by __init__.py.
extern "C" __attribute__((visibility("default"))) int
gpukit_torch_install(unsigned *ret_operators)
{
	gpukit::Silence silence;
	c10::WarningUtils::WarningHandlerGuard guard(&silence);

	if (!gpukit::find_driver())
		return 1;
	gpukit::install_allocator();
	*ret_operators = gpukit::replace_all();
	return 0;
}
