/* SPDX-License-Identifier: Apache-2.0 */
// Lets CPU kernels allocate device memory: while enabled, the CPU's allocator
// returns views of memory from CUDA's caching allocator.
#pragma once

#include <c10/core/Allocator.h>

namespace gpukit
{

// Replaces the CPU's allocator; call once.
void install_allocator();

// From construction to destruction, the calling thread's CPU allocations are
// memory of the current device.
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

// Memory of the current device, from CUDA's caching allocator.
c10::DataPtr allocate_device(std::size_t size);
c10::Allocator *device_allocator();

// Returns the device memory behind such a view. The view's DataPtr must no
// longer free it: call release_context() on it. False: not such a view.
bool take_device_memory(const void *view, c10::DataPtr *ret_memory);

} // namespace gpukit
