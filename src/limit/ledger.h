/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger.h - how many bytes of each device every process of a group holds. All
 * processes of the group map the file; nobody locks it.
 *
 * A process reserves, then allocates, and refunds if that fails. A device has a
 * total and a process has a slot. Both are double-width words, changed by
 * compare-and-swap. If a process is killed after it has changed only one of
 * them, the next process finishes the operation. So the total never exceeds the
 * limit, nobody waits for a stopped process, and SIGKILL at any instruction
 * loses no byte.
 *
 * An owner is (pid, pid namespace, start time, stack), with a lock that the
 * kernel releases when the owner dies (life.h). To bury a dead owner is to give
 * back its memory and free its slot. A process that is refused memory, or that
 * reads totals, does that first.
 */
#ifndef GKL_LEDGER_H
#define GKL_LEDGER_H

#include "limit/file.h"
#include "limit/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct gkl_ledger; /* the mapped file */

/*
 * gkl_ledger_open() opens the file (an absolute path), making it if needed, and
 * maps it. Returns 0 or a gk_err. gkl_ledger_close() also gives back all that
 * the calling process holds.
 */
int gkl_ledger_open(const char *path, enum gkl_trust trust,
		    struct gkl_ledger **ret_ledger);
void gkl_ledger_close(struct gkl_ledger *ledger);

/*
 * Whether the file was ever truncated, even if it has its old size again. From
 * then on its content is meaningless and nothing may be reserved. Costs two
 * loads.
 */
bool gkl_ledger_is_damaged(const struct gkl_ledger *ledger);

/*
 * The slot of the calling process, claimed at the first call, and again in a
 * forked child. Negative (GK_ERR_...): all slots are in use, or /proc does not
 * identify this process; then nothing may be allocated.
 */
int gkl_ledger_slot(struct gkl_ledger *ledger);

/*
 * Reserves bytes of a device within `limit` (0: none) for the calling process.
 * False: too little is left, even after dead owners were buried. Any thread;
 * O(1), without a system call if enough is left.
 */
bool gkl_ledger_reserve(struct gkl_ledger *ledger, unsigned int device,
			enum gkl_kind kind, uint64_t bytes, uint64_t limit);

/* Gives back what the calling process reserved. */
void gkl_ledger_refund(struct gkl_ledger *ledger, unsigned int device,
		       enum gkl_kind kind, uint64_t bytes);

/* Adds bytes that the driver has already taken, whatever the limit. */
void gkl_ledger_charge(struct gkl_ledger *ledger, unsigned int device,
		       enum gkl_kind kind, uint64_t bytes);

/* Moves bytes that the calling process holds to another kind. */
void gkl_ledger_move(struct gkl_ledger *ledger, unsigned int device,
		     enum gkl_kind from, enum gkl_kind to, uint64_t bytes);

/* Counts a refusal; called once per refused request. */
void gkl_ledger_refused(struct gkl_ledger *ledger, unsigned int device);

/*
 * gkl_ledger_used(): bytes that all processes of the group hold; owners that
 * died more than 50 ms ago are not counted. gkl_ledger_own(): bytes that the
 * calling process holds. gkl_ledger_pending(): bytes that all processes hold as
 * `kind`, GKL_PENDING or GKL_LOADING.
 */
uint64_t gkl_ledger_used(const struct gkl_ledger *ledger, unsigned int device);
uint64_t gkl_ledger_own(struct gkl_ledger *ledger, unsigned int device);
uint64_t gkl_ledger_pending(const struct gkl_ledger *ledger,
			    unsigned int device, enum gkl_kind kind);

/*
 * Bytes that all processes hold, except those reserved for calls in progress.
 */
uint64_t gkl_ledger_settled(const struct gkl_ledger *ledger,
			    unsigned int device);

/* Buries dead owners; returns how many. */
int gkl_ledger_bury(const struct gkl_ledger *ledger);

/* The device table, written by the first process (preload/devices.c). */
struct gkl_device {
	char uuid[GKL_UUID];    /* "GPU-..."; "" : no such device */
	uint64_t total;         /* bytes of the physical GPU */
	uint64_t context_bytes; /* size of a context; 0: not known yet */
};
bool gkl_ledger_device(const struct gkl_ledger *ledger, unsigned int device,
		       struct gkl_device *ret_device);
void gkl_ledger_set_device(struct gkl_ledger *ledger, unsigned int device,
			   const struct gkl_device *set);

/* One process, for reports. */
struct gkl_process {
	int slot;
	int32_t pid;      /* pid in its own namespace */
	int32_t host_pid; /* 0: not known, as in containers */
	uint64_t pid_ns;
	bool ended; /* dead; others still hold its memory */
	uint64_t held[GKL_DEVICES];
	uint64_t kinds[GKL_DEVICES][GKL_KINDS];
	uint64_t peak[GKL_DEVICES];
	uint64_t refused[GKL_DEVICES];      /* reservations */
	uint64_t busy_ns[GKL_DEVICES];      /* device time */
	uint64_t throttled_ns[GKL_DEVICES]; /* time that its threads waited */
	uint64_t launches[GKL_DEVICES];
};

/* Calls `each` for each slot in use, in slot order. */
void gkl_ledger_each(const struct gkl_ledger *ledger,
		     void (*each)(const struct gkl_process *process, void *arg),
		     void *arg);

/* Counters of the calling process's slot (relaxed additions). */
enum gkl_count { GKL_BUSY_NS, GKL_THROTTLED_NS, GKL_LAUNCHES, GKL_COUNTS };
void gkl_ledger_count(struct gkl_ledger *ledger, unsigned int device,
		      enum gkl_count which, uint64_t add);

/* The group's use of a device, by living and dead processes. */
struct gkl_total {
	uint64_t used, peak, refused, busy_ns, throttled_ns, launches;
};
void gkl_ledger_total(const struct gkl_ledger *ledger, unsigned int device,
		      struct gkl_total *ret_total);

/*
 * Memory for the group's share of a device's time (share.h). It is zero at
 * first, and the ledger never changes it.
 */
enum { GKL_SHARE_BYTES = 16384 };
void *gkl_ledger_share(struct gkl_ledger *ledger, unsigned int device);

#endif
