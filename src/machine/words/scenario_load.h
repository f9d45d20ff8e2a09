/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_load.h - a load process of a scenario, for the launcher. */
#ifndef GKF_SCENARIO_LOAD_H
#define GKF_SCENARIO_LOAD_H

#include "machine/file/wave_state.h"

#include <stdint.h>

#define GKF_LOAD_NAME_MAX 32

/* One process that the launcher starts. */
struct gkf_scenario_load {
	char name[GKF_LOAD_NAME_MAX];
	unsigned device, mig;
	uint64_t bytes; /* memory at the start */
	/* Includes start, stop, seed and number of the load. */
	struct gkf_wave wave;
	uint64_t most; /* the most bytes that it ever holds */
	unsigned line;
};

#endif
