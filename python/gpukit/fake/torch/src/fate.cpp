/* SPDX-License-Identifier: Apache-2.0 */
// Decides how operators are run, by the kernels that PyTorch's dispatcher has
// for them, and keeps the table of these decisions.
#include "fate.h"

#include "plan.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <sstream>

extern "C" const char *gpukit_cuda_only_rows(void);

namespace gpukit
{

namespace
{

// Operators whose CUDA kernels need no GPU: factories, views and queries.
const char *const kept[] = {
#include "kept.inc"
};

// The same for tensors that consist of other tensors: operators that access the
// parts, query the layout, or copy between devices.
const char *const kept_of_others[] = {
#include "kept_of_others.inc"
};

bool is_before(const char *a, const char *b)
{
	return std::strcmp(a, b) < 0;
}

template <class Table> bool contains(const Table &table, const char *name)
{
	return std::binary_search(std::begin(table), std::end(table), name,
				  is_before);
}

// "_fused_dropout" of "aten::_fused_dropout"
std::string bare_name(const std::string &name)
{
	return name.substr(name.find("::") + 2);
}

// The rows of cuda_only.cpp: name or prefix* -> fate and reason.
using Rows = std::map<std::string, std::pair<std::string, std::string>>;

const Rows &cuda_only_rows()
{
	static Rows *rows;
	std::string name, fate, reason;

	if (rows)
		return *rows;
	rows = new Rows;
	std::istringstream text(gpukit_cuda_only_rows());
	while (std::getline(text, name, '\t') &&
	       std::getline(text, fate, '\t') && std::getline(text, reason))
		(*rows)[name] = {fate, reason};
	return *rows;
}

bool is_own(const c10::OperatorName &name)
{
	std::string full = bare_name(c10::toString(name));
	auto row = cuda_only_rows().find(full);

	return full == "copy_" ||
	       (row != cuda_only_rows().end() && row->second.first == "own");
}

Fate fate_of_dense(const c10::OperatorHandle &op)
{
	if (contains(kept, bare_name(op.operator_name().name).c_str()))
		return Fate::KEPT;
	if (is_own(op.operator_name()))
		return Fate::OWN;
	if (op.hasKernelForDispatchKey(c10::DispatchKey::CPU))
		return Fate::CPU;
	return op.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU)
		   ? Fate::COMPOSITE
		   : Fate::REFUSED;
}

c10::DispatchKey key_of_cpu(c10::DispatchKey key)
{
	switch (key) {
	case c10::DispatchKey::SparseCUDA:
		return c10::DispatchKey::SparseCPU;
	case c10::DispatchKey::SparseCsrCUDA:
		return c10::DispatchKey::SparseCsrCPU;
	case c10::DispatchKey::NestedTensorCUDA:
		return c10::DispatchKey::NestedTensorCPU;
	default:
		return c10::DispatchKey::QuantizedCPU;
	}
}

Fate fate_of_other(const c10::OperatorHandle &op, c10::DispatchKey key)
{
	if (key == c10::DispatchKey::QuantizedCUDA)
		return Fate::REFUSED;
	if (contains(kept_of_others,
		     bare_name(op.operator_name().name).c_str()))
		return Fate::KEPT;
	return op.hasComputedKernelForDispatchKey(key_of_cpu(key))
		   ? Fate::CPU
		   : Fate::REFUSED;
}

std::string &table()
{
	static std::string *text = new std::string;

	return *text;
}

} // namespace

Fate find_fate(const c10::OperatorHandle &op, c10::DispatchKey key)
{
	return key == c10::DispatchKey::CUDA ? fate_of_dense(op)
					     : fate_of_other(op, key);
}

const char *refusal_reason(const c10::OperatorHandle &op, c10::DispatchKey key)
{
	std::string name = bare_name(c10::toString(op.operator_name()));

	if (key == c10::DispatchKey::QuantizedCUDA)
		return "quantised tensors of GPUs are not worked on";
	for (auto &row : cuda_only_rows()) {
		const std::string &prefix = row.first;

		if (row.second.first != "refused")
			continue;
		if (row.first == name ||
		    (prefix.back() == '*' &&
		     !name.compare(0, prefix.size() - 1, prefix, 0,
				   prefix.size() - 1)))
			return row.second.second.c_str();
	}
	return "PyTorch has it for GPUs alone";
}

void note_fate(const c10::OperatorHandle &op, c10::DispatchKey key, Fate fate)
{
	static const char *const words[] = {"cpu", "composite", "own", "cuda",
					    "refused"};

	table() += std::string(c10::toString(key)) + "\t" +
		   c10::toString(op.operator_name()) + "\t" +
		   words[static_cast<int>(fate)] + "\t" +
		   (fate == Fate::REFUSED ? refusal_reason(op, key) : "") +
		   "\n";
}

const char *fate_table()
{
	return table().c_str();
}

} // namespace gpukit
