/*
 * system_state.h - what the machine file holds of the machine as a whole and
 * of the texts that a device was given.
 */
#ifndef GKF_SYSTEM_STATE_H
#define GKF_SYSTEM_STATE_H

#include "machine/file/numbers.h"

#include <stdatomic.h>
#include <stdint.h>

enum gkf_conf_compute {
	GKF_CONF_OFF,
	GKF_CONF_ON,
	GKF_CONF_DEVTOOLS, /* on, with its secrets open to debuggers */
};

struct gkf_system {
	_Atomic uint64_t conf_compute;   /* enum gkf_conf_compute */
	_Atomic uint64_t conf_ready;     /* 1: GPUs take work meanwhile */
	_Atomic uint64_t conf_advantage; /* log2, of keys; 0: the default */
};

/* A text that changes: word[seq % 2] holds. */
struct gkf_text {
	_Atomic uint64_t seq;
	_Atomic uint64_t word[2][GKF_TEXT_MAX / 8];
};

#endif
