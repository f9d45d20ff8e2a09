/* SPDX-License-Identifier: Apache-2.0 */
/* hook.h - shared by the hooks of calls that take or give back memory. */
#ifndef GKL_PRELOAD_HOOK_H
#define GKL_PRELOAD_HOOK_H

#include "limit/preload/entry/driver.h"
#include "limit/preload/limited.h"
#include "limit/preload/memory/memory_state.h"

/* True: the driver is missing or too old; return CUDA_ERROR_NO_DEVICE. */
#define MISSING(function) (!driver_cuda_ready() || !REAL(function))

/*
 * Pieces: allocations that have an address. piece_end() ends a call that
 * memory_begin() began. Call it after the driver's call; if that succeeded, it
 * returned `bytes` bytes at `address`. piece_owner(): the current context, as
 * it appears in table rows of pieces.
 */
CUresult piece_end(struct memory_call *call, CUresult r, uint64_t address,
		   uint64_t bytes);
uint64_t piece_owner(void);

/*
 * Frees the memory at an address through the driver's `release`, and accounts
 * for it if it is a known piece.
 */
CUresult piece_give(uint64_t address, CUresult (*release)(uint64_t address));

/*
 * Objects that have a handle and are measured. handle_end() ends a call that
 * memory_begin() began. Call it after the driver's call. If handle_end()
 * returns an error although the driver did not, the group is above its limit:
 * destroy the object again.
 */
CUresult handle_end(struct memory_call *call, CUresult r, uint64_t handle,
		    uint64_t guess);
CUresult handle_give(uint64_t handle, CUresult (*release)(uint64_t handle));

/* The most bytes that memory of this size may take. */
uint64_t piece_most(uint64_t bytes);

/*
 * Accounts for a freed piece, given its table row. Called between
 * memory_enter() and memory_leave().
 */
void piece_gone(const struct table_row *row);

/*
 * For the end of a context. piece_end_begin(): takes the context's pieces out
 * of the table; piece_end_done(): puts them back unless the context ended. A
 * primary context is owner 0 of its device.
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
 * pool_find(): the pool with a handle (NULL: the device's pool for graphs). A
 * new pool is recorded as a pool on device `ordinal` or, if that is
 * CU_DEVICE_INVALID, on the host. Returns NULL if the table of pools is full,
 * but never for graphs' pools.
 *
 * pool_begin() and pool_end() replace memory_begin() and memory_end() around a
 * call that may grow a pool by `most`.
 */
struct memory_pool *pool_find(CUmemoryPool handle, CUdevice ordinal);
CUresult pool_begin(struct memory_call *ret_call, struct memory_pool *pool,
		    uint64_t most);
void pool_end(struct memory_call *call, struct memory_pool *pool);

/*
 * Calls cuMemPoolDestroy(). Memory that is left in the pool must then be
 * measured.
 */
CUresult pool_destroy(CUmemoryPool handle);

/*
 * pool_claim_idle(): sets aside up to `bytes` of a pool's unused reserve for a
 * call, until pool_unclaim(). Returns how much.
 */
uint64_t pool_claim_idle(struct memory_pool *pool, uint64_t bytes);
void pool_unclaim(struct memory_pool *pool, uint64_t bytes);

/* Call after the driver freed a piece of a pool. */
void pool_piece_gone(const struct table_row *row);

/* Whether any graph of this process allocates memory. */
bool graphs_allocate(void);

#endif
