/*
 * scenario_state.h - what a machine file knows of its scenario: a head, and
 * behind struct gkf_file the steps and then their texts. Only `next_ns` and
 * what follows it change, and only under the writers' lock. Any process may
 * have written anything there: a step is checked when it is read.
 */
#ifndef GKF_SCENARIO_STATE_H
#define GKF_SCENARIO_STATE_H

#include "machine/file/numbers.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define GKF_STEPS_MAX      262144
#define GKF_STEP_TEXTS_MAX 65536 /* bytes of all texts together */
#define GKF_STEP_TEXT_MAX  256   /* of one, with its NUL */

/* A step of the whole machine. */
#define GKF_STEP_NO_DEVICE UINT32_MAX

enum gkf_step_kind {
	GKF_STEP_NOTE,  /* text: what happens now, for people */
	GKF_STEP_SET,   /* number: gkf_value; argument: GKF_UNSET, too */
	GKF_STEP_FAULT, /* number: gkf_fault; its argument */
	GKF_STEP_MEND,  /* argument: bits of faults */
	GKF_STEP_XID,   /* number */
	GKF_STEP_ECC,   /* number: kind << 16 | place; argument: count */
	GKF_STEP_RESET, /* of the GPU, as an operator does it */
	GKF_STEP_MACHINE_FAULT, /* number; argument: 1 begins, 0 ends */
	GKF_STEP_RULE,          /* number: function; argument: answer; text */
	GKF_STEP_RULE_DROP,     /* number: function, UINT32_MAX all; text */
	GKF_STEP_MIG_MODE,      /* argument: 1 on, 0 off */
	GKF_STEP_MIG_CREATE,    /* text: a layout, as gkf_mig_layout() takes */
	GKF_STEP_MIG_DESTROY,   /* number: MIG device; UINT32_MAX: all */
	GKF_STEP_PLACE,  /* number: load; argument: MIG device it is in */
	GKF_STEP_MEMORY, /* number: load; argument: bytes it holds */
	GKF_STEP_KINDS
};

/* In order of bin. Takes effect from its bin on. */
struct gkf_step {
	uint64_t bin;
	uint32_t kind, device, number;
	uint32_t text; /* where its text begins in the texts */
	int64_t argument;
};

struct gkf_scenario_head {
	uint32_t steps, texts; /* how many, how many bytes; 0: no scenario */
	uint64_t begin_bin;    /* when the scenario's time is 0 */
	uint64_t end_bin;      /* its duration is over; UINT64_MAX: never */
	char name[GKF_SCENARIO_NAME_MAX];
	_Atomic uint64_t next_ns; /* next step is due; UINT64_MAX: none */
	_Atomic uint64_t done;    /* steps that were applied */
	_Atomic uint64_t failed;  /* of these, what the machine refused */
	_Atomic uint64_t note;    /* place of the last note, + 1; 0: none */
};

/* The bytes that steps and texts take behind struct gkf_file. */
static inline size_t gkf_scenario_size(uint64_t steps, uint64_t texts)
{
	return steps * sizeof(struct gkf_step) + texts;
}

#endif
