/* SPDX-License-Identifier: Apache-2.0 */
// Types that CUDA's kernels refuse, with their messages, and types that the
// CPU's kernels lack. The rows follow PyTorch's CUDA kernels (AT_DISPATCH_...).
#include "types.h"

#include "boxed.h"
#include "plan.h"

#include <c10/util/Exception.h>

#include <optional>
#include <sstream>

namespace gpukit
{

namespace
{

using c10::ScalarType;

const struct {
	const char *name, *takes, *words;
} refused[] = {
#include "types.inc"
};

const struct {
	const char *name, *types;
} wider[] = {
#include "wider.inc"
};

const struct {
	const char *name;
	std::vector<ScalarType> types;
} families[] = {
    {"floating",
     {ScalarType::Half, ScalarType::BFloat16, ScalarType::Float,
      ScalarType::Double}},
    {"complex", {ScalarType::ComplexFloat, ScalarType::ComplexDouble}},
    {"integral",
     {ScalarType::Byte, ScalarType::Char, ScalarType::Short, ScalarType::Int,
      ScalarType::Long}},
};

Types read_word(const std::string &word)
{
	Types types = 0;

	for (auto &family : families)
		if (word == family.name)
			for (ScalarType type : family.types)
				types |= type_bit(type);
	for (int i = 0; !types && i < static_cast<int>(ScalarType::Undefined);
	     i++)
		if (word == c10::toString(static_cast<ScalarType>(i)))
			types = type_bit(static_cast<ScalarType>(i));
	return types;
}

Types read_types(const char *text)
{
	std::istringstream words(text);
	std::string word;
	Types types = 0;

	while (words >> word)
		types |= read_word(word);
	return types;
}

// Whether a name is that of the row's operator, or of its in-place form.
bool is_form_of(const std::string &name, const char *row)
{
	return name == row || name == std::string(row) + "_";
}

std::string describe(const char *words, ScalarType type)
{
	std::string text = words;
	std::size_t at = text.find("TYPE");

	if (text.find(' ') == std::string::npos)
		return '"' + text + "\" not implemented for '" +
		       c10::toString(type) + "'";
	return at == std::string::npos
		   ? text
		   : text.replace(at, 4, c10::toString(type));
}

// Returns the requested type of the result: dtype= if it is given, otherwise
// the type of the tensor that is written.
std::optional<ScalarType>
result_type(const Plan &plan, const torch::jit::Stack &stack, std::size_t first)
{
	for (unsigned i = 0; i < plan.arguments; i++) {
		const c10::IValue &v = stack[first + i];

		if (plan.argument_names[i] == "dtype" && v.isInt())
			return static_cast<ScalarType>(v.toInt());
		if (plan.writes(i) && v.isTensor())
			return v.toTensor().scalar_type();
	}
	return std::nullopt;
}

bool is_power_of_two(std::int64_t n)
{
	return n > 0 && !(n & (n - 1));
}

// Checks whether cuFFT supports the sizes of the dimensions in fp16.
void check_signal(const Plan &plan, const torch::jit::Stack &stack,
		  std::size_t first)
{
	const at::Tensor &self = stack[first].toTensor();
	ScalarType type = self.scalar_type();
	std::vector<std::int64_t> sizes;
	bool good = true;

	if (type != ScalarType::Half && type != ScalarType::ComplexHalf)
		return;
	for (std::int64_t dim : stack[first + 1].toIntVector())
		sizes.push_back(self.size(dim));
	for (unsigned i = 0; i < plan.arguments; i++)
		if (plan.argument_names[i] == "last_dim_size")
			sizes.back() = stack[first + i].toInt();
	for (std::int64_t size : sizes)
		good &= is_power_of_two(size);
	TORCH_CHECK(good,
		    "cuFFT only supports dimensions whose sizes are powers of "
		    "two when computing in half precision, but got a signal "
		    "size of",
		    c10::IntArrayRef(sizes));
}

// Returns the common type of all operands, if none of them is empty.
std::optional<ScalarType>
common_type(const Plan &plan, const torch::jit::Stack &stack, std::size_t first)
{
	std::optional<ScalarType> common;
	bool same = true;

	for (unsigned i = 0; i < plan.arguments; i++)
		visit_tensors(stack[first + i], [&](const at::Tensor &t) {
			if (!t.defined() || plan.is_out(i))
				return;
			same &= t.numel() &&
				(!common || *common == t.scalar_type());
			common = t.scalar_type();
		});
	return same ? common : std::nullopt;
}

} // namespace

std::vector<TypeRule> find_type_rules(const std::string &name)
{
	std::vector<TypeRule> found;

	for (auto &row : refused)
		if (is_form_of(name, row.name))
			found.push_back({read_types(row.takes), row.words});
	return found;
}

Types find_wider_types(const std::string &name)
{
	for (auto &row : wider)
		if (is_form_of(name, row.name))
			return read_types(row.types);
	return 0;
}

void check_types(const Plan &plan, const torch::jit::Stack &stack,
		 std::size_t first)
{
	if (plan.transforms) {
		check_signal(plan, stack, first);
		return;
	}
	auto type = plan.converts ? result_type(plan, stack, first)
				  : common_type(plan, stack, first);

	for (const TypeRule &rule : plan.types) {
		if (!type || rule.takes & type_bit(*type))
			continue;
		std::string text = describe(rule.words, *type);
		TORCH_CHECK_NOT_IMPLEMENTED(text[0] != '"', text);
		TORCH_CHECK(false, text);
	}
}

} // namespace gpukit
