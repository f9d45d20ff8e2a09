/* ipc.h - memory and events that processes of one user share. */
#ifndef GKF_CUDA_IPC_H
#define GKF_CUDA_IPC_H

#include "device/share.h"
#include "fronts/cuda/memory.h"

/* Everything that a context opened is closed. */
void ipc_close(CUcontext ctx);

/* May its memory be shared by a handle of cuIpcGetMemHandle? */
bool ipc_is_capable(const struct gkf_extent *e);

/*
 * CUDA_SUCCESS for the one type of handles for other processes that there is:
 * descriptors.
 */
CUresult ipc_check_type(enum cuda_row row, CUmemAllocationHandleType type,
			unsigned long long flags);

/* The device of a number of the machine; NULL: this process does not see it. */
struct cuda_device *ipc_device(unsigned index);

/* The name of an error of share.h; of opening a handle. */
CUresult ipc_error(enum cuda_row row, int error);

#endif
