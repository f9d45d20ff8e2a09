// The driver of the made-up machine, and what PyTorch's c10_cuda exports that
// its headers declare only where a CUDA toolkit is.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include <cstddef>
#include <cstdint>

struct CUstream_st;

namespace gpukit
{

using StreamHandle = CUstream_st *;

// As in src/fronts/common/export_table.h, which has the contract of each.
struct Work {
	void *queue;
};

struct DriverTable {
	std::size_t size;
	void (*refused)(int library, const char *symbol);
	int (*attach)(void *kernel, void *body);
	void *(*view)(std::uint64_t address, std::uint64_t size);
	int (*work_begin)(StreamHandle stream, const char *name, Work *work);
	void (*work_end)(Work *work);
	void (*work_fail)(StreamHandle stream, int result);
};

enum DriverResult {
	DRIVER_OUT_OF_MEMORY = 2,
	DRIVER_INVALID_CONTEXT = 201,
	DRIVER_ASSERT = 710,
	DRIVER_NOT_SUPPORTED = 801,
	DRIVER_CAPTURE_UNSUPPORTED = 900,
};

// nullptr: the libcuda.so.1 of this process is none of ours, or too old.
const DriverTable *find_driver();

// The same, once it was found.
const DriverTable &driver();

// The handle of the calling thread's stream of a device.
StreamHandle current_stream(c10::DeviceIndex device);

// The host's bytes of a piece of device memory; throws where there is none.
void *view_bytes(const void *address, std::size_t size);

// Counts an operator that is refused, for what is told at the end.
void refuse(const char *name);

// The calling thread does a kernel's work in the order of the current stream
// of a device, from construction to destruction.
class DeviceWork
{
      public:
	DeviceWork(c10::DeviceIndex device, const char *name);
	~DeviceWork();
	DeviceWork(const DeviceWork &) = delete;
	DeviceWork &operator=(const DeviceWork &) = delete;

	// The work ended as a kernel does that ran into an assertion.
	void fail_assertion();

      private:
	StreamHandle stream_;
	Work work_;
};

} // namespace gpukit
