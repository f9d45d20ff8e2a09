/*
 * ledger.h - which process of a group holds how many bytes of which device.
 * A file that all processes of the group map; nobody locks it.
 *
 * Reserve, then allocate, refund on failure. A device has a total, a process
 * its slot; both are words of two machine words, changed by compare-and-swap
 * so that whoever comes next can finish the operation of one who was killed
 * between the two. So the total is at no moment above the limit, nobody waits
 * for a stopped process, and SIGKILL at any instruction loses no byte.
 *
 * Owners are (pid, pid namespace, start time, stack), with a lock that the
 * kernel takes from the dead (life.h); whoever is refused, or looks, buries the
 * dead first.
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
 * Makes or opens the file (an absolute path) and maps it. A gk_err. Closing it
 * gives back all that the calling process holds.
 */
int gkl_ledger_open(const char *path, enum gkl_trust trust,
		    struct gkl_ledger **ret_ledger);
void gkl_ledger_close(struct gkl_ledger *ledger);

/*
 * The slot of the calling process, claimed at the first call, anew in a forked
 * child. Negative (GK_ERR_...) when all are taken or /proc does not tell who
 * this process is: then nothing may be allocated.
 */
int gkl_ledger_slot(struct gkl_ledger *ledger);

/*
 * Takes bytes of a device within `limit` (0: none), for the calling process.
 * False: there is no room, even after the dead were buried. Any thread; O(1),
 * no system call where there is room.
 */
bool gkl_ledger_reserve(struct gkl_ledger *ledger, unsigned int device,
			enum gkl_kind kind, uint64_t bytes, uint64_t limit);

/* Gives back what the calling process reserved. */
void gkl_ledger_refund(struct gkl_ledger *ledger, unsigned int device,
		       enum gkl_kind kind, uint64_t bytes);

/* Takes bytes that are there already, limit or not: what the driver took. */
void gkl_ledger_charge(struct gkl_ledger *ledger, unsigned int device,
		       enum gkl_kind kind, uint64_t bytes);

/* Calls bytes that the calling process holds by another kind. */
void gkl_ledger_move(struct gkl_ledger *ledger, unsigned int device,
		     enum gkl_kind from, enum gkl_kind to, uint64_t bytes);

/* Counts a refusal, when all attempts have failed. */
void gkl_ledger_refused(struct gkl_ledger *ledger, unsigned int device);

/*
 * Bytes that all processes of the group hold (the dead of more than 50 ms ago
 * are buried first); own: that the calling process holds; pending: what all
 * hold as GKL_PENDING.
 */
uint64_t gkl_ledger_used(const struct gkl_ledger *ledger, unsigned int device);
uint64_t gkl_ledger_own(struct gkl_ledger *ledger, unsigned int device);
uint64_t gkl_ledger_pending(const struct gkl_ledger *ledger,
			    unsigned int device);

/* Bytes that all hold by now, without what is reserved for calls under way. */
uint64_t gkl_ledger_settled(const struct gkl_ledger *ledger,
			    unsigned int device);

/* Buries dead owners; returns how many. */
int gkl_ledger_bury(const struct gkl_ledger *ledger);

/* The device table: who comes first writes it (devices.c). */
struct gkl_device {
	char uuid[GKL_UUID];    /* "GPU-..."; "" : no such device */
	uint64_t total;         /* bytes of the physical GPU */
	uint64_t context_bytes; /* what a context takes; 0: not known yet */
};
bool gkl_ledger_device(const struct gkl_ledger *ledger, unsigned int device,
		       struct gkl_device *ret_device);
void gkl_ledger_set_device(struct gkl_ledger *ledger, unsigned int device,
			   const struct gkl_device *set);

/* One process, for reports. */
struct gkl_process {
	int slot;
	int32_t pid;      /* in its own namespace */
	int32_t host_pid; /* 0: not known, as in containers */
	uint64_t pid_ns;
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

/* What living and dead processes of the group have and had of a device. */
struct gkl_total {
	uint64_t used, peak, refused, busy_ns, throttled_ns, launches;
};
void gkl_ledger_total(const struct gkl_ledger *ledger, unsigned int device,
		      struct gkl_total *ret_total);

/*
 * Room of a device for its share of time (share.h), shared by the group: zero
 * at first, never touched by the ledger itself.
 */
enum { GKL_SHARE_BYTES = 16384 };
void *gkl_ledger_share(struct gkl_ledger *ledger, unsigned int device);

#endif
