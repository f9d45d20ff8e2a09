/* SPDX-License-Identifier: Apache-2.0 */
// Replaces the CPU's allocator, and keeps the device memory to which its views
// belong.
#include "memory.h"

#include "driver.h"
#include "journal.h"

#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/CPUAllocator.h>

#include <cstring>
#include <mutex>
#include <unordered_map>

namespace gpukit
{

namespace
{

thread_local bool on_device;

// From a view to the device memory behind it. Any thread may free a view.
struct Views {
	std::mutex lock;
	std::unordered_map<const void *, c10::DataPtr> memory;
};

// Never destroyed: tensors may be freed after all destructors have run.
Views &views()
{
	static Views *all = new Views;

	return *all;
}

c10::Allocator *before; // the CPU's own allocator

void free_view(void *view)
{
	c10::DataPtr memory;

	if (view && !take_device_memory(view, &memory))
		before->raw_deleter()(view);
}

c10::DataPtr allocate_view(std::size_t size)
{
	c10::DataPtr memory = allocate_device(size);
	void *view = view_bytes(memory.get(), size);
	Views &all = views();

	{
		std::lock_guard<std::mutex> guard(all.lock);
		all.memory[view] = std::move(memory);
	}
	return {view, view, &free_view, c10::Device(c10::kCPU)};
}

class ViewAllocator final : public c10::Allocator
{
      public:
	c10::DataPtr allocate(std::size_t size) override
	{
		if (C10_LIKELY(!on_device) || !size)
			return before->allocate(size);
		return allocate_view(size);
	}

	bool is_simple_data_ptr(const c10::DataPtr &data) const override
	{
		return data.get() == data.get_context();
	}

	c10::DeleterFnPtr raw_deleter() const override
	{
		return &free_view;
	}

	void copy_data(void *to, const void *from,
		       std::size_t size) const override
	{
		default_copy_data(to, from, size);
	}
};

} // namespace

void install_allocator()
{
	static ViewAllocator allocator;

	if (before)
		return;
	before = c10::GetCPUAllocator();
	// 255 is higher than all priorities in use.
	c10::SetCPUAllocator(&allocator, 255);
}

DeviceAllocation::DeviceAllocation() : outer_(on_device)
{
	on_device = true;
}

DeviceAllocation::~DeviceAllocation()
{
	on_device = outer_;
}

c10::Allocator *device_allocator()
{
	static c10::Allocator *allocator =
	    at::detail::getCUDAHooks().getCUDADeviceAllocator();

	return allocator;
}

c10::DataPtr allocate_device(std::size_t size)
{
	c10::DataPtr memory = device_allocator()->allocate(size);

	if (C10_UNLIKELY(Journal::current() != nullptr))
		Journal::current()->keep(view_bytes(memory.get(), size), size);
	return memory;
}

bool take_device_memory(const void *view, c10::DataPtr *ret_memory)
{
	Views &all = views();
	std::lock_guard<std::mutex> guard(all.lock);
	auto at = all.memory.find(view);

	if (at == all.memory.end())
		return false;
	*ret_memory = std::move(at->second);
	all.memory.erase(at);
	return true;
}

} // namespace gpukit
