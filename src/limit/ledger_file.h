/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger_file.h - the file of a ledger, byte for byte, and the private data of
 * a process that maps it.
 *
 * An operation of slot s on device d adds a delta to the bytes that s holds.
 * Its number is one more than that of s's last operation on d.
 *
 * 1. The owner writes delta and number into `op` of its account.
 * 2. It swaps the total of the device to {bytes + delta, s and the number}:
 *    this is when the operation happens.
 * 3. It swaps `held` of its account to {held + delta, the number}.
 *
 * Before a process replaces a total, it does step 3 for the operation that the
 * total names. So if an owner dies or stops after step 2, others finish its
 * operation; before step 2, nothing has happened.
 *
 * Such an operation also empties the account of a dead owner. Any number of
 * processes may try at once: they all write the same operation, and it happens
 * once. Memory that others still hold stays (ledger_export.h); the first
 * process to empty the account writes its amount to `kept`.
 */
#ifndef GKL_LEDGER_FILE_H
#define GKL_LEDGER_FILE_H

#include "limit/ledger.h"
#include "limit/lock.h"
#include "limit/wide.h"

#include <stdatomic.h>
#include <stddef.h>

#define GKL_LEDGER_MAGIC 0x7267646c746b7067ULL /* "gpktldgr" */

enum {
	GKL_LEDGER_VERSION = 4,
	GKL_EXPORTS = 4096,
	GKL_LINE = 64, /* bytes of a cache line */
	GKL_SEQ_BITS = 48,
};

#define GKL_SEQ_MASK ((1ULL << GKL_SEQ_BITS) - 1)

/*
 * A process's use of a device. While the owner lives, other processes write
 * only `held`.
 */
struct gkl_account {
	/* The bytes, and the number of the last operation. */
	union gkl_wide held;
	/* low half: the delta; high half: the operation's number */
	union gkl_wide op;
	/* Bytes left when a dead owner's account is emptied. */
	union gkl_wide kept;
	_Atomic uint64_t kinds[GKL_KINDS];
	_Atomic uint64_t peak, refused, counts[GKL_COUNTS];
} __attribute__((aligned(GKL_LINE)));

struct gkl_slot {
	union gkl_wide life; /* the slot's owner (life.h); 0: free */
	/* A dead owner, some of whose bytes others hold. */
	union gkl_wide ended;
	/* The high half of the life to which the counters belong. */
	_Atomic uint64_t counted;
	/* The high half of the life that holds the slot's lock. */
	_Atomic uint64_t locked;
	_Atomic uint64_t unlocked_ns; /* when its lock was first seen free */
	_Atomic uint32_t turn;        /* number of owners so far */
	_Atomic int32_t host_pid;
	struct gkl_account account[GKL_DEVICES];
} __attribute__((aligned(GKL_LINE)));

/* The group's use of a device, now and in the past. */
struct gkl_taken {
	/* The bytes, and the slot and number of the last operation. */
	union gkl_wide total;
	_Atomic uint64_t peak;
	/* Counters of buried processes. */
	_Atomic uint64_t refused, counts[GKL_COUNTS];
} __attribute__((aligned(2 * GKL_LINE)));

struct gkl_device_pair {
	_Atomic uint64_t seq;
	struct gkl_device copies[2];
};

/* Memory of a device that a process has exported. */
struct gkl_export {
	union gkl_wide owner; /* the life of a slot; 0: free */
	_Atomic uint64_t
	    number; /* the export's number; 0: not yet set, or cleared */
	_Atomic uint64_t device, bytes;
} __attribute__((aligned(GKL_LINE)));

struct gkl_ledger_file {
	uint64_t magic, version;
	/* Time of the last search for dead owners. */
	_Atomic uint64_t looked_ns;
	_Atomic uint32_t high;    /* highest slot ever used + 1 */
	_Atomic uint32_t burials; /* incremented before a slot is freed */
	/* The boot whose CLOCK_MONOTONIC the shares use. 0: never opened. */
	_Atomic uint64_t boot;
	_Atomic uint32_t exports_high; /* highest used index of `exports` + 1 */
	struct gkl_taken taken[GKL_DEVICES];
	struct gkl_device_pair devices[GKL_DEVICES];
	char share[GKL_DEVICES][GKL_SHARE_BYTES]
	    __attribute__((aligned(GKL_LINE)));
	struct gkl_slot slots[GKL_PROCESSES];
	struct gkl_export exports[GKL_EXPORTS];
};

/* Data of this process alone; zeroed in a forked child. */
struct gkl_own {
	/* If the kernel does not zero this struct at fork: the process to which
	 * it belongs; negative while it is being reset. */
	_Atomic int32_t pid;
	_Atomic uint32_t slot_and_one; /* the slot's number + 1; 0: none yet */
	struct gkl_lock claiming, locks[GKL_DEVICES];
	union gkl_wide life;
	void *lock; /* the mapping that keeps the slot's lock */
};

struct gkl_ledger {
	struct gkl_ledger_file *file;
	struct gkl_own *own;
	bool is_wiped;       /* the kernel zeroes `own` at fork */
	atomic_bool damaged; /* the file was truncated */
	dev_t dev;
	ino_t ino;
	char path[640];
};

/* Resets the struct after a fork if the kernel has not zeroed it. */
struct gkl_own *gkl_own_checked(const struct gkl_ledger *ledger);

static inline struct gkl_own *gkl_own(const struct gkl_ledger *ledger)
{
	return ledger->is_wiped ? ledger->own : gkl_own_checked(ledger);
}

/* The slot of this process; NULL: it has none yet. */
static inline struct gkl_slot *gkl_own_slot(const struct gkl_ledger *ledger)
{
	uint32_t slot = atomic_load_explicit(&gkl_own(ledger)->slot_and_one,
					     memory_order_acquire);

	return slot ? &ledger->file->slots[slot - 1] : NULL;
}

/* The number of slots to scan: all that have been used. */
static inline unsigned int gkl_slots_high(const struct gkl_ledger_file *f)
{
	uint32_t high = atomic_load_explicit(&f->high, memory_order_acquire);

	return high < GKL_PROCESSES ? high : GKL_PROCESSES;
}

#endif
