/*
 * memory.h - device memory within the limit, for the hooks of all calls that
 * allocate and free.
 */
#ifndef GKL_PRELOAD_MEMORY_H
#define GKL_PRELOAD_MEMORY_H

#include "limit/limits.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Reserves for the calling process within the policy; what is refused is
 * counted, and ACTIVE_OOM_KILLER obeyed. False: answer
 * CUDA_ERROR_OUT_OF_MEMORY. True also where nothing is limited.
 */
bool memory_reserve(int device, enum gkl_kind kind, uint64_t bytes);
void memory_refund(int device, enum gkl_kind kind, uint64_t bytes);

/* Corrects a reservation of `reserved` bytes to what the driver took. */
void memory_settle(int device, enum gkl_kind kind, uint64_t reserved,
		   uint64_t taken);

#endif
