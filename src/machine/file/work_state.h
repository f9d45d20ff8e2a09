/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work_state.h - the machine file's data of processes that do real work: books
 * of device memory, turns on the device, busy time and totals; and the names of
 * refused functions and features. Any process may have overwritten any number.
 */
#ifndef GKF_WORK_STATE_H
#define GKF_WORK_STATE_H

#include "machine/file/numbers.h"

#include <stdatomic.h>
#include <stdint.h>

/*
 * How much of a device's memory is in use: the sums over its slots, so that
 * readers need not scan the slots. The slots are authoritative: when a holder
 * of their lock (locks.h) has died, the sums are computed again. Slots that
 * appear and disappear at set times (loads of a scenario) are counted in
 * by_clock, but not in the sums.
 */
struct gkf_books {
	uint64_t changes; /* grows at each change of a slot's bytes */
	uint64_t held;    /* bytes in use */
	uint64_t held_gi[GKF_MIG_GIS];
	uint64_t by_clock; /* number of slots whose wave has a stop_bin */
	uint64_t peak;     /* the most bytes ever in use */
} __attribute__((aligned(64)));

/* Turns of a device: first the whole device, then each of its MIG devices. */
#define GKF_TURNS (1 + GKF_MIG_MAX)

/*
 * `holder` is 0 if nobody has the turn. Otherwise bits 0-15 are slot + 1, bits
 * 16-31 say how many threads of that process share the turn, and bits 32-63 are
 * the slot's life.
 */
struct gkf_turn {
	_Atomic uint64_t holder;
	_Atomic uint64_t since_ns;  /* CLOCK_MONOTONIC when the turn began */
	_Atomic uint64_t passed_ns; /* machine time + 1 of the last handover */
	_Atomic uint32_t asked;     /* 1: a process may be waiting */
} __attribute__((aligned(64)));

enum gkf_direction {
	GKF_IN,
	GKF_OUT,
	GKF_DEVICE,
	GKF_LINK_IN,
	GKF_LINK_OUT,
	GKF_DIRECTIONS,
};

/* How many bins of a process's work are kept: 2.7 s. */
#define GKF_BUSY_BINS 16

/*
 * The work of a slot's process in a bin. The upper bits of each word are the
 * low bits of the bin's number, and its lower bits are the amount (see busy.c).
 */
struct gkf_busy_bin {
	_Atomic uint64_t busy; /* ns */
	_Atomic uint64_t moved[GKF_DIRECTIONS];
};

/*
 * The work of a slot. Only its process writes it, except `wake` and `wants_ns`.
 */
struct gkf_busy {
	_Atomic uint64_t seq; /* odd while busy time is being added to bins */
	/* Machine time + 1 when the running work began; 0: no work runs. */
	_Atomic uint64_t since_ns;
	/* Machine time + 1 at the end of the last work. */
	_Atomic uint64_t ended_ns;
	/*
	 * CLOCK_MONOTONIC when the process began to wait for its turn; 0: it
	 * does not wait.
	 */
	_Atomic uint64_t wants_ns;
	/* A futex; incremented when the process gets the turn. */
	_Atomic uint32_t wake;
	uint32_t unused;
	struct gkf_busy_bin bin[GKF_BUSY_BINS];
} __attribute__((aligned(64)));

/* Each process on a device has an entry; see store/process/total.h. */
#define GKF_TOTALS_MAX 2048

struct gkf_total {
	_Atomic uint64_t device, pid, pid_ns, start, stack;
	/* Name of the program: GKF_CALLER_MAX bytes. */
	_Atomic uint64_t name[2];
	/* Machine times; end_ns is 1 more, and 0 until the end. */
	_Atomic uint64_t begin_ns, end_ns;
	_Atomic uint64_t peak; /* bytes */
	_Atomic uint64_t busy_ns, launches, operations;
	_Atomic uint64_t moved[GKF_DIRECTIONS]; /* bytes */
} __attribute__((aligned(64)));

/*
 * Refused functions and features that are counted by name, because they have no
 * row in a table.
 */
#define GKF_NAMES_MAX 512

struct gkf_name {
	_Atomic uint64_t key; /* hash of kind and name; 0: free */
	_Atomic uint64_t name[GKF_REFUSED_MAX / 8];
	_Atomic uint64_t kind; /* enum gkf_named + 1; written after the name */
	_Atomic uint64_t count;
};

#endif
