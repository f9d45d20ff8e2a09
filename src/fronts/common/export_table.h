/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_table.h - the table that our libcuda returns from cuGetExportTable,
 * for our other libraries. The runtime works without the table, too, on any
 * driver.
 */
#ifndef GKF_CUDA_EXPORT_TABLE_H
#define GKF_CUDA_EXPORT_TABLE_H

#include "abi/cuda/cuda_abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first 16 bytes are the table's UUID. */
#define GPUKIT_TABLE_UUID "gpukit runtime 4"

/* The library whose function was refused. */
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

/* How a body accesses memory. GPUKIT_WRITES allows reading, too. */
enum gpukit_access { GPUKIT_READS, GPUKIT_WRITES };

/*
 * A native kernel has a C function as its body instead of PTX; libraries launch
 * it like any other kernel. The body runs once per launch, in stream order, on
 * a thread with all signals blocked. Its run time counts as busy time of the
 * device. Several bodies may run at once.
 */
struct gpukit_run {
	const void *params; /* the kernel's parameters, a copy */
	/*
	 * Returns the host address of device memory [address, address + size).
	 * NULL: the kernel may not access all of it in this way; the launch
	 * then ends with CUDA_ERROR_ILLEGAL_ADDRESS, whatever the body returns.
	 * Never NULL if `size` is 0.
	 */
	void *(*memory)(struct gpukit_run *run, enum gpukit_access access,
			uint64_t address, size_t size);
	/*
	 * Returns true if the process or context is ending. Then the body must
	 * return soon.
	 */
	bool (*stopped)(void);
	/* The body adds its additions and multiplications here. */
	uint64_t operations;
	/* The body adds the bytes received from and sent to other devices. */
	uint64_t link_in, link_out;
	void *context; /* private to the driver */
	int fault;     /* set by the driver: a CUresult */
};

/* Returns CUDA_SUCCESS, or the error with which the context fails. */
typedef CUresult (*gpukit_body)(struct gpukit_run *run);

/* Device work that the calling thread does between work_begin and work_end. */
struct gpukit_work {
	void *queue; /* private to the driver */
};

struct gpukit_table {
	size_t size; /* size of this table; later versions append members */
	/* Counts a call that a library refuses. Call it after cuInit. */
	void (*refused)(enum gpukit_library library, const char *symbol);
	/*
	 * Makes a kernel from cuLibraryGetKernel() a native one, before its
	 * first launch. CUDA_ERROR_INVALID_HANDLE: not a kernel.
	 */
	CUresult (*attach)(CUkernel kernel, gpukit_body body);
	/*
	 * Returns the host address of device memory [address, address + size).
	 * NULL: not all of it is device memory. Does not check access rights:
	 * use it only for accesses that the driver has already checked.
	 */
	void *(*view)(uint64_t address, uint64_t size);
	/*
	 * Call it before the calling thread does what a kernel named `name`
	 * would do. Waits for all earlier work in the stream. Returns the
	 * context's error, or CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED if the
	 * stream is being captured. The device is busy until `work_end`. Calls
	 * may nest, and several threads may call at once.
	 */
	CUresult (*work_begin)(CUstream stream, const char *name,
			       struct gpukit_work *work);
	void (*work_end)(struct gpukit_work *work);
	/* Makes the context fail. Call it between work_begin and work_end, or
	 * after both. */
	void (*work_fail)(CUstream stream, CUresult result);
	/*
	 * Calls `ended` once, when the stream's capture ends or is invalidated.
	 * `ended` must not call CUDA functions, as locks are held.
	 */
	CUresult (*capture_watch)(CUstream stream, void (*ended)(void *data),
				  void *data);
	/* Like refused(), but also takes the reason. */
	void (*refused_for)(enum gpukit_library library, const char *symbol,
			    const char *why);
};

/*
 * Whether a table has a member: the table of an older driver is shorter. All
 * tables with this UUID have `refused`.
 */
#define GPUKIT_TABLE_HAS(table, member)                                        \
	((table)->size >=                                                      \
	 offsetof(struct gpukit_table, member) + sizeof((table)->member))

#endif
