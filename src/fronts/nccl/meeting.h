/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meeting.h - the layout of the file that the ranks of a communicator share.
 * The file is unlinked once all ranks have joined, so that killed processes
 * leave nothing behind. Other processes of this user may write any number into
 * it, so each number is read once and checked before use.
 *
 * Collectives proceed in steps: for step k, a rank writes the data at parity k
 * & 1, then sets its `step` to k. A rank that sees all others at step k knows
 * that no rank still reads the data of step k - 1.
 */
#ifndef GKF_NCCL_MEETING_H
#define GKF_NCCL_MEETING_H

#include "abi/libraries/nccl_abi.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define RANKS_MAX 256
/* Size of one window; a rank has two, one per parity. */
#define WINDOW_BYTES (256u << 10)
#define TROUBLE_MAX  400

enum member_state {
	MEMBER_NOBODY,
	MEMBER_COMING,
	MEMBER_THERE,
	MEMBER_LEFT,
	MEMBER_ABORTED,
};

/*
 * The location of a buffer: its address in the process that owns it, and the
 * memory handle by which other processes open it.
 */
struct place {
	uint64_t pointer;         /* address in the process that owns it */
	uint64_t offset;          /* offset in its allocation */
	unsigned char handle[64]; /* a CUipcMemHandle, if `shown` */
	uint32_t shown, unused;
};

/* A collective as one rank calls it. */
struct call {
	uint32_t function; /* enum function */
	uint32_t type, op, root;
	uint64_t number; /* number of the collective; the first is 1 */
	uint64_t count;
	uint64_t scalar; /* this rank's, for ncclRedOpCreatePreMulSum() */
	struct place in, out;
};

struct member {
	pthread_mutex_t life; /* a robust mutex; held while the rank lives */
	_Atomic uint32_t state;
	_Atomic uint32_t bell;   /* futex; incremented to wake the rank */
	_Atomic uint32_t sleeps; /* 1: the rank sleeps on the bell */
	_Atomic uint32_t failed; /* ncclResult_t; `trouble` has the text */
	_Atomic uint64_t step;
	_Atomic uint64_t doing;     /* number of its running collective, or 0 */
	_Atomic uint32_t agrees[2]; /* 1: can access all buffers */
	_Atomic uint64_t host_step; /* counts calls of ncclCommSplit() */
	uint64_t host_word[2];      /* color << 32 | key */
	uint64_t process;           /* random number of the rank's process */
	int32_t pid;
	uint32_t device; /* the device's number in the rank's process */
	unsigned char uuid[16];
	char bus[16];
	struct call call[2];
	char trouble[TROUBLE_MAX];
} __attribute__((aligned(64)));

/* How a message that is larger than the window reaches the receiver. */
enum way { WAY_UNKNOWN, WAY_DIRECT, WAY_WINDOW };

/* The messages from one rank to another; their numbers begin at 1. */
struct pair {
	_Atomic uint64_t posted;        /* last message posted by the sender */
	_Atomic uint64_t taken;         /* last message taken by the receiver */
	_Atomic uint64_t way;           /* message number << 2 | enum way */
	_Atomic uint64_t written, read; /* total bytes through the window */
	uint64_t bytes;                 /* size of the last message posted */
	struct place from;              /* the buffer of that message */
} __attribute__((aligned(64)));

struct meeting {
	char magic[16];
	uint64_t size; /* size of the file */
	uint32_t ranks;
	uint32_t pair_window;    /* bytes, a power of two */
	_Atomic uint32_t there;  /* number of ranks that have joined */
	_Atomic uint32_t broken; /* 1 + the first rank that failed; 0: none */
	/*
	 * The members are followed by the pairs, the members' windows and the
	 * pairs' windows.
	 */
	struct member member[];
};

/* One process's mapping of the shared file. */
struct seat {
	struct meeting *at;
	uint64_t size;
	uint32_t ranks, pair_window;
};

/*
 * A communicator's id: 128 random bits, the host, and the process that made the
 * id. If that process has ended, ranks stop waiting for others to join.
 */
struct id {
	char magic[16];
	uint64_t random[2];
	uint64_t host;
	uint64_t pid_namespace, pid, start; /* pid 0: process unknown */
};

/* Whether the process that made the id has ended. False if this process cannot
 * tell. */
bool meeting_is_orphan(const struct id *id);

bool meeting_new_id(ncclUniqueId *ret_id);

/* Derives the id of a communicator for some of the parent's ranks. */
void meeting_child_id(const struct id *parent, uint64_t salt,
		      struct id *ret_id);

/* Whether this is an id of this library. *ret_here: whether it was made on this
 * host. */
bool meeting_is_id(const struct id *id, bool *ret_here);

/*
 * Opens or creates the file for an id. ncclSystemError: that failed;
 * ncclInvalidUsage: the file was made for another number of ranks.
 */
ncclResult_t meeting_open(const struct id *id, unsigned ranks,
			  struct seat *ret_seat);
void meeting_close(struct seat *s);

/* Unlinks the file, when all ranks have joined or never will. */
void meeting_unname(const struct id *id);

struct member *meeting_member(const struct seat *s, unsigned rank);
struct pair *meeting_pair(const struct seat *s, unsigned from, unsigned to);
char *meeting_window(const struct seat *s, unsigned rank, unsigned parity);
char *meeting_pair_window(const struct seat *s, unsigned from, unsigned to);

/* Wake a rank, or all ranks, by its bell. */
void meeting_ring(const struct seat *s, unsigned rank);
void meeting_ring_all(const struct seat *s);

/* Whether a rank had joined and its process has ended. */
bool meeting_is_dead(struct member *m);

#endif
