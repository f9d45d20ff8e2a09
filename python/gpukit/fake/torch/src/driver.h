/* SPDX-License-Identifier: Apache-2.0 */
// The driver of the made-up machine, and exports of PyTorch's c10_cuda that
// its headers declare only with a CUDA toolkit.
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

// A stream, and the capture in which it takes part.
struct CapturedStream {
	StreamHandle handle = nullptr;
	std::uint64_t capture = 0; // id of the capture, which is never reused
	void *graph = nullptr;
};

// This and DriverTable are copied from src/fronts/common/export_table.h, which
// documents each function.
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

// The arguments of one of our kernels.
struct Run {
	const void *params;
	// The driver has more members here.
};

// Functions of CUDA's driver API; handles are void *.
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

// Returns nullptr if this process has no libcuda.so.1 of ours, or one that is
// too old.
const DriverTable *find_driver();

// Returns the same table; call it after find_driver() has succeeded.
const DriverTable &driver();
const DriverCalls &driver_calls();

// The number of 256-thread blocks that fit on a device at once.
std::uint64_t count_blocks(c10::DeviceIndex device);

// Returns the capture of a stream. Its `capture` is 0 if there is none or it is
// no longer valid.
CapturedStream find_capture(StreamHandle stream);

// Invalidates the capture, because on a GPU the operator would wait for the
// captured stream.
void wait_in_capture(const CapturedStream &stream);

// Records why one of our kernels failed, for later errors.
void tell_failure(const std::string &what);

// The calling thread's current stream on a device.
StreamHandle current_stream(c10::DeviceIndex device);

// The host address of device memory; throws if there is none.
void *view_bytes(const void *address, std::size_t size);

// Counts a refused operator, for the report at the end.
void refuse(const char *name);

// While an object of this class exists, the calling thread does the work of a
// kernel, in the order of the device's current stream.
class DeviceWork
{
      public:
	DeviceWork(c10::DeviceIndex device, const char *name);
	~DeviceWork();
	DeviceWork(const DeviceWork &) = delete;
	DeviceWork &operator=(const DeviceWork &) = delete;

	// Ends the work as if an assertion of the kernel had failed; `what`
	// describes it.
	void fail_assertion(const std::string &what);

	// Whether the stream is being captured. The work then belongs to a
	// graph and does not wait for its turn.
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
