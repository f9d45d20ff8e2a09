/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_process.h - what one load process does, passed to it as arguments that
 * people can read in a process list.
 */
#ifndef GK_CLI_FAKE_LOAD_PROCESS_H
#define GK_CLI_FAKE_LOAD_PROCESS_H

#include "cli/fake/launch/target.h"
#include "machine/file/wave_state.h"
#include "machine/words/scenario_load.h"

struct fake_load_process {
	unsigned gpu, mig; /* mig: index, or FAKE_NO_MIG */
	uint64_t mem;
	/* The wave has a start and a stop only if the load is a scenario's. */
	struct gkf_wave wave;
	/* The load's name in the scenario, or "". */
	char name[GKF_LOAD_NAME_MAX];
};

#define FAKE_LOAD_PROCESS_ARGS 20
#define FAKE_LOAD_PROCESS_ARG  64

/*
 * Writes the arguments for a load process: "gpukit-load train gpu=0 ...".
 * Returns their number.
 */
int fake_load_process_format(
    const struct fake_load_process *process,
    char text[FAKE_LOAD_PROCESS_ARGS][FAKE_LOAD_PROCESS_ARG]);

/*
 * The environment variable that holds the number of a descriptor. A load
 * process writes a byte to the descriptor when it has attached.
 */
#define FAKE_READY_FD "GPUKIT_LOAD_READY"

#endif
