// Device memory as what CPU kernels allocate: while it is asked for, the CPU's
// allocator hands out views of memory of CUDA's caching allocator.
#pragma once

#include <c10/core/Allocator.h>

namespace gpukit
{

// Puts itself before the CPU's allocator; once.
void install_allocator();

// What the calling thread allocates for the CPU is memory of the current
// device, from construction to destruction.
class DeviceAllocation
{
      public:
	DeviceAllocation();
	~DeviceAllocation();
	DeviceAllocation(const DeviceAllocation &) = delete;
	DeviceAllocation &operator=(const DeviceAllocation &) = delete;

      private:
	bool outer_;
};

// Memory of the current device, by CUDA's caching allocator.
c10::DataPtr allocate_device(std::size_t size);
c10::Allocator *device_allocator();

// The device memory behind a view that was allocated so. The view's DataPtr
// must not free it any more: release_context() it. False: it is no such view.
bool take_device_memory(const void *view, c10::DataPtr *ret_memory);

} // namespace gpukit
