/*
 * account_state.h - what is kept about processes for accounting: of each slot
 * while its process lives, and of the last processes that ended.
 */
#ifndef GKF_ACCOUNT_STATE_H
#define GKF_ACCOUNT_STATE_H

#include <stdatomic.h>
#include <stdint.h>

/* Ended processes that the machine remembers; the oldest go first. */
#define GKF_ACCOUNTS_MAX 4096

/* Sums over the bins in which a process was accounted for; percent. */
struct gkf_sums {
	uint64_t bins, sm, mem;
};

/* The sums of a slot's process; sums[seq % 2] are those that hold. */
struct gkf_tally {
	_Atomic uint64_t peak; /* most bytes that it ever held */
	_Atomic uint64_t seq;
	struct gkf_sums sums[2];
};

/* A process that ended. Words only. */
struct gkf_account_entry {
	uint64_t number; /* 1 for the first; 0 while it is written */
	uint64_t device, pid;
	uint64_t start_ns, end_ns; /* machine time */
	uint64_t peak;
	struct gkf_sums sums;
};

struct gkf_accounts {
	_Atomic uint64_t count;                          /* records so far */
	struct gkf_account_entry ring[GKF_ACCOUNTS_MAX]; /* n at n % size */
};

/*
 * How far the accounts of a device were cleared: what ended before is
 * forgotten.
 */
struct gkf_accounting {
	_Atomic uint64_t cleared_number; /* records up to this one */
	_Atomic uint64_t cleared_ns;     /* windows of loads up to this time */
};

#endif
