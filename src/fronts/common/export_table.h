/*
 * export_table.h - what cuGetExportTable of this libcuda has for the libraries
 * that come with it. They work without, on a driver that has no such table.
 */
#ifndef GKF_CUDA_EXPORT_TABLE_H
#define GKF_CUDA_EXPORT_TABLE_H

#include "abi/cuda_abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first 16 bytes are its UUID. */
#define GPUKIT_TABLE_UUID "gpukit runtime 4"

/* Whose function a refused call was. */
enum gpukit_library {
	GPUKIT_CUDART,
	GPUKIT_CUBLAS,
	GPUKIT_CUFFT,
	GPUKIT_CURAND,
	GPUKIT_CUSPARSE,
	GPUKIT_CUSOLVER,
	GPUKIT_CUPTI,
	GPUKIT_NCCL,
	GPUKIT_TORCH,
	GPUKIT_LIBRARIES,
};

/* What a body does with memory; written may be read, too. */
enum gpukit_access { GPUKIT_READS, GPUKIT_WRITES };

/*
 * A native kernel is one whose body is a C function instead of PTX: libraries
 * launch theirs like any other. The body runs once a launch, on a thread that
 * has blocked all signals, in the order of its stream, as busy time of its
 * device; several may run at once.
 */
struct gpukit_run {
	const void *params; /* the kernel's parameters as they lie */
	/*
	 * Where this process reads and writes [address, address + size), bytes
	 * that the kernel may use so; size 0: never NULL. NULL: not all of that
	 * is such memory; the launch then ends with CUDA_ERROR_ILLEGAL_ADDRESS,
	 * whatever the body answers.
	 */
	void *(*memory)(struct gpukit_run *run, enum gpukit_access access,
			uint64_t address, size_t size);
	/* The process ends, or the context: the body shall soon return. */
	bool (*stopped)(void);
	/* The body adds what it did: additions and multiplications. */
	uint64_t operations;
	/* The same of bytes from and to other devices, over their links. */
	uint64_t link_in, link_out;
	void *context; /* the driver's */
	int fault;     /* the driver's: CUresult */
};

/* Answers CUDA_SUCCESS, or what the context fails with. */
typedef CUresult (*gpukit_body)(struct gpukit_run *run);

/* Work of a device that the calling thread does, from begin to end. */
struct gpukit_work {
	void *queue; /* the driver's */
};

struct gpukit_table {
	size_t size; /* of the table, for what later versions append */
	/* Counts a call that a library refused, by its name. After cuInit. */
	void (*refused)(enum gpukit_library library, const char *symbol);
	/*
	 * Makes a kernel of cuLibraryGetKernel() a native one, before its first
	 * launch. CUDA_ERROR_INVALID_HANDLE: it is no kernel.
	 */
	CUresult (*attach)(CUkernel kernel, gpukit_body body);
	/*
	 * Where this process reads and writes [address, address + size); NULL:
	 * not all of that is memory of a device. Without rights or faults:
	 * for who has been told so by the driver.
	 */
	void *(*view)(uint64_t address, uint64_t size);
	/*
	 * The calling thread is about to do what a kernel of that name would.
	 * Waits for all that the stream of the current context (or of its own,
	 * with a handle) waits for; answers the context's error, and
	 * CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED where it is captured. From then
	 * until `work_end` the device is busy. They nest, and threads may do so
	 * side by side.
	 */
	CUresult (*work_begin)(CUstream stream, const char *name,
			       struct gpukit_work *work);
	void (*work_end)(struct gpukit_work *work);
	/* Such work has failed: so has the context. Between the two or after.
	 */
	void (*work_fail)(CUstream stream, CUresult result);
	/*
	 * `ended` is called once when the capture that the stream is in ends,
	 * well or not. It calls nothing of CUDA's: locks are held.
	 */
	CUresult (*capture_watch)(CUstream stream, void (*ended)(void *data),
				  void *data);
};

#endif
