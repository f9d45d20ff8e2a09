/* SPDX-License-Identifier: Apache-2.0 */
/* mem_pool.h - memory pools (CUmemoryPool). */
#ifndef GKF_CUDA_POOL_H
#define GKF_CUDA_POOL_H

#include "fronts/cuda/memory/memory.h"

struct CUmemPoolHandle_st {
	CUdevice device;
	bool standard;  /* the device's default pool */
	uint64_t bound; /* maximum bytes of its memory; 0: no limit */
	_Atomic uint64_t threshold;
	_Atomic int reuse[3];   /* REUSE_... attributes */
	_Atomic uint64_t peers; /* devices with access, one bit each */
	/* created with the pool's first allocation */
	_Atomic(struct gkf_mem_pool *) at;
	/* For sharing with other processes; see mem_pool_share.c. */
	CUmemAllocationHandleType types;
	bool shared; /* if true, `row` is the pool's entry in share.h */
	uint32_t row;
	/* for an imported pool: the mapped file of its device; else NULL */
	void *all;
	uint64_t all_size;
};

/* Makes a pool without a limit; NULL: out of memory. */
CUmemoryPool pool_new(CUdevice device);

/* Returns the pool of a piece, or NULL (memory_reach.c). */
CUmemoryPool pool_of(const struct gkf_extent *e);

/* Finds the current pool of a device. */
CUresult pool_current(CUdevice device, CUmemoryPool *ret_pool);

/*
 * Finds the pool for memory of graphs on a device. Programs have no handle for
 * it.
 */
CUresult pool_of_graphs(CUdevice device, CUmemoryPool *ret_pool);
void pool_share(CUmemoryPool pool, CUdevice with);
void pool_trim_all(CUmemoryPool pool);
void pool_reset(CUmemoryPool pool);
struct gkf_mem_pool_usage pool_read(CUmemoryPool pool);

/*
 * Allocates from a pool for the stream with this number. If memory is short,
 * waits for leaving pieces (see pool_leave()). If `stream` is 0, never waits,
 * and only memory_free() can free the piece.
 */
CUresult pool_alloc(CUmemoryPool pool, size_t size, uint64_t stream,
		    CUdeviceptr *dptr);

/*
 * Implements cuMemFreeAsync(): the piece is "leaving" until the stream has
 * reached the free. Programs must not use a leaving piece. The same stream can
 * allocate the piece again at once, other streams only when it has left.
 */
CUresult pool_leave(CUcontext ctx, const struct gkf_extent *e, CUstream stream,
		    bool per_thread);

/*
 * Allocates a leaving piece again, for the stream with this number, which freed
 * it; false: no piece fits.
 */
bool pool_take_back(const struct gkf_mem_pool *at, uint64_t stream, size_t size,
		    CUdeviceptr *ret_address);

/* Returns how many pieces of a device have finished leaving so far. */
uint64_t pool_left(unsigned device);

/*
 * Waits until a leaving piece of a device has left: one that was freed in
 * `stream` or, if that is 0, in any stream. Does not wait if one has left since
 * pool_left() returned `left`: the caller's last attempt to allocate may have
 * come just before. Returns false if there was nothing to wait for.
 */
bool pool_await(unsigned device, uint64_t stream, uint64_t left);

#endif
