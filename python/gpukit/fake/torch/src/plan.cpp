/* SPDX-License-Identifier: Apache-2.0 */
// Facts about operators, from their schemas and from PyTorch's own table of
// operators.
#include "plan.h"

#include <ATen/core/function_schema.h>

#include <algorithm>
#include <cstring>

namespace gpukit
{

namespace
{

// Operators marked "device_check: NoCheck" in native_functions.yaml of this
// PyTorch: their CUDA kernels leave the check of devices to TensorIterator, or
// make none. Found by build.py; sorted.
const char *const unchecked[] = {
#include "unchecked.inc"
    "~",
};

// Operators that torchgen calls structured, and whose functions it generates
// differently. Also from build.py.
const char *const structured_names[] = {
#include "structured.inc"
    "~",
};

// Operators that accept whole tensors on the host, not only numbers.
const char *const with_host[] = {
#include "with_host.inc"
};

// Operators whose devices are checked by TensorIterator, but whose CUDA kernels
// accept a number on the host only in one argument, or in none.
const struct {
	const char *name, *argument;
} host_numbers[] = {
#include "host_numbers.inc"
};

const char *find_host_number(const std::string &name)
{
	for (auto &row : host_numbers)
		if (name == row.name)
			return row.argument;
	return nullptr;
}

// Our CUDA-only operators that draw random numbers. PyTorch's table does not
// mark all of them.
const char *const drawing[] = {
    "aten::_cudnn_attention_forward",
    "aten::_efficient_attention_forward",
    "aten::_flash_attention_forward",
    "aten::_fused_dropout",
    "aten::_scaled_dot_product_cudnn_attention",
    "aten::_scaled_dot_product_efficient_attention",
    "aten::_scaled_dot_product_flash_attention",
};

// Operators whose random numbers differ from CUDA's, with the number of words
// that CUDA's kernel draws. CUDA's generator advances by this number. For all
// other operators it is 4.
const struct {
	const char *name;
	std::uint64_t words;
} steps[] = {
    {"aten::_sample_dirichlet", 12},
    {"aten::_standard_gamma", 12},
    {"aten::binomial", 44},
    {"aten::poisson", 20},
};

std::uint64_t find_step(const std::string &name)
{
	for (auto &step : steps)
		if (name == step.name)
			return step.words;
	return 4;
}

bool is_before(const char *a, const char *b)
{
	return std::strcmp(a, b) < 0;
}

template <class Table> bool contains(const Table &table, const char *name)
{
	return std::binary_search(std::begin(table), std::end(table), name,
				  is_before);
}

// Whether a type is Tensor?[], the type of indices.
bool has_holes(const c10::TypePtr &type)
{
	auto list = type->cast<c10::ListType>();

	return list &&
	       list->getElementType()->kind() == c10::TypeKind::OptionalType;
}

std::optional<c10::OperatorHandle> find_instead(const c10::OperatorName &name)
{
	return c10::Dispatcher::singleton().findSchema(
	    {"gpukit" + name.name.substr(name.name.find("::")),
	     name.overload_name});
}

} // namespace

Plan::Plan(const c10::OperatorHandle &op, bool only_dense)
    : name(c10::toString(op.operator_name())), written(0), outs(0),
      generator(-1), size_argument(-1), dense(only_dense),
      waits(op.hasTag(at::Tag::dynamic_output_shape) ||
	    op.hasTag(at::Tag::data_dependent_output)),
      writes_unsaid(name.find("batch_norm") != std::string::npos ||
		    name.find("rrelu_with_noise") != std::string::npos),
      seeded(op.hasTag(at::Tag::nondeterministic_seeded))
{
	const c10::FunctionSchema &schema = op.schema();

	indexes = false;
	arguments = schema.arguments().size();
	returns = schema.returns().size();
	for (unsigned i = 0; i < arguments; i++) {
		const c10::Argument &a = schema.arguments()[i];
		c10::TypePtr type = a.type();

		if (a.alias_info() && a.alias_info()->isWrite() && i < 64)
			written |= std::uint64_t(1) << i;
		if (a.alias_info() && a.kwarg_only() && i < 64)
			outs |= std::uint64_t(1) << i;
		argument_names.push_back(a.name());
		indexes |= i == 1 && has_holes(type);
		if (auto optional = type->cast<c10::OptionalType>())
			type = optional->getElementType();
		if (type->kind() == c10::TypeKind::GeneratorType)
			generator = i;
		if (a.name() == "output_size")
			size_argument = i;
	}
	instead = find_instead(op.operator_name());
	nondeterministic = find_nondeterministic(op.operator_name().name);
	seeded |= generator >= 0;
	philox = (seeded && instead) ||
		 contains(drawing, op.operator_name().name.c_str());
	seeded |= philox;
	draws = find_step(op.operator_name().name);
	same_device = !contains(unchecked, name.c_str());
	structured = contains(structured_names, name.c_str());
	host_operands = contains(with_host, op.operator_name().name.c_str());
	host_number = find_host_number(op.operator_name().name);
	types = find_type_rules(op.operator_name().name);
	wider = find_wider_types(op.operator_name().name);
	transforms = name.find("::_fft_") != std::string::npos;
	converts = name.find("::cum") != std::string::npos;
}

} // namespace gpukit
