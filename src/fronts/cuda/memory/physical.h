/* SPDX-License-Identifier: Apache-2.0 */
/* physical.h - memory without addresses (cuMemCreate()), which programs map. */
#ifndef GKF_CUDA_PHYSICAL_H
#define GKF_CUDA_PHYSICAL_H

#include "device/share.h"
#include "fronts/cuda/memory/memory.h"

#include <pthread.h>

/* The granularity of creating, mapping and setting access. */
#define PHYSICAL_STEP (2ULL << 20)

struct physical {
	struct cuda_device *device;
	CUmemAllocationProp prop;
	uint64_t size;
	uint64_t address; /* from gkf_space_alloc(); 0: imported */
	/* host address at which this process accesses the memory */
	void *source;
	struct gkf_share_about about; /* used only if the memory is imported */
	/* whether it is shared; if true, `row` is its entry in share.h */
	bool shared;
	uint32_t row;
	struct physical *next; /* next object that only other processes use */
	unsigned handles;      /* number of the program's handles */
	unsigned mappings;
};

/* Guards all struct physical. */
extern pthread_mutex_t physical_mutex;
void physical_lock(void);
void physical_unlock(void);

/*
 * physical_of() returns the object of a handle, or NULL. physical_drop() frees
 * an object that has neither handles nor mappings. physical_settle() frees the
 * objects that other processes have stopped using. The caller holds
 * physical_mutex.
 */
struct physical *physical_of(CUmemGenericAllocationHandle handle);
void physical_drop(struct physical *p);
void physical_settle(void);

/*
 * Returns a new object with one handle, which the caller owns; NULL: out of
 * memory.
 */
struct physical *physical_new(struct cuda_device *device,
			      const CUmemAllocationProp *prop, uint64_t size);

#endif
