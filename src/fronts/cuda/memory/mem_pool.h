/* mem_pool.h - the memory pools that programs have handles of. */
#ifndef GKF_CUDA_POOL_H
#define GKF_CUDA_POOL_H

#include "fronts/cuda/memory.h"

struct CUmemPoolHandle_st {
	CUdevice device;
	bool standard;  /* the device's default pool */
	uint64_t bound; /* bytes it may have; 0: no bound */
	_Atomic uint64_t threshold;
	_Atomic int reuse[3];   /* REUSE_... attributes */
	_Atomic uint64_t peers; /* a bit for each device with access */
	_Atomic(struct gkf_mem_pool *) at; /* made with its first piece */
	/* With other processes; mem_pool_share.c. */
	CUmemAllocationHandleType types;
	bool shared; /* as row */
	uint32_t row;
	void *all; /* of another process: its device's file; else NULL */
	uint64_t all_size;
};

/* A new pool without bounds; NULL: no memory. */
CUmemoryPool pool_new(CUdevice device);

/* Others can open it no more, or this process has it no more. */
void pool_unshare(CUmemoryPool pool);

/* The pool of a piece that comes from one. */
CUmemoryPool pool_of(const struct gkf_extent *e);

/* Finds the pool from which a device takes memory when nobody says. */
CUresult pool_current(CUdevice device, CUmemoryPool *ret_pool);

/* The pool for the memory of graphs, which no program has a handle of. */
CUresult pool_of_graphs(CUdevice device, CUmemoryPool *ret_pool);
void pool_share(CUmemoryPool pool, CUdevice with);
void pool_trim_all(CUmemoryPool pool);
void pool_reset(CUmemoryPool pool);
struct gkf_mem_pool_usage pool_read(CUmemoryPool pool);

/*
 * Memory of a pool, for a stream of that number, which waits for what leaves
 * when there is none. Stream 0 waits for nobody, and nobody frees its memory
 * but memory_free().
 */
CUresult pool_alloc(CUmemoryPool pool, size_t size, uint64_t stream,
		    CUdeviceptr *dptr);

/*
 * A piece that was freed in the order of a stream is leaving until the stream
 * has come there. Nobody may use it, but a later allocation of the same stream
 * may have its place at once, and others when the stream has come there.
 */
CUresult pool_leave(CUcontext ctx, const struct gkf_extent *e, CUstream stream,
		    bool per_thread);

/* Takes a leaving piece for `stream`, a number; false: none suits. */
bool pool_take_back(const struct gkf_mem_pool *at, uint64_t stream, size_t size,
		    CUdeviceptr *ret_address);

/*
 * Waits until a piece has left that leaves on a device, freed by that stream or
 * by any (0). False: none leaves.
 */
bool pool_await(unsigned device, uint64_t stream);

#endif
