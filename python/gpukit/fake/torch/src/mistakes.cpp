/* SPDX-License-Identifier: Apache-2.0 */
// Errors for tensors on a wrong device and for indices out of range.
#include "mistakes.h"

#include "boxed.h"
#include "driver.h"

#include <ATen/core/op_registration/adaption.h>

#include <algorithm>
#include <cstring>

namespace c10
{
class AcceleratorError; // some versions of PyTorch lack it
} // namespace c10

namespace gpukit
{

namespace
{

// Returns the name of the PyTorch function that checks the devices, as used in
// its message. It is derived by the rules of torchgen.
std::string method_of(const Plan &plan)
{
	std::string bare = plan.name.substr(plan.name.find("::") + 2);
	std::size_t dot = bare.find('.');
	std::string name = bare.substr(0, dot);
	std::string overload =
	    dot == std::string::npos ? "" : bare.substr(dot + 1);

	if (plan.outs)
		name += "_out";
	if (!plan.structured)
		return "wrapper_CUDA_" + overload + "_" + name;
	return "wrapper_CUDA_" + name + (overload.empty() ? "" : "_") +
	       overload;
}

// Compares the device of each tensor with that of the first one. Results
// provided by the caller come first.
void check_as_pytorch(const Plan &plan, const torch::jit::Stack &stack,
		      std::size_t first)
{
	std::optional<c10::Device> common;
	std::string method = method_of(plan);

	for (bool out : {true, false})
		for (unsigned i = 0; i < plan.arguments; i++)
			if (plan.is_out(i) == out)
				visit_tensors(stack[first + i], [&](auto &t) {
					c10::impl::
					    check_and_update_common_device(
						common, t, method.c_str(),
						plan.argument_names[i].c_str());
				});
}

[[noreturn]] void refuse_mixed(c10::Device a, c10::Device b)
{
	TORCH_CHECK(false,
		    "Expected all tensors to be on the same device, but found "
		    "at least two devices, ",
		    a, " and ", b, "!");
}

// Checks that the indexed tensor is on the device. Indices and numbers may be
// on the host.
void check_indexing(const torch::jit::Stack &stack, const Plan &plan,
		    std::size_t first, c10::Device device)
{
	const at::Tensor &self = stack[first].toTensor();

	TORCH_CHECK_INDEX(self.device() == device,
			  "indices should be either on cpu or on the same "
			  "device as the indexed tensor (",
			  self.device(), ")");
	for (unsigned i = 1; i < plan.arguments; i++)
		visit_tensors(stack[first + i], [&](const at::Tensor &t) {
			bool host = t.defined() && t.device().is_cpu();

			if (!t.defined() || t.device() == device ||
			    (host && (!t.dim() ||
				      stack[first + i].isOptionalTensorList())))
				return;
			refuse_mixed(device, t.device());
		});
}

bool takes_number(const Plan &plan, unsigned argument)
{
	return !plan.writes(argument) &&
	       (!plan.host_number ||
		plan.argument_names[argument] == plan.host_number);
}

bool may_be_elsewhere(const Plan &plan, const at::Tensor &t, unsigned argument)
{
	if (!t.device().is_cpu())
		return false;
	return plan.host_operands || (!t.dim() && takes_number(plan, argument));
}

// Checks for operators whose kernels compare the devices themselves, before
// TensorIterator does.
void check_mask(const at::Tensor &self, const at::Tensor &mask)
{
	TORCH_CHECK(self.device() == mask.device(),
		    "expected self and mask to be on the same device, but got "
		    "mask on ",
		    mask.device(), " and self on ", self.device());
}

void check_as_iterator(const Plan &plan, const torch::jit::Stack &stack,
		       std::size_t first, c10::Device device)
{
	if (plan.name == "aten::masked_fill_.Scalar")
		check_mask(stack[first].toTensor(),
			   stack[first + 1].toTensor());
	for (unsigned i = 0; i < plan.arguments; i++)
		visit_tensors(stack[first + i], [&](const at::Tensor &t) {
			if (t.defined() && t.device() != device &&
			    !may_be_elsewhere(plan, t, i))
				refuse_mixed(device, t.device());
		});
}

// Messages of CPU kernels for mistakes for which CUDA's kernels have
// assertions.
const char *const asserted[] = {
#include "asserted.inc"
};

// Exceptions from these: CUDA's operators raise them on the host, too.
const char *const host_checks[] = {
#include "host_checks.inc"
};

// Messages of CPU kernels that do not support their operands.
const char *const lacking[] = {
#include "lacking.inc"
};

template <std::size_t N>
bool says_one_of(const char *const (&parts)[N], const char *text)
{
	return std::any_of(parts, parts + N, [text](const char *part) {
		return std::strstr(text, part) != nullptr;
	});
}

// Returns the class that this PyTorch uses for the error.
template <class Kind, class = void> struct Thrown {
	static void raise(int, const std::string &text)
	{
		TORCH_CHECK(false, text);
	}
};
template <class Kind> struct Thrown<Kind, std::void_t<decltype(sizeof(Kind))>> {
	static void raise(int result, const std::string &text)
	{
		throw Kind({__func__, __FILE__, __LINE__}, result, text);
	}
};

} // namespace

void check_devices(const Plan &plan, const torch::jit::Stack &stack,
		   std::size_t first, c10::Device device)
{
	if (plan.same_device)
		check_as_pytorch(plan, stack, first);
	else if (plan.indexes)
		check_indexing(stack, plan, first, device);
	else
		check_as_iterator(plan, stack, first, device);
}

bool is_assertion(const c10::Error &error)
{
	const char *text = error.what_without_backtrace();

	return says_one_of(asserted, text) && !says_one_of(host_checks, text);
}

void tell_refusal(const Plan &plan, const c10::Error &error)
{
	const char *text = error.what_without_backtrace();

	// CUDA's own checks have passed, so that the CPU kernel lacks
	// something.
	if (says_one_of(lacking, text))
		refuse(plan.name.c_str());
}

void throw_cuda(int result, const std::string &more)
{
	const char *text = nullptr;

	if (driver_calls().cuGetErrorString(result, &text) || !text)
		text = "unknown error";
	Thrown<c10::AcceleratorError>::raise(
	    result, std::string("CUDA error: ") + text + "\n" + more);
	std::abort(); // not reached: the call has thrown
}

} // namespace gpukit
