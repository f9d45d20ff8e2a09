/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_only.cpp - registers the rows of all topics, and records for each name
 * whether that succeeded. If the running PyTorch has another schema for a name,
 * its row is skipped, because a kernel with another signature would misread the
 * arguments.
 */
#include "cuda_only.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <map>
#include <string>

namespace gpukit
{
namespace
{

struct Refusal {
	const char *prefix; /* the first letters of operators' names */
	const char *reason;
};

/* Operators that have a CUDA kernel, but no kernel of ours. */
const Refusal refusals[] = {
#include "refusals.inc"
};

const char OTHER_SIGNATURE[] = "schema\tthis PyTorch has another signature";

using Fates = std::map<std::string, std::string>;

Fates &fates()
{
	static Fates all;

	return all;
}

c10::OperatorName split_name(const std::string &space, const std::string &name)
{
	auto dot = name.find('.');

	if (dot == std::string::npos)
		return {space + "::" + name, ""};
	return {space + "::" + name.substr(0, dot), name.substr(dot + 1)};
}

bool has_cpu_form(const c10::OperatorHandle &op)
{
	using c10::DispatchKey;

	for (auto key :
	     {DispatchKey::CPU, DispatchKey::CompositeImplicitAutograd,
	      DispatchKey::CompositeExplicitAutograd})
		if (op.hasKernelForDispatchKey(key))
			return true;
	return false;
}

/* Whether two schemas match. Where ours has an int, the other may have a
 * symbolic int. */
bool fits_schema(const Row &row, const c10::FunctionSchema &schema)
{
	auto ours = row.schema();

	return !c10::findSchemaDifferences(ours, schema) ||
	       !c10::findSchemaDifferences(ours,
					   schema.cloneWithRealTypes(false));
}

bool goes_beside(const Row &row)
{
	auto op = c10::Dispatcher::singleton().findSchema(
	    split_name("aten", row.name));

	return row.beside_cpu && op && has_cpu_form(*op);
}

/* Returns the reason why a row cannot be registered, or NULL. */
const char *skip_reason(const Row &row)
{
	auto op = c10::Dispatcher::singleton().findSchema(
	    split_name("aten", row.name));

	if (!op)
		return "absent\tthis PyTorch doesn't have it";
	if (!row.beside_cpu && has_cpu_form(*op))
		return "cpu\tthis PyTorch has a CPU form of its own";
	return fits_schema(row, op->schema()) ? nullptr : OTHER_SIGNATURE;
}

Rows all_rows()
{
	Rows all;

	for (auto topic :
	     {cell_rows, choice_rows, convolution_rows, cudnn_attention_rows,
	      dropout_rows, efficient_rows, flash_rows, histogram_rows,
	      int4_rows, integer_rows, matmul_rows, norm_rows, other_rows,
	      random_rows, rnn_rows, scaled_rows})
		for (auto &row : topic())
			all.push_back(row);
	return all;
}

void add_beside(torch::Library &library, const Row &row)
{
	auto op = c10::Dispatcher::singleton().findSchema(
	    split_name("aten", row.name));
	auto name = split_name("gpukit", row.name);

	library.def(op->schema().cloneWithName(name.name, name.overload_name));
	library.impl(("gpukit::" + std::string(row.name)).c_str(),
		     torch::dispatch(c10::DispatchKey::CPU, row.kernel()));
}

/*
 * Registers a row and records the outcome. Skips a row that does not fit, or
 * whose name an earlier row has registered. Even if the schemas are the same,
 * the C++ types may differ; PyTorch then throws before it has changed anything.
 */
void add_row(torch::Library &library, const Row &row)
{
	const char *reason = skip_reason(row);
	bool is_beside = goes_beside(row);
	std::string &fate = fates()[row.name];

	if (!fate.compare(0, 3, "own"))
		return;
	if (reason) {
		fate = reason;
		return;
	}
	try {
		if (is_beside)
			add_beside(library, row);
		else
			library.impl(row.name, row.kernel());
		fate = is_beside ? "own\tgpukit::" : "own\taten::";
	} catch (const c10::Error &) {
		fate = OTHER_SIGNATURE;
	}
}

} // namespace

TORCH_LIBRARY_IMPL(aten, CPU, library)
{
	for (auto &row : all_rows())
		if (!goes_beside(row))
			add_row(library, row);
}

TORCH_LIBRARY_FRAGMENT(gpukit, library)
{
	for (auto &row : all_rows())
		if (goes_beside(row))
			add_row(library, row);
}

} // namespace gpukit

/*
 * Returns lines of name, fate and reason, separated by tabs. The line of a
 * refusal applies to all operators whose names begin with its name.
 */
extern "C" __attribute__((visibility("default"))) const char *
gpukit_cuda_only_rows(void)
{
	static std::string text;

	if (!text.empty())
		return text.c_str();
	for (auto &fate : gpukit::fates())
		text += fate.first + "\t" + fate.second + "\n";
	for (auto &refusal : gpukit::refusals)
		text += std::string(refusal.prefix) + "*\trefused\t" +
			refusal.reason + "\n";
	return text.c_str();
}
