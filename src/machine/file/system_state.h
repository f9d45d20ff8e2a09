/* SPDX-License-Identifier: Apache-2.0 */
/*
 * system_state.h - settings of the whole machine in the machine file, and the
 * type of texts that can be set.
 */
#ifndef GKF_SYSTEM_STATE_H
#define GKF_SYSTEM_STATE_H

#include "machine/file/numbers.h"

#include <stdatomic.h>
#include <stdint.h>

enum gkf_conf_compute {
	GKF_CONF_OFF,
	GKF_CONF_ON,
	GKF_CONF_DEVTOOLS, /* on, but debuggers have access */
};

struct gkf_system {
	_Atomic uint64_t conf_compute; /* enum gkf_conf_compute */
	_Atomic uint64_t conf_ready;   /* 1: GPUs accept confidential work */
	/* Key rotation: log2 of the attacker's advantage; 0: the default. */
	_Atomic uint64_t conf_advantage;
};

/* A text that can be set: word[seq % 2] is valid. */
struct gkf_text {
	_Atomic uint64_t seq;
	_Atomic uint64_t word[2][GKF_TEXT_MAX / 8];
};

#endif
