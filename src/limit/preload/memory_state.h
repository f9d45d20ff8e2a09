/*
 * memory_state.h - what memory.c, and those who count for it, know of this
 * process. All of it is zero in a forked child.
 */
#ifndef GKL_PRELOAD_MEMORY_STATE_H
#define GKL_PRELOAD_MEMORY_STATE_H

#include "limit/preload/blocks.h"
#include "limit/preload/gate.h"
#include "limit/preload/memory.h"
#include "limit/preload/table.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
	POOLS_MAX = 1024,
	PRIMARIES = 64, /* devices that CUDA may show */
};

/*
 * A pool of cuMemAllocAsync(), or what graphs allocate on a device: the driver
 * says how much it has in reserve. Under the lock of pools.
 */
struct memory_pool {
	bool used;           /* this struct */
	CUmemoryPool handle; /* NULL: of graphs */
	CUdevice ordinal;
	int device;
	uint64_t charged; /* in the ledger, besides what calls have pending */
	unsigned calls;   /* under way */
	uint64_t claimed; /* by them, of what is reserved and not used */
};

struct memory_device {
	_Atomic bool joined; /* contexts are measured */
	_Atomic bool due;    /* memory_refresh() has something to do */
	_Atomic bool seen;   /* NVML has told of this process */
	_Atomic uint64_t rest[GKL_KINDS]; /* measured */
	_Atomic uint64_t doubted;         /* of rest, since it was measured */
	_Atomic uint32_t looks;           /* memory_expect() */
};

struct memory_state {
	struct gate gate; /* and bytes that are counted, but managed ones */
	_Atomic uint32_t epoch; /* of measuring */
	pthread_mutex_t measuring;
	_Atomic bool contexts_free, latched;
	struct memory_device device[GKL_DEVICES];
	struct table pieces;   /* by address */
	struct table handles;  /* cuMemCreate(), by handle */
	struct table mappings; /* of them, by address */
	struct table contexts; /* that programs made, by handle */
	struct table measured; /* arrays, memory of other APIs, by handle */
	struct table pool_of;  /* pools by handle: their index */
	struct table execs;    /* graphs that allocate, by handle */
	struct table uses;     /* libraries: size; and by which contexts used */
	_Atomic uint32_t context_count, exec_count, pool_count;
	pthread_mutex_t physical, pools, primary[PRIMARIES];
	/* The first `pool_count`. */
	struct memory_pool pool[POOLS_MAX + PRIMARIES];
	struct blocks blocks;
};

/* NULL: no memory for it. */
struct memory_state *memory_make_state(void); /* for memory_state() alone */
extern _Atomic(struct memory_state *) memory_known_state;

static inline struct memory_state *memory_state(void)
{
	struct memory_state *s =
	    atomic_load_explicit(&memory_known_state, memory_order_acquire);

	return __builtin_expect(!s, 0) ? memory_make_state() : s;
}

/* What NVML says that this process holds. False: it does not say. */
bool memory_truth(int device, uint64_t *ret_bytes);

/* In memory.c, for those who count. */
void ledger_refund(int device, enum gkl_kind kind, uint64_t bytes);
void ledger_charge(int device, enum gkl_kind kind, uint64_t bytes);
void ledger_settle(struct memory_call *call, uint64_t taken);

/* pools.c. Charges pools of a device with what they have; returns the sum. */
uint64_t pools_settle(int device);

/* Before a refusal: pools give back what they keep in reserve. */
void pools_trim(int device);

#endif
