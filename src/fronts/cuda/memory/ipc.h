/* SPDX-License-Identifier: Apache-2.0 */
/* ipc.h - shares memory and events between processes of one user. */
#ifndef GKF_CUDA_IPC_H
#define GKF_CUDA_IPC_H

#include "device/share.h"
#include "fronts/cuda/memory/memory.h"

/* Closes all memory of other processes that a context has opened. */
void ipc_close(CUcontext ctx);

/* Whether cuIpcGetMemHandle() can share this memory. */
bool ipc_is_capable(const struct gkf_extent *e);

/* Checks a type of shareable handle; only file descriptors are supported. */
CUresult ipc_check_type(enum cuda_row row, CUmemAllocationHandleType type,
			unsigned long long flags);

/*
 * Returns the device with this index in the machine; NULL: not visible to this
 * process.
 */
struct cuda_device *ipc_device(unsigned index);

/* Converts an error of share.h to a CUresult. */
CUresult ipc_error(enum cuda_row row, int error);

#endif
