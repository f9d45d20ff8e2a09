// The driver of the made-up machine, and what PyTorch's c10_cuda exports that
// its headers declare only where a CUDA toolkit is.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include <cstddef>
#include <cstdint>
#include <string>

struct CUstream_st;

namespace gpukit
{

using StreamHandle = CUstream_st *;

// A stream that is captured, and into what.
struct CapturedStream {
	StreamHandle handle = nullptr;
	std::uint64_t capture = 0; // never used twice
	void *graph = nullptr;
};

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
	int (*capture_watch)(StreamHandle stream, void (*ended)(void *data),
			     void *data);
};

// What a kernel of ours is called with.
struct Run {
	const void *params;
	// More, which is the driver's.
};

// Of CUDA's driver API; handles are void *.
struct DriverCalls {
	int (*cuStreamGetCaptureInfo_v2)(StreamHandle stream, int *status,
					 std::uint64_t *id, void **graph,
					 const void **nodes,
					 std::size_t *count);
	int (*cuDeviceGetAttribute)(int *value, int attribute, int device);
	int (*cuGetErrorString)(int result, const char **text);
	int (*cuStreamSynchronize)(StreamHandle stream);
	int (*cuLibraryLoadData)(void **library, const void *code, void *,
				 void **, unsigned, void *, void **, unsigned);
	int (*cuLibraryGetKernel)(void **kernel, void *library,
				  const char *name);
	int (*cuLaunchKernel)(void *function, unsigned, unsigned, unsigned,
			      unsigned, unsigned, unsigned, unsigned shared,
			      StreamHandle stream, void **params, void **extra);
	int (*cuUserObjectCreate)(void **object, void *data,
				  void (*destroy)(void *data), unsigned count,
				  unsigned flags);
	int (*cuGraphRetainUserObject)(void *graph, void *object,
				       unsigned count, unsigned flags);
};

enum DriverResult {
	DRIVER_OUT_OF_MEMORY = 2,
	DRIVER_INVALID_CONTEXT = 201,
	DRIVER_ILLEGAL_ADDRESS = 700,
	DRIVER_ASSERT = 710,
	DRIVER_LAUNCH_FAILED = 719,
	DRIVER_NOT_SUPPORTED = 801,
	DRIVER_CAPTURE_UNSUPPORTED = 900,
	DRIVER_CAPTURE_INVALIDATED = 901,
};

// nullptr: the libcuda.so.1 of this process is none of ours, or too old.
const DriverTable *find_driver();

// The same, once it was found.
const DriverTable &driver();
const DriverCalls &driver_calls();

// As many blocks of 256 threads as a device has room for at once.
std::uint64_t count_blocks(c10::DeviceIndex device);

// Of a stream; `capture` 0: it is not captured, or no longer validly.
CapturedStream find_capture(StreamHandle stream);

// What waiting for a captured stream comes to: its capture is invalid.
void wait_in_capture(const CapturedStream &stream);

// Why a kernel of ours has failed, for whoever meets its error later.
void tell_failure(const std::string &what);

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

	// The work ended as a kernel does that ran into an assertion, which is
	// described.
	void fail_assertion(const std::string &what);

	// The stream is captured: there is no turn, the work is for a graph.
	bool is_captured() const
	{
		return captured_.capture != 0;
	}
	const CapturedStream &captured() const
	{
		return captured_;
	}

      private:
	StreamHandle stream_;
	Work work_;
	CapturedStream captured_;
};

} // namespace gpukit
