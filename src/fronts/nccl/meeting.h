/*
 * meeting.h - the file that the ranks of a communicator share, byte for byte.
 * It has a name only until all ranks have come, so a kill leaves nothing
 * behind. Every number in it may have been written by another process of this
 * user: it is read once and checked before it is used.
 *
 * What a rank says of its collectives goes by steps: at step k it writes what
 * lies at parity k & 1, then adds one to `step`. A rank that sees all others
 * at step k knows that nobody looks at what was said at step k - 1 any more.
 */
#ifndef GKF_NCCL_MEETING_H
#define GKF_NCCL_MEETING_H

#include "abi/nccl_abi.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define RANKS_MAX    256
#define WINDOW_BYTES (256u << 10) /* of a rank, for each parity */
#define TROUBLE_MAX  400

enum member_state {
	MEMBER_NOBODY,
	MEMBER_COMING,
	MEMBER_THERE,
	MEMBER_LEFT,
	MEMBER_ABORTED,
};

/* Where a buffer is: in the process of who says so, and for the others. */
struct place {
	uint64_t pointer;         /* in its process */
	uint64_t offset;          /* from the beginning of its allocation */
	unsigned char handle[64]; /* CUipcMemHandle, if `shown` */
	uint32_t shown, unused;
};

/* A collective as a rank calls it. */
struct call {
	uint32_t function; /* enum function */
	uint32_t type, op, root;
	uint64_t number; /* of the communicator's collectives, from 1 */
	uint64_t count;
	uint64_t scalar; /* this rank's, of ncclRedOpCreatePreMulSum() */
	struct place in, out;
};

struct member {
	pthread_mutex_t life; /* robust: held as long as the rank lives */
	_Atomic uint32_t state;
	_Atomic uint32_t bell; /* changes when somebody did something */
	_Atomic uint32_t sleeps;
	_Atomic uint32_t failed; /* ncclResult_t: `trouble` says why */
	_Atomic uint64_t step;
	_Atomic uint64_t doing; /* number of the collective it is in; 0 */
	_Atomic uint32_t agrees[2];
	_Atomic uint64_t host_step; /* of ncclCommSplit() */
	uint64_t host_word[2];
	uint64_t process; /* a number of its own */
	int32_t pid;
	uint32_t device; /* as its process numbers them */
	unsigned char uuid[16];
	char bus[16];
	struct call call[2];
	char trouble[TROUBLE_MAX];
} __attribute__((aligned(64)));

/* How the receiver takes a message that is larger than the window. */
enum way { WAY_UNKNOWN, WAY_DIRECT, WAY_WINDOW };

/* The messages from one rank to another; all numbers count from 1. */
struct pair {
	_Atomic uint64_t posted; /* messages that the sender has told */
	_Atomic uint64_t taken;  /* those that the receiver is done with */
	_Atomic uint64_t way;    /* number of a message << 2 | enum way */
	_Atomic uint64_t written, read; /* bytes through the window, ever */
	uint64_t bytes;                 /* of the message posted last */
	struct place from;
} __attribute__((aligned(64)));

struct meeting {
	char magic[16];
	uint64_t size; /* of the file */
	uint32_t ranks;
	uint32_t pair_window;    /* bytes, a power of two */
	_Atomic uint32_t there;  /* ranks that came */
	_Atomic uint32_t broken; /* rank + 1 of the first that failed */
	struct member member[];  /* then pairs, windows, windows of pairs */
};

/* A meeting as a process has it. */
struct seat {
	struct meeting *at;
	uint64_t size;
	uint32_t ranks, pair_window;
};

/*
 * 128 random bits, the host that they were made on, and by whom: who comes by
 * an id of a process that has ended waits for nobody.
 */
struct id {
	char magic[16];
	uint64_t random[2];
	uint64_t host;
	uint64_t pid_namespace, pid, start; /* 0: nobody to be asked about */
};

/* Has the process that made an id ended, as far as this one can see? */
bool meeting_is_orphan(const struct id *id);

bool meeting_new_id(ncclUniqueId *ret_id);

/* One of the same meeting, for some of its ranks. */
void meeting_child_id(const struct id *parent, uint64_t salt,
		      struct id *ret_id);

/* Is it an id of ours? `here`: of this host. */
bool meeting_is_id(const struct id *id, bool *ret_here);

/*
 * Opens the meeting of an id, or makes it if nobody did. ncclSystemError: it
 * cannot be made; ncclInvalidUsage: it is one of another number of ranks.
 */
ncclResult_t meeting_open(const struct id *id, unsigned ranks,
			  struct seat *ret_seat);
void meeting_close(struct seat *s);

/* Takes the name away: all came, or this one never will be complete. */
void meeting_unname(const struct id *id);

struct member *meeting_member(const struct seat *s, unsigned rank);
struct pair *meeting_pair(const struct seat *s, unsigned from, unsigned to);
char *meeting_window(const struct seat *s, unsigned rank, unsigned parity);
char *meeting_pair_window(const struct seat *s, unsigned from, unsigned to);

/* Wakes a rank, or all, because something changed. */
void meeting_ring(const struct seat *s, unsigned rank);
void meeting_ring_all(const struct seat *s);

/* Has the process of a rank that was there ended? */
bool meeting_is_dead(struct member *m);

#endif
