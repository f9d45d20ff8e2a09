/*
 * physical.h - memory without addresses (cuMemCreate), which programs map
 * where they like.
 */
#ifndef GKF_CUDA_PHYSICAL_H
#define GKF_CUDA_PHYSICAL_H

#include "device/share.h"
#include "fronts/cuda/memory.h"

#include <pthread.h>

/* Memory is created, mapped and given access to in steps of this. */
#define PHYSICAL_STEP (2ULL << 20)

struct physical {
	struct cuda_device *device;
	CUmemAllocationProp prop;
	uint64_t size;
	uint64_t address; /* gkf_space_alloc()'s; 0: of another process */
	void *source;     /* where this process reads it */
	struct gkf_share_about about; /* of another process's */
	bool shared;                  /* as `row` */
	uint32_t row;
	struct physical *next; /* of those that nobody here has any more */
	unsigned handles; /* of the program's; 0: its value is none any more */
	unsigned mappings;
};

/*
 * One lock for all of it. physical_of(): what a handle stands for; NULL: none.
 * physical_drop(): frees what has neither handles nor mappings. Both under the
 * lock.
 */
void physical_lock(void);
void physical_unlock(void);
struct physical *physical_of(CUmemGenericAllocationHandle handle);
void physical_drop(struct physical *p);
void physical_settle(void);

/* A new one, of which the caller has the only handle; NULL: no memory. */
struct physical *physical_new(struct cuda_device *device,
			      const CUmemAllocationProp *prop, uint64_t size);

#endif
