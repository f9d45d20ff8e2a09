/*
 * work_state.h - what the machine file keeps of processes that really work:
 * the books of device memory, turns on the device, busy time, and what they
 * were refused. Every number may have been overwritten by anybody.
 */
#ifndef GKF_WORK_STATE_H
#define GKF_WORK_STATE_H

#include "machine/file/numbers.h"

#include <stdatomic.h>
#include <stdint.h>

/*
 * How much of a device is taken: what its slots hold, added up, so that
 * nobody has to look at all of them. The slots are the truth: when the holder
 * of their lock (locks.h) has died the sums are made anew. Slots that come and
 * go by the clock (loads of a scenario) are not in them, only counted.
 */
struct gkf_books {
	uint64_t changes; /* grows at each change of a slot's bytes */
	uint64_t held;    /* bytes */
	uint64_t held_gi[GKF_MIG_GIS];
	uint64_t by_clock; /* slots that have a stop_bin */
	uint64_t peak;     /* most bytes that were held at once */
} __attribute__((aligned(64)));

/* Turns of a device: of the whole of it, then of each of its MIG devices. */
#define GKF_TURNS (1 + GKF_MIG_MAX)

/*
 * `holder`: 0, or slot + 1 in bits 0-15, how many threads of that process
 * share the turn in bits 16-31, and the slot's life in bits 32-63.
 */
struct gkf_turn {
	_Atomic uint64_t holder;
	_Atomic uint64_t since_ns;  /* CLOCK_MONOTONIC: the turn began */
	_Atomic uint64_t passed_ns; /* machine time + 1: it was handed over */
	_Atomic uint32_t asked;     /* 1: somebody may be waiting */
} __attribute__((aligned(64)));

enum gkf_direction {
	GKF_IN,
	GKF_OUT,
	GKF_DEVICE,
	GKF_LINK_IN,
	GKF_LINK_OUT,
	GKF_DIRECTIONS,
};

/* Bins of a process's work that are kept: 2.7 s. */
#define GKF_BUSY_BINS 16

/*
 * The work of a slot's process in a bin. Each word holds the low bits of the
 * bin's number above and the amount below (see busy.c).
 */
struct gkf_busy_bin {
	_Atomic uint64_t busy; /* ns */
	_Atomic uint64_t moved[GKF_DIRECTIONS];
};

/*
 * The work of a slot; its process alone writes all but `wake` and `wants_ns`.
 */
struct gkf_busy {
	_Atomic uint64_t seq;      /* odd while busy time is being moved */
	_Atomic uint64_t since_ns; /* machine time + 1 of running work; or 0 */
	_Atomic uint64_t ended_ns; /* machine time + 1: the last work ended */
	_Atomic uint64_t wants_ns; /* CLOCK_MONOTONIC: waits for its turn; 0 */
	_Atomic uint32_t wake;     /* grows when the turn becomes its own */
	uint32_t unused;
	struct gkf_busy_bin bin[GKF_BUSY_BINS];
} __attribute__((aligned(64)));

/* Processes on devices of which totals are kept; see store/total.h. */
#define GKF_TOTALS_MAX 2048

struct gkf_total {
	_Atomic uint64_t device, pid, pid_ns, start, stack;
	_Atomic uint64_t name[2]; /* of the program: GKF_CALLER_MAX bytes */
	_Atomic uint64_t begin_ns, end_ns; /* end: machine time + 1, or 0 */
	_Atomic uint64_t peak;             /* bytes */
	_Atomic uint64_t busy_ns, launches, operations;
	_Atomic uint64_t moved[GKF_DIRECTIONS]; /* bytes */
} __attribute__((aligned(64)));

/* Refused things that are rows of no table have names: runtime functions... */
#define GKF_NAMES_MAX 512

struct gkf_name {
	_Atomic uint64_t key; /* of kind and name; 0: free */
	_Atomic uint64_t name[GKF_REFUSED_MAX / 8];
	_Atomic uint64_t kind; /* enum gkf_named + 1, once the name is there */
	_Atomic uint64_t count;
};

#endif
