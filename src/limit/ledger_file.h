/*
 * ledger_file.h - the file of a ledger, byte for byte, and what a process that
 * maps it keeps for itself.
 *
 * An operation of slot s on device d changes how many bytes s holds by a delta.
 * It has a number, one more than that of the last one of s on d.
 *
 * 1. The owner writes delta and number into `op` of its account.
 * 2. It swaps the total of the device to {bytes + delta, s and the number}:
 *    from here on the operation has happened.
 * 3. It swaps `held` of its account to {held + delta, the number}.
 *
 * Before anybody replaces a total it does step 3 for the operation that the
 * total names. So whoever dies or stops behind step 2 needs no help that does
 * not come; before it, nothing has happened.
 *
 * The account of a dead owner is emptied by such an operation too, by all who
 * like, at once: they all write the same one, and it happens once.
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
	GKL_LEDGER_VERSION = 3,
	GKL_LINE = 64, /* bytes that two processors do not share well */
	GKL_SEQ_BITS = 48,
};

#define GKL_SEQ_MASK ((1ULL << GKL_SEQ_BITS) - 1)

/* What a process has of a device. All but held is the owner's to write. */
struct gkl_account {
	union gkl_wide held; /* bytes; number of the last operation */
	union gkl_wide op;   /* delta; number */
	_Atomic uint64_t kinds[GKL_KINDS];
	_Atomic uint64_t peak, refused, counts[GKL_COUNTS];
} __attribute__((aligned(GKL_LINE)));

struct gkl_slot {
	union gkl_wide life;          /* life.h; 0: free */
	_Atomic uint64_t counted;     /* high half of the life that the counters
					 belong to */
	_Atomic uint64_t locked;      /* of that which holds the slot's lock */
	_Atomic uint64_t unlocked_ns; /* when it was first seen without */
	_Atomic uint32_t turn;        /* counts owners */
	_Atomic int32_t host_pid;
	struct gkl_account account[GKL_DEVICES];
} __attribute__((aligned(GKL_LINE)));

/* What the processes of the group have of a device, or had. */
struct gkl_taken {
	union gkl_wide total; /* bytes; slot and number of the last operation */
	_Atomic uint64_t peak;
	/* Of those who are buried. */
	_Atomic uint64_t refused, counts[GKL_COUNTS];
} __attribute__((aligned(2 * GKL_LINE)));

struct gkl_device_pair {
	_Atomic uint64_t seq;
	struct gkl_device copies[2];
};

struct gkl_ledger_file {
	uint64_t magic, version;
	_Atomic uint64_t looked_ns; /* when somebody last looked for the dead */
	_Atomic uint32_t high;      /* no slot from here on was ever used */
	_Atomic uint32_t burials;   /* counted before the slot is free */
	/* Since when shares count: CLOCK_MONOTONIC begins anew at each boot. 0:
	 * nobody has opened it. */
	_Atomic uint64_t boot;
	struct gkl_taken taken[GKL_DEVICES];
	struct gkl_device_pair devices[GKL_DEVICES];
	char share[GKL_DEVICES][GKL_SHARE_BYTES]
	    __attribute__((aligned(GKL_LINE)));
	struct gkl_slot slots[GKL_PROCESSES];
};

/* This process's own, zeros again in a forked child. */
struct gkl_own {
	/* Whose it is, where the kernel empties nothing; -: in the making. */
	_Atomic int32_t pid;
	_Atomic uint32_t slot_and_one; /* 0: none yet */
	struct gkl_lock claiming, locks[GKL_DEVICES];
	union gkl_wide life;
	void *lock; /* keeps the lock of the slot */
};

struct gkl_ledger {
	struct gkl_ledger_file *file;
	struct gkl_own *own;
	bool is_wiped; /* by the kernel, at a fork */
	dev_t dev;
	ino_t ino;
	char path[640];
};

/* The same after a fork on a kernel that empties nothing. */
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

/* Slots to look through: all that were ever used. */
static inline unsigned int gkl_slots_high(const struct gkl_ledger_file *f)
{
	uint32_t high = atomic_load_explicit(&f->high, memory_order_acquire);

	return high < GKL_PROCESSES ? high : GKL_PROCESSES;
}

#endif
