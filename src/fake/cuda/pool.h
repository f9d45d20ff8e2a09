/* pool.h - the memory pools that programs have handles of. */
#ifndef GKF_CUDA_POOL_H
#define GKF_CUDA_POOL_H

#include "fake/cuda/memory.h"

struct CUmemPoolHandle_st {
	CUdevice device;
	bool standard;  /* the device's default pool */
	uint64_t bound; /* bytes it may have; 0: no bound */
	_Atomic uint64_t threshold;
	_Atomic int reuse[3];          /* REUSE_... attributes */
	_Atomic uint64_t peers;        /* a bit for each device with access */
	_Atomic(struct gkf_pool *) at; /* made with its first piece */
};

/* The pool that a piece with a pool is of. */
CUmemoryPool pool_of(const struct gkf_extent *e);

/* What a device takes memory from when nobody says. */
CUresult pool_current(CUdevice device, CUmemoryPool *ret_pool);

#endif
