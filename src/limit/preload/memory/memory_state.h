/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_state.h - the state of this process's memory, for memory.c and the
 * files that count memory for it. All of it is zero in a forked child.
 */
#ifndef GKL_PRELOAD_MEMORY_STATE_H
#define GKL_PRELOAD_MEMORY_STATE_H

#include "limit/preload/memory/blocks.h"
#include "limit/preload/memory/gate.h"
#include "limit/preload/memory/memory.h"
#include "limit/preload/table.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
	POOLS_MAX = 1024,
	PRIMARIES = 64, /* devices that CUDA may show */
};

/*
 * A pool of cuMemAllocAsync(), or the memory that graphs allocate on a device.
 * The driver says how much a pool has reserved. s->pools guards this struct.
 */
struct memory_pool {
	bool used;           /* the struct is in use */
	CUmemoryPool handle; /* NULL: the graphs' pool */
	CUdevice ordinal;
	int device;
	uint64_t charged; /* bytes in the ledger, except those pending */
	unsigned calls;   /* number of calls in progress */
	uint64_t claimed; /* reserved but unused bytes, claimed by calls */
};

struct memory_device {
	_Atomic bool joined; /* contexts have been measured */
	_Atomic bool due;    /* memory_refresh() has something to do */
	_Atomic bool seen;   /* NVML has reported this process */
	_Atomic uint64_t rest[GKL_KINDS]; /* measured bytes */
	/* The part of `rest` that was added since the last measurement. */
	_Atomic uint64_t doubted;
	_Atomic uint32_t looks; /* set by memory_expect() */
};

struct memory_state {
	/* Also adds up the counted bytes, except managed memory. */
	struct gate gate;
	_Atomic uint32_t epoch; /* counts measurements */
	pthread_mutex_t measuring;
	_Atomic bool contexts_free, latched;
	struct memory_device device[GKL_DEVICES];
	struct table pieces;   /* pieces, by address */
	struct table handles;  /* memory of cuMemCreate(), by handle */
	struct table mappings; /* mappings of memory in `handles`, by address */
	struct table contexts; /* contexts made by the program, by handle */
	struct table measured; /* arrays and memory of other APIs, by handle */
	struct table pool_of;  /* indices of pools, by handle */
	struct table execs;    /* graphs that allocate, by handle */
	/* Sizes of libraries, and the contexts that use them. */
	struct table uses;
	struct table exports, imports; /* sharing.c */
	_Atomic uint32_t export_count, import_count;
	_Atomic uint32_t context_count, exec_count, pool_count;
	pthread_mutex_t physical, pools, sharing, primary[PRIMARIES];
	/* The first `pool_count` are in use. */
	struct memory_pool pool[POOLS_MAX + PRIMARIES];
	struct blocks blocks;
};

/* NULL: out of memory. */
struct memory_state *memory_make_state(void); /* for memory_state() alone */
extern _Atomic(struct memory_state *) memory_known_state;

static inline struct memory_state *memory_state(void)
{
	struct memory_state *s =
	    atomic_load_explicit(&memory_known_state, memory_order_acquire);

	return __builtin_expect(!s, 0) ? memory_make_state() : s;
}

/*
 * Reads from NVML how much this process holds. False: NVML does not report it.
 * The caller holds s->measuring.
 */
bool memory_truth(int device, uint64_t *ret_bytes);

/*
 * Whether measuring waits for the call. It does not wait for loads of code:
 * compilation may take long. It must wait for contexts: otherwise the size of
 * two contexts could be taken for the size of one.
 */
static inline bool memory_passes_gate(const struct memory_call *call)
{
	return call->pending_kind == GKL_PENDING || call->kind == GKL_CONTEXT;
}

/*
 * In settle.c. memory_end_call(): leaves the gate after the driver's answer.
 * The others change the ledger and HAMi's region.
 */
void memory_end_call(const struct memory_call *call);
void settle_refund(int device, enum gkl_kind kind, uint64_t bytes);
void settle_charge(int device, enum gkl_kind kind, uint64_t bytes);
void settle_call(struct memory_call *call, uint64_t taken);

/*
 * In pools.c, for pool_calls.c. pool_kind(): the kind under which a pool is
 * charged. pool_reserved(), pool_usage(): the bytes that the driver has
 * reserved for a pool, and how many of them are in use.
 */
enum gkl_kind pool_kind(const struct memory_pool *p);
bool pool_reserved(const struct memory_pool *p, uint64_t *ret_bytes);
bool pool_usage(const struct memory_pool *p, uint64_t *ret_reserved,
		uint64_t *ret_used);

/*
 * pool_settle() charges what a pool has reserved. pool_forget() drops a pool
 * and returns its device or LIMITED_NONE. The caller holds s->pools.
 */
void pool_settle(struct memory_pool *p, uint64_t reserved);
int pool_forget(struct memory_state *s, CUmemoryPool handle);

/* Charges each pool of a device for what it has reserved; returns the sum. */
uint64_t pools_settle(int device);

/* Before a refusal: makes pools give back their reserves. */
void pools_trim(int device);

#endif
