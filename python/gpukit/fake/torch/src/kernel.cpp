/* SPDX-License-Identifier: Apache-2.0 */
// For the driver, each kernel is a PTX function without a body, named after its
// operator (see src/fronts/common/native.h).
#include "kernel.h"

#include <c10/util/Exception.h>

#include <cctype>
#include <map>
#include <mutex>

namespace gpukit
{

namespace
{

struct Parameters {
	void *data;
	int (*run)(void *data);
};

int run_kernel(const Run *run)
{
	auto p = static_cast<const Parameters *>(run->params);

	return p->run(p->data);
}

// Turns "aten::add.Tensor" into "aten_add_Tensor".
std::string kernel_name(const std::string &name)
{
	std::string made;

	for (char c : name)
		if (std::isalnum(static_cast<unsigned char>(c)) || c == '_')
			made += c;
		else if (made.empty() || made.back() != '_')
			made += '_';
	return made;
}

std::string kernel_text(const std::string &name)
{
	return ".version 7.0\n.target sm_50\n.address_size 64\n"
	       ".visible .entry " +
	       name + "(.param .align 8 .b8 p[" +
	       std::to_string(sizeof(Parameters)) + "])\n{\nret;\n}\n";
}

void *make_kernel(const std::string &name)
{
	const DriverCalls &call = driver_calls();
	void *library, *kernel;

	int r =
	    call.cuLibraryLoadData(&library, kernel_text(name).c_str(), nullptr,
				   nullptr, 0, nullptr, nullptr, 0);
	if (!r)
		r = call.cuLibraryGetKernel(&kernel, library, name.c_str());
	if (!r)
		r = driver().attach(kernel,
				    reinterpret_cast<void *>(&run_kernel));
	TORCH_CHECK(!r, "CUDA error: the kernel ", name, " returned CUresult ",
		    r);
	return kernel;
}

// Returns the kernel for a name. Kernels are never freed, because graphs use
// them.
void *find_kernel(const std::string &name)
{
	static std::mutex lock;
	static auto *made = new std::map<std::string, void *>;
	std::lock_guard<std::mutex> guard(lock);
	void *&kernel = (*made)[name];

	if (!kernel)
		kernel = make_kernel(name);
	return kernel;
}

} // namespace

void launch_captured(const CapturedStream &stream, const std::string &name,
		     void *data, int (*run)(void *data),
		     void (*drop)(void *data))
{
	constexpr unsigned NO_SYNC = 1, MOVE = 1;
	const DriverCalls &call = driver_calls();
	Parameters parameters = {data, run};
	void *parameter = &parameters, *object = nullptr;
	int r = call.cuUserObjectCreate(&object, data, drop, 1, NO_SYNC);

	if (!r)
		r = call.cuGraphRetainUserObject(stream.graph, object, 1, MOVE);
	if (!r)
		r = call.cuLaunchKernel(find_kernel(kernel_name(name)), 1, 1, 1,
					1, 1, 1, 0, stream.handle, &parameter,
					nullptr);
	TORCH_CHECK(!r, "CUDA error: ", name, " returned CUresult ", r,
		    " when it was captured");
}

} // namespace gpukit
