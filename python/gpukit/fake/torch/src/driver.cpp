/* SPDX-License-Identifier: Apache-2.0 */
// Finds the made-up driver and its table of functions for our libraries.
#include "driver.h"

#include "mistakes.h"

#include <c10/util/Exception.h>

#include <dlfcn.h>

#include <mutex>

namespace c10::cuda
{

// The declaration in c10/cuda/CUDAStream.h, which would include the CUDA
// toolkit.
class CUDAStream
{
      public:
	CUstream_st *stream() const;

      private:
	Stream stream_;
};
CUDAStream getCurrentCUDAStream(DeviceIndex device_index);
void device_synchronize();

} // namespace c10::cuda

namespace gpukit
{

namespace
{

using GetExportTable = int (*)(const void **table, const void *uuid);

// GPUKIT_TORCH of src/fronts/common/export_table.h.
constexpr int LIBRARY_TORCH = 8;

const DriverTable *table;
DriverCalls calls;

std::mutex failure_lock;
std::string *failure;

template <class Call>
bool find_call(void *library, const char *name, Call *ret_call)
{
	*ret_call = reinterpret_cast<Call>(dlsym(library, name));
	return *ret_call;
}

bool find_calls(void *library)
{
#define FIND(name) find_call(library, #name, &calls.name)
	return FIND(cuStreamGetCaptureInfo_v2) && FIND(cuDeviceGetAttribute) &&
	       FIND(cuGetErrorString) && FIND(cuStreamSynchronize) &&
	       FIND(cuLibraryLoadData) && FIND(cuLibraryGetKernel) &&
	       FIND(cuLaunchKernel) && FIND(cuUserObjectCreate) &&
	       FIND(cuGraphRetainUserObject);
#undef FIND
}

} // namespace

const DriverTable *find_driver()
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	const void *found = nullptr;
	GetExportTable get;

	if (!library)
		return nullptr;
	get = reinterpret_cast<GetExportTable>(
	    dlsym(library, "cuGetExportTable"));
	if (!get || get(&found, "gpukit runtime 4") || !found)
		return nullptr;
	table = static_cast<const DriverTable *>(found);
	if (table->size < sizeof *table || !find_calls(library))
		table = nullptr;
	return table;
}

const DriverTable &driver()
{
	return *table;
}

const DriverCalls &driver_calls()
{
	return calls;
}

void tell_failure(const std::string &what)
{
	std::lock_guard<std::mutex> guard(failure_lock);

	if (!failure)
		failure = new std::string(what);
}

StreamHandle current_stream(c10::DeviceIndex device)
{
	return c10::cuda::getCurrentCUDAStream(device).stream();
}

void *view_bytes(const void *address, std::size_t size)
{
	void *bytes;

	if (!size)
		return nullptr;
	bytes = table->view(reinterpret_cast<std::uint64_t>(address), size);
	TORCH_CHECK(bytes,
		    "CUDA error: an illegal memory access was "
		    "encountered: ",
		    size, " bytes at ", address,
		    " are not memory of a made-up GPU");
	return bytes;
}

namespace
{

std::string told_failure()
{
	std::lock_guard<std::mutex> guard(failure_lock);

	return failure ? "; before it failed " + *failure : "";
}

} // namespace

std::uint64_t count_blocks(c10::DeviceIndex device)
{
	constexpr int SMS = 16, THREADS_OF_SM = 39;
	int sms = 1, threads = 256;

	calls.cuDeviceGetAttribute(&sms, SMS, device);
	calls.cuDeviceGetAttribute(&threads, THREADS_OF_SM, device);
	return static_cast<std::uint64_t>(sms) * (threads / 256);
}

CapturedStream find_capture(StreamHandle stream)
{
	constexpr int ACTIVE = 1;
	CapturedStream found;
	int status = 0;

	found.handle = stream;
	if (calls.cuStreamGetCaptureInfo_v2(stream, &status, &found.capture,
					    &found.graph, nullptr, nullptr) ||
	    status != ACTIVE)
		found.capture = 0;
	return found;
}

void wait_in_capture(const CapturedStream &stream)
{
	calls.cuStreamSynchronize(stream.handle);
}

void refuse(const char *name)
{
	table->refused(LIBRARY_TORCH, name);
}

DeviceWork::DeviceWork(c10::DeviceIndex device, const char *name)
    : stream_(current_stream(device))
{
	int result = table->work_begin(stream_, name, &work_);

	if (C10_UNLIKELY(result == DRIVER_INVALID_CONTEXT)) {
		// The thread has only chosen its device. The first call of the
		// runtime gives it a context.
		c10::cuda::device_synchronize();
		result = table->work_begin(stream_, name, &work_);
	}
	if (C10_UNLIKELY(result == DRIVER_CAPTURE_UNSUPPORTED)) {
		captured_ = find_capture(stream_);
		result = is_captured() ? 0 : DRIVER_CAPTURE_INVALIDATED;
	}
	if (C10_UNLIKELY(result))
		throw_cuda(result, name + told_failure());
}

DeviceWork::~DeviceWork()
{
	if (C10_LIKELY(!is_captured()))
		table->work_end(&work_);
}

void DeviceWork::fail_assertion(const std::string &what)
{
	tell_failure(what);
	table->work_fail(stream_, DRIVER_ASSERT);
}

} // namespace gpukit
