/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_state.h - faults in the machine file: the faults of a device, the rules
 * for single functions, and the refused calls. Any process may have
 * overwritten any number, so readers check its range.
 */
#ifndef GKF_FAULT_STATE_H
#define GKF_FAULT_STATE_H

#include "machine/file/numbers.h"

#include <stdatomic.h>
#include <stdint.h>

/* The faults of a device. An argument is written before its bit is set. */
struct gkf_fault_state {
	_Atomic uint64_t active; /* a bit for each active fault */
	_Atomic uint64_t argument[GKF_FAULTS_MAX];
	/* Machine time at which each fault began. */
	_Atomic uint64_t since_ns[GKF_FAULTS_MAX];
	_Atomic uint64_t xids; /* Xids since the machine was made */
	_Atomic uint64_t last_xid;
	/* How often each fault has begun. */
	_Atomic uint64_t begun[GKF_FAULTS_MAX];
	/*
	 * For each fault: the number of CUDA calls to which it has applied
	 * since it began, and the total number of CUDA calls that it has made
	 * fail.
	 */
	_Atomic uint64_t seen[GKF_FAULTS_MAX], hits[GKF_FAULTS_MAX];
	/*
	 * Bits 16 to 63 count how often all contexts of the device were made to
	 * fail; bits 0 to 15 are the CUresult with which they fail.
	 */
	_Atomic uint64_t strike;
};

#define GKF_RULES_MAX 64

/*
 * A rule that makes a function fail. `life` is odd while the rule is in force
 * and grows by one at each change, so that a reader can tell whether the rule
 * changed while being read.
 */
struct gkf_rule {
	_Atomic uint64_t life;
	/*
	 * A bit for each GPU; if all bits are set, calls that name no GPU fail,
	 * too.
	 */
	uint64_t gpus;
	uint32_t function; /* row of nvml.def */
	int32_t answer;    /* nvmlReturn_t, or GKF_RULE_HANGS */
	uint64_t after;    /* number of calls that succeed first */
	/* The most calls that fail after them; 0: no limit. */
	uint64_t times;
	uint32_t per_million; /* how many of a million later calls fail */
	uint32_t unused;
	uint64_t seed;
	/* Calls so far, and failures among them. */
	_Atomic uint64_t calls, failed;
};

#define GKF_RULE_HANGS (-1)

struct gkf_rules {
	_Atomic uint64_t count; /* 0: there are no rules */
	struct gkf_rule rule[GKF_RULES_MAX];
};

#define GKF_REFUSALS_MAX 2048
#define GKF_CALLER_MAX   16 /* bytes of a program's name, with its NUL */

/* How often a program called a function that is not implemented. */
struct gkf_refusal {
	_Atomic uint64_t key; /* hash of caller and function; 0: free */
	_Atomic uint64_t caller[GKF_CALLER_MAX / 8];
	/* The member `function` of struct gkf_refused, plus 1; 0: not yet
	 * stored. */
	_Atomic uint64_t function;
	_Atomic uint64_t count;
	/* Sequence number of the entry; the first is 1. */
	_Atomic uint64_t order;
};

struct gkf_refusals {
	_Atomic uint64_t orders; /* sequence numbers assigned so far */
	/* Refusals not counted because the table was full. */
	_Atomic uint64_t lost;
	struct gkf_refusal entry[GKF_REFUSALS_MAX];
};

#endif
