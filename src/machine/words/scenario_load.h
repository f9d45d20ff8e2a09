/* scenario_load.h - a load of a scenario, as its launcher is told it. */
#ifndef GKF_SCENARIO_LOAD_H
#define GKF_SCENARIO_LOAD_H

#include "machine/file/wave_state.h"

#include <stdint.h>

#define GKF_LOAD_NAME_MAX 32

/* One process that the launcher starts. */
struct gkf_scenario_load {
	char name[GKF_LOAD_NAME_MAX];
	unsigned device, mig;
	uint64_t bytes;       /* that it has at first */
	struct gkf_wave wave; /* with its start, stop, seed and number */
	uint64_t most;        /* bytes that it ever has */
	unsigned line;
};

#endif
