/*
 * fault_state.h - what the machine file knows of faults: those of a device,
 * those of the whole machine, rules for single functions, and who was refused.
 * Every number may have been overwritten by anybody: readers bound it.
 */
#ifndef GKF_FAULT_STATE_H
#define GKF_FAULT_STATE_H

#include "machine/file/numbers.h"

#include <stdatomic.h>
#include <stdint.h>

/* The faults of a device. An argument is written before its bit is. */
struct gkf_fault_state {
	_Atomic uint64_t active; /* a bit a fault */
	_Atomic uint64_t argument[GKF_FAULTS_MAX];
	_Atomic uint64_t since_ns[GKF_FAULTS_MAX]; /* machine time */
	_Atomic uint64_t xids; /* Xids since the machine was made */
	_Atomic uint64_t last_xid;
	_Atomic uint64_t begun[GKF_FAULTS_MAX]; /* how often, ever */
	/* Calls of CUDA that it looked at since it began; that failed, ever. */
	_Atomic uint64_t seen[GKF_FAULTS_MAX], hits[GKF_FAULTS_MAX];
	/*
	 * Grows, in bits 16 to 63, when all contexts of the device fail: with
	 * the CUresult in the bits below.
	 */
	_Atomic uint64_t strike;
};

#define GKF_RULES_MAX 64

/*
 * A function fails. `life` is odd while the rule holds and grows by one at
 * each change, so that a reader notices one that changes under its eyes.
 */
struct gkf_rule {
	_Atomic uint64_t life;
	uint64_t gpus;        /* a bit a device; all ones: calls of none, too */
	uint32_t function;    /* row of nvml.def */
	int32_t answer;       /* nvmlReturn_t, or GKF_RULE_HANGS */
	uint64_t after;       /* calls that still work */
	uint64_t times;       /* calls that fail at most; 0: all */
	uint32_t per_million; /* of the calls that could fail */
	uint32_t unused;
	uint64_t seed;
	_Atomic uint64_t calls, failed; /* so far */
};

#define GKF_RULE_HANGS (-1)

struct gkf_rules {
	_Atomic uint64_t count; /* 0: nobody needs to look */
	struct gkf_rule rule[GKF_RULES_MAX];
};

#define GKF_REFUSALS_MAX 2048
#define GKF_CALLER_MAX   16 /* of the name of a program; NUL-ended */

/* One program asked for one function that is not there. */
struct gkf_refusal {
	_Atomic uint64_t key; /* of both; 0: free */
	_Atomic uint64_t caller[GKF_CALLER_MAX / 8];
	_Atomic uint64_t function; /* row of nvml.def, + 1; or see count.h */
	_Atomic uint64_t count;
	_Atomic uint64_t order; /* of entries, from 1 */
};

struct gkf_refusals {
	_Atomic uint64_t orders; /* that were given so far */
	_Atomic uint64_t lost;   /* refusals that found no room */
	struct gkf_refusal entry[GKF_REFUSALS_MAX];
};

#endif
