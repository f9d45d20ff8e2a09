/*
 * load_process.h - what one load process does, and how it is told: by arguments
 * that people can read in a process list.
 */
#ifndef GK_CLI_FAKE_LOAD_PROCESS_H
#define GK_CLI_FAKE_LOAD_PROCESS_H

#include "cli/fake/target.h"
#include "machine/file/wave_state.h"
#include "machine/words/scenario_load.h"

struct fake_load_process {
	unsigned gpu, mig; /* mig: FAKE_NO_MIG for none */
	uint64_t mem;
	struct gkf_wave wave;         /* of a scenario's load, with its time */
	char name[GKF_LOAD_NAME_MAX]; /* in its scenario; else "" */
};

#define FAKE_LOAD_PROCESS_ARGS 20
#define FAKE_LOAD_PROCESS_ARG  64

/*
 * The arguments that make a process do it, "gpukit-load train gpu=0 ...";
 * returns how many they are.
 */
int fake_load_process_format(
    const struct fake_load_process *job,
    char text[FAKE_LOAD_PROCESS_ARGS][FAKE_LOAD_PROCESS_ARG]);

/* Names the descriptor through which a process tells that it has attached. */
#define FAKE_READY_FD "GPUKIT_LOAD_READY"

#endif
