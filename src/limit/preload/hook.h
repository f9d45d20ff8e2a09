/*
 * hook.h - what hooks of calls that take or give back memory share.
 */
#ifndef GKL_PRELOAD_HOOK_H
#define GKL_PRELOAD_HOOK_H

#include "limit/preload/driver.h"
#include "limit/preload/limited.h"
#include "limit/preload/memory_state.h"

/* True: there is no driver, or an older one; answer CUDA_ERROR_NO_DEVICE. */
#define MISSING(function) (!driver_cuda_ready() || !REAL(function))

/*
 * Memory with addresses. piece_end(): after the driver's call that was begun
 * with memory_begin(); `bytes` from `address` if it succeeded. piece_owner():
 * the current context as pieces name it.
 */
CUresult piece_end(struct memory_call *call, CUresult r, uint64_t address,
		   uint64_t bytes);
uint64_t piece_owner(void);

/* Frees by the driver's `release`; what was not ours is the driver's alone. */
CUresult piece_give(uint64_t address, CUresult (*release)(uint64_t address));

/*
 * Things with a handle that are measured. measured_end(): after the driver's
 * call that was begun with memory_begin(); not CUDA_SUCCESS where the driver's
 * answer was: the group is above its limit, destroy it again.
 */
CUresult measured_end(struct memory_call *call, CUresult r, uint64_t handle,
		      uint64_t guess);
CUresult measured_give(uint64_t handle, CUresult (*release)(uint64_t handle));

/* The most that memory of this size may take. */
uint64_t piece_most(uint64_t bytes);

/* The piece of a row is not there any more. Between memory_enter and leave. */
void piece_gone(const struct table_row *row);

/*
 * A context ends: begin takes out what belongs to it, end() is told whether it
 * did. primary: owner 0 of the device.
 */
struct piece_list {
	struct table_row *row;
	uint32_t count, room;
	int device;
	uint64_t owner;
};
void piece_end_begin(struct piece_list *ret_list, int device, uint64_t owner);
void piece_end_done(struct piece_list *list, bool ended);

/*
 * Pools: pool_find() is the one of a handle (NULL: what graphs have on that
 * device), noted when it is new, on the device or, CU_DEVICE_INVALID, on the
 * host; NULL: no room for another, which graphs always have.
 *
 * pool_begin() and pool_end() stand around a call that may let one grow by
 * `most`, in the place of memory_begin() and memory_end().
 */
struct memory_pool *pool_find(CUmemoryPool handle, CUdevice ordinal);
CUresult pool_begin(struct memory_call *ret_call, struct memory_pool *pool,
		    uint64_t most);
void pool_end(struct memory_call *call, struct memory_pool *pool);

/* cuMemPoolDestroy(): what is left in it, is to be measured. */
CUresult pool_destroy(CUmemoryPool handle);

/*
 * Of what a pool has in reserve and does not use, as much as there is for a
 * call that needs `bytes`: it is nobody else's until it is given back.
 */
uint64_t pool_claim_idle(struct memory_pool *pool, uint64_t bytes);
void pool_unclaim(struct memory_pool *pool, uint64_t bytes);

/* After the driver freed a piece of a pool. */
void pool_piece_gone(const struct table_row *row);

/* Does any graph of this process allocate? */
bool graphs_allocate(void);

#endif
