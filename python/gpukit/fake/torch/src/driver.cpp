// The way to the made-up driver: its table of functions for libraries of ours.
#include "driver.h"

#include <c10/util/Exception.h>

#include <dlfcn.h>

namespace c10::cuda
{

// As in c10/cuda/CUDAStream.h, whose includes are the CUDA toolkit's.
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
	if (table->size < sizeof *table)
		table = nullptr;
	return table;
}

const DriverTable &driver()
{
	return *table;
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

[[noreturn]] void throw_result(int result, const char *name)
{
	TORCH_CHECK(result != DRIVER_CAPTURE_UNSUPPORTED,
		    "CUDA error: operation not permitted when stream is "
		    "capturing: ",
		    name,
		    " cannot be captured into a CUDA "
		    "graph of a made-up GPU");
	TORCH_CHECK(false, "CUDA error: ", name, " came to CUresult ", result,
		    result == DRIVER_ASSERT
			? ": device-side assert triggered, by an operator "
			  "before"
			: "");
}

} // namespace

void refuse(const char *name)
{
	table->refused(LIBRARY_TORCH, name);
}

DeviceWork::DeviceWork(c10::DeviceIndex device, const char *name)
    : stream_(current_stream(device))
{
	int result = table->work_begin(stream_, name, &work_);

	if (C10_UNLIKELY(result == DRIVER_INVALID_CONTEXT)) {
		// A thread that only chose its device so far: the runtime
		// gives it the context at its first call.
		c10::cuda::device_synchronize();
		result = table->work_begin(stream_, name, &work_);
	}
	if (C10_UNLIKELY(result))
		throw_result(result, name);
}

DeviceWork::~DeviceWork()
{
	table->work_end(&work_);
}

void DeviceWork::fail_assertion()
{
	table->work_fail(stream_, DRIVER_ASSERT);
}

} // namespace gpukit
