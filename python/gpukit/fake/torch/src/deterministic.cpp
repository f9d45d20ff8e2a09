/* SPDX-License-Identifier: Apache-2.0 */
// The table of operators is that of the documentation of
// torch.use_deterministic_algorithms(). Everything is deterministic here, but a
// program under test must get the errors that a GPU causes.
#include "deterministic.h"

#include "plan.h"

#include <ATen/Context.h>

#include <algorithm>
#include <cstring>

namespace gpukit
{

namespace
{

const Nondeterministic rows[] = {
#include "nondeterministic.inc"
};

using IValue = c10::IValue;

const IValue &argument(const Plan &plan, const IValue *arguments,
		       const char *name)
{
	static const IValue none;
	auto found = std::find(plan.argument_names.begin(),
			       plan.argument_names.end(), name);

	return found == plan.argument_names.end()
		   ? none
		   : arguments[found - plan.argument_names.begin()];
}

bool is_floating(const IValue &v)
{
	return v.isTensor() &&
	       (v.toTensor().is_floating_point() || v.toTensor().is_complex());
}

bool applies(const Plan &plan, const IValue *arguments)
{
	const char *when = plan.nondeterministic->when;
	const IValue &mode = argument(plan, arguments, "mode");
	const IValue &reduce = argument(plan, arguments, "reduce");
	const IValue &weights = argument(plan, arguments, "weights");

	if (!std::strcmp(when, "floating"))
		return is_floating(arguments[0]);
	if (!std::strcmp(when, "weights"))
		return weights.isTensor() && weights.toTensor().defined();
	if (!std::strcmp(when, "prod"))
		return reduce.isString() && reduce.toStringRef() == "prod";
	if (!std::strcmp(when, "max"))
		return mode.isInt() && mode.toInt() == 2;
	if (!std::strcmp(when, "dim"))
		return plan.name.find(".dim") != std::string::npos ||
		       plan.name.find(".names_dim") != std::string::npos;
	return true;
}

} // namespace

const Nondeterministic *find_nondeterministic(const std::string &name)
{
	for (const Nondeterministic &row : rows)
		if (name == row.name)
			return &row;
	return nullptr;
}

void check_deterministic(const Plan &plan, const torch::jit::Stack &stack,
			 std::size_t first)
{
	if (at::globalContext().deterministicAlgorithms() &&
	    applies(plan, &stack[first]))
		at::globalContext().alertNotDeterministic(
		    plan.nondeterministic->said);
}

} // namespace gpukit
