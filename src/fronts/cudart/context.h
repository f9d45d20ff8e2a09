/*
 * context.h - what the functions about devices need of context.c.
 */
#ifndef GKF_CUDART_CONTEXT_H
#define GKF_CUDART_CONTEXT_H

#include "fronts/cudart/runtime.h"

/* Is the current context the primary one of its device? */
bool context_is_primary(CUcontext current);

/* The primary context of a device was reset: it is no longer held. */
void context_forget(int device);

/*
 * Sets the devices that a thread tries when it has chosen none, in this order;
 * count 0: all. cudaErrorMemoryAllocation.
 */
cudaError_t context_order(const int *devices, int count);

#endif
