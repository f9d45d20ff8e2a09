/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_fault.h - faults of CUDA programs: how launches, allocations and copies
 * on a device fail or slow down while a fault is active. Any thread.
 */
#ifndef GKF_CUDA_FAULT_H
#define GKF_CUDA_FAULT_H

#include "base/export.h"

#include <stdbool.h>
#include <stdint.h>

struct gkf_machine;

/*
 * The argument of a CUDA fault, in one word: the CUresult; the number of calls
 * that succeed first; the hash of a kernel's name, 0: any kernel.
 */
#define GKF_CUDA_FAULT_RESULT(argument) ((unsigned)((argument)&0xffff))
#define GKF_CUDA_FAULT_AFTER(argument)  ((unsigned)((argument) >> 16 & 0xffff))
#define GKF_CUDA_FAULT_NAME(argument)   ((uint32_t)((argument) >> 32))
#define GKF_CUDA_FAULT_AFTER_MAX        0xffff

/*
 * gkf_cuda_fault_word(): the word for a CUresult, or NULL;
 * gkf_cuda_fault_find(): the CUresult for a word, or 0.
 */
const char *gkf_cuda_fault_word(unsigned result);
unsigned gkf_cuda_fault_find(const char *word, unsigned length);

/* The hash of a kernel's name of length bytes; never 0. */
uint32_t gkf_cuda_fault_hash(const char *name, unsigned length);

/* The Xid that goes with a CUresult; 0: none. */
unsigned gkf_cuda_fault_xid(unsigned result);

/*
 * The CUresult with which a launch of a kernel fails; 0: it succeeds. name: the
 * kernel's name in PTX. The fault names the kernel by that name, or by an
 * identifier within it (for C++).
 */
GKF_API unsigned gkf_cuda_fault_launch(struct gkf_machine *m, unsigned device,
				       const char *name);

/* Whether an allocation fails for lack of memory. */
GKF_API bool gkf_cuda_fault_allocation(struct gkf_machine *m, unsigned device);

/* The factor by which copies take longer; 1: as long as usual. */
GKF_API uint64_t gkf_cuda_fault_slowness(struct gkf_machine *m,
					 unsigned device);

/* Sends the Xid of a CUresult for a program in an instance. */
GKF_API void gkf_cuda_fault_tell(struct gkf_machine *m, unsigned device,
				 uint32_t instance, unsigned result);

#endif
