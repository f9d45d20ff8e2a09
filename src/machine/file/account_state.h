/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_state.h - accounting data: a tally for each slot while its process
 * lives, and a ring of the last processes that ended.
 */
#ifndef GKF_ACCOUNT_STATE_H
#define GKF_ACCOUNT_STATE_H

#include <stdatomic.h>
#include <stdint.h>

/* How many ended processes the machine remembers; the oldest are dropped. */
#define GKF_ACCOUNTS_MAX 4096

/*
 * A process's utilization in percent, summed over the bins that were accounted.
 */
struct gkf_sums {
	uint64_t bins, sm, mem;
};

/* The accounting of a slot's process; sums[seq % 2] is the valid copy. */
struct gkf_tally {
	_Atomic uint64_t peak; /* the most bytes that the process ever held */
	_Atomic uint64_t seq;
	struct gkf_sums sums[2];
};

/* A process that ended. All members are words. */
struct gkf_account_entry {
	uint64_t number; /* counted from 1; 0 while being written */
	uint64_t device, pid;
	uint64_t pid_ns; /* the pid namespace to which `pid` belongs */
	uint64_t start_ns, end_ns; /* in machine time */
	uint64_t peak;
	struct gkf_sums sums;
};

struct gkf_accounts {
	_Atomic uint64_t count; /* number of entries so far */
	/* Entry n has the index n % size. */
	struct gkf_account_entry ring[GKF_ACCOUNTS_MAX];
};

/* How far the accounts of a device have been cleared. */
struct gkf_accounting {
	/* Ring entries up to this number are cleared. */
	_Atomic uint64_t cleared_number;
	/* Loads that ended at or before this machine time are cleared. */
	_Atomic uint64_t cleared_ns;
};

#endif
