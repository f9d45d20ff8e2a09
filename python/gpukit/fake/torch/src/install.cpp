/* SPDX-License-Identifier: Apache-2.0 */
// Replaces PyTorch's kernels for the keys of GPUs with our kernels.
#include "boxed.h"
#include "copy.h"
#include "driver.h"
#include "fate.h"
#include "memory.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <map>
#include <memory>
#include <string>

namespace gpukit
{

namespace
{

using c10::DispatchKey;

// Suppresses the first warning of the dispatcher about replaced kernels.
class Silence final : public c10::WarningHandler
{
	void process(const c10::Warning &) override
	{
	}
};

class CopyKernel final : public c10::OperatorKernel
{
      public:
	explicit CopyKernel(const c10::OperatorHandle &op) : within_(op, true)
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
	explicit Refusal(const char *reason) : reason_(reason)
	{
	}

	void operator()(const c10::OperatorHandle &op, c10::DispatchKeySet,
			torch::jit::Stack *)
	{
		std::string name = c10::toString(op.operator_name());

		refuse(name.c_str());
		TORCH_CHECK_NOT_IMPLEMENTED(
		    false, name,
		    " is not executed on a made-up GPU: ", reason_);
	}

      private:
	std::string reason_;
};

template <class Kernel, class... Arguments>
torch::CppFunction make_kernel(Arguments &&...arguments)
{
	return torch::CppFunction::makeFromBoxedFunctor(
	    std::make_unique<Kernel>(std::forward<Arguments>(arguments)...));
}

torch::CppFunction kernel_for(const c10::OperatorHandle &op, DispatchKey key,
			      Fate fate)
{
	if (fate == Fate::REFUSED)
		return make_kernel<Refusal>(refusal_reason(op, key));
	if (op.operator_name().name == "aten::copy_" &&
	    key == DispatchKey::CUDA)
		return make_kernel<CopyKernel>(op);
	return make_kernel<BoxedKernel>(op, key == DispatchKey::CUDA);
}

// Returns the library that holds our registrations for a namespace and key.
// Never destroyed, because that would remove them.
torch::Library &library_of(const std::string &space, DispatchKey key)
{
	static auto *all =
	    new std::map<std::pair<std::string, DispatchKey>, torch::Library *>;
	torch::Library *&found = (*all)[{space, key}];

	if (!found)
		found = new torch::Library(torch::Library::IMPL, space, key,
					   __FILE__, __LINE__);
	return *found;
}

void replace(const c10::OperatorHandle &op, DispatchKey key)
{
	const c10::OperatorName &name = op.operator_name();
	Fate fate = find_fate(op, key);
	std::string full = c10::toString(name);

	if (name.getNamespace() == "aten")
		note_fate(op, key, fate);
	// Leave out CUDA-only operators of other libraries: they may be
	// composed of PyTorch's operators.
	if (fate == Fate::KEPT ||
	    (fate == Fate::REFUSED && name.getNamespace() != "aten"))
		return;
	library_of(std::string(*name.getNamespace()), key)
	    .impl(full.substr(full.find("::") + 2).c_str(),
		  kernel_for(op, key, fate));
}

unsigned replace_all(const char *space, DispatchKey key)
{
	c10::Dispatcher &dispatcher = c10::Dispatcher::singleton();
	auto names = dispatcher.getRegistrationsForDispatchKey(key);
	unsigned count = 0;

	if (key == DispatchKey::CUDA && !std::strcmp(space, "aten"))
		names.push_back({"aten::copy_", ""});
	for (const c10::OperatorName &name : names) {
		auto op = dispatcher.findSchema(name);

		if (!op || name.getNamespace() != space)
			continue;
		replace(*op, key);
		count++;
	}
	return count;
}

} // namespace

} // namespace gpukit

#define EXPORTED extern "C" __attribute__((visibility("default")))

// Covers those operators of one more namespace that are loaded now. Returns how
// many there are.
EXPORTED unsigned gpukit_torch_cover(const char *space)
{
	gpukit::Silence silence;
	c10::WarningUtils::WarningHandlerGuard guard(&silence);
	unsigned count = 0;

	for (c10::DispatchKey key :
	     {c10::DispatchKey::CUDA, c10::DispatchKey::SparseCUDA,
	      c10::DispatchKey::SparseCsrCUDA,
	      c10::DispatchKey::NestedTensorCUDA,
	      c10::DispatchKey::QuantizedCUDA})
		count += gpukit::replace_all(space, key);
	return count;
}

// Called once, by install.py. Returns 0, or 1 if the driver is not ours or is
// too old.
EXPORTED int gpukit_torch_install(unsigned *ret_operators)
{
	if (!gpukit::find_driver())
		return 1;
	gpukit::install_allocator();
	*ret_operators = gpukit_torch_cover("aten");
	return 0;
}

// Returns lines of key, operator, fate and reason, separated by tabs.
EXPORTED const char *gpukit_torch_table(void)
{
	return gpukit::fate_table();
}
