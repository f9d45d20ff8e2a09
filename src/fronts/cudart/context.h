/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context.h - functions of context.c for code that selects or resets devices.
 */
#ifndef GKF_CUDART_CONTEXT_H
#define GKF_CUDART_CONTEXT_H

#include "fronts/cudart/runtime.h"

/* Whether the current context is the primary context of its device. */
bool context_is_primary(CUcontext current);

/* Call this after a device's primary context was reset: a reset also releases
 * the context. */
void context_forget(int device);

/*
 * Sets the devices to try, in this order, for a thread that has not chosen one.
 * If `count` is 0, all devices are tried. Returns cudaErrorMemoryAllocation if
 * memory runs out.
 */
cudaError_t context_order(const int *devices, int count);

#endif
