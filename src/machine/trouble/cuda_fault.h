/*
 * cuda_fault.h - faults that befall programs of CUDA: what launches and
 * allocations of a device come to while one holds. Any thread.
 */
#ifndef GKF_CUDA_FAULT_H
#define GKF_CUDA_FAULT_H

#include "base/export.h"

#include <stdbool.h>
#include <stdint.h>

struct gkf_machine;

/*
 * The argument of such a fault, in one word: which CUresult; how many calls
 * still work; the hash of a kernel's name, 0: any kernel.
 */
#define GKF_CUDA_FAULT_RESULT(argument) ((unsigned)((argument)&0xffff))
#define GKF_CUDA_FAULT_AFTER(argument)  ((unsigned)((argument) >> 16 & 0xffff))
#define GKF_CUDA_FAULT_NAME(argument)   ((uint32_t)((argument) >> 32))
#define GKF_CUDA_FAULT_AFTER_MAX        0xffff

/* The word of a CUresult, or NULL; back: 0 when there is none. */
const char *gkf_cuda_fault_word(unsigned result);
unsigned gkf_cuda_fault_find(const char *word, unsigned length);

/* What a kernel's name, length bytes, is known by; never 0. */
uint32_t gkf_cuda_fault_hash(const char *name, unsigned length);

/* The Xid that is told of a CUresult; 0: none. */
unsigned gkf_cuda_fault_xid(unsigned result);

/*
 * The CUresult that a launch of a kernel fails with; 0: it does not. name: as
 * in PTX; the fault's may be that, or an identifier in it, as in C++.
 */
GKF_API unsigned gkf_cuda_fault_launch(struct gkf_machine *m, unsigned device,
				       const char *name);

/* Does an allocation find no memory? */
GKF_API bool gkf_cuda_fault_allocation(struct gkf_machine *m, unsigned device);

/* How many times as long copies take; 1: as long as they take. */
GKF_API uint64_t gkf_cuda_fault_slowness(struct gkf_machine *m,
					 unsigned device);

/* Such an Xid befalls the program that has a place in an instance. */
GKF_API void gkf_cuda_fault_tell(struct gkf_machine *m, unsigned device,
				 uint32_t instance, unsigned result);

#endif
