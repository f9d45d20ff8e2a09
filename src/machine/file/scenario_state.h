/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_state.h - the scenario in a machine file. Its head is in struct
 * gkf_file; the steps and then their texts follow that struct. Only `next_ns`
 * and the members after it change, under the writers' lock. Any process may
 * have overwritten the steps, so each step is checked when it is read.
 */
#ifndef GKF_SCENARIO_STATE_H
#define GKF_SCENARIO_STATE_H

#include "machine/file/numbers.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define GKF_STEPS_MAX      262144
#define GKF_STEP_TEXTS_MAX 65536 /* bytes of all texts together */
#define GKF_STEP_TEXT_MAX  256   /* bytes of one text, with its NUL */

/* The device of a step that concerns the whole machine. */
#define GKF_STEP_NO_DEVICE UINT32_MAX

/*
 * The kinds of steps. The comments say what the members `number`, `argument`
 * and `text` of struct gkf_step mean; members not named are unused. For the
 * text of a rule, see read_rule_text() in trouble/scenario.c.
 */
enum gkf_step_kind {
	GKF_STEP_NOTE,  /* text: what happens now, for people */
	GKF_STEP_SET,   /* number: gkf_value; argument: value or GKF_UNSET */
	GKF_STEP_FAULT, /* number: gkf_fault; argument: the fault's argument */
	GKF_STEP_MEND,  /* argument: bits of faults */
	GKF_STEP_XID,   /* number: Xid */
	GKF_STEP_ECC,   /* number: kind << 16 | location; argument: count */
	GKF_STEP_RESET, /* resets the GPU as an operator would */
	GKF_STEP_MACHINE_FAULT, /* argument: 1 begins it, 0 ends it */
	GKF_STEP_RULE,          /* number: function; argument: answer; text */
	GKF_STEP_RULE_DROP,     /* number: function; UINT32_MAX: all; text */
	GKF_STEP_MIG_MODE,      /* argument: 1 on, 0 off */
	GKF_STEP_MIG_CREATE,    /* text: a layout, as gkf_mig_layout() takes */
	GKF_STEP_MIG_DESTROY,   /* number: MIG device; UINT32_MAX: all */
	GKF_STEP_PLACE,         /* number: load; argument: its MIG device */
	GKF_STEP_MEMORY,        /* number: load; argument: bytes it holds */
	GKF_STEP_KINDS
};

/* Steps are sorted by bin. Each takes effect from the beginning of its bin. */
struct gkf_step {
	uint64_t bin;
	uint32_t kind, device, number;
	uint32_t text; /* offset of its text in the texts */
	int64_t argument;
};

struct gkf_scenario_head {
	/* Number of steps (0: no scenario), and bytes of all texts. */
	uint32_t steps, texts;
	uint64_t begin_bin; /* bin of the scenario's time 0 */
	/* End of the scenario's duration; UINT64_MAX: none. */
	uint64_t end_bin;
	char name[GKF_SCENARIO_NAME_MAX];
	_Atomic uint64_t next_ns; /* time of the next step; UINT64_MAX: none */
	_Atomic uint64_t done;    /* steps applied */
	_Atomic uint64_t failed;  /* steps that failed when they were applied */
	_Atomic uint64_t note;    /* index of the last note + 1; 0: none */
};

/* The size of steps and texts, in bytes. */
static inline size_t gkf_scenario_size(uint64_t steps, uint64_t texts)
{
	return steps * sizeof(struct gkf_step) + texts;
}

#endif
