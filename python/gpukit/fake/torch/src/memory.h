/* SPDX-License-Identifier: Apache-2.0 */
// Lets CPU kernels allocate device memory. While this is enabled, the CPU's
// allocator returns views of memory from CUDA's caching allocator.
#pragma once

#include <c10/core/Allocator.h>

namespace gpukit
{

// Replaces the CPU's allocator; call once.
void install_allocator();

// While an object of this class exists, CPU allocations of the calling thread
// are memory of the current device.
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

// Return memory of the current device, and its allocator: CUDA's caching
// allocator.
c10::DataPtr allocate_device(std::size_t size);
c10::Allocator *device_allocator();

// Returns the device memory behind a view. The view's DataPtr must then no
// longer free it: call release_context() on the DataPtr. Returns false if the
// address is not that of a view.
bool take_device_memory(const void *view, c10::DataPtr *ret_memory);

} // namespace gpukit
