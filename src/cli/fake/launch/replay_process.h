/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_process.h - processes that stand for those of a recording: they have
 * the same command lines and names, and attach to the GPUs that the player
 * tells them.
 */
#ifndef GK_CLI_FAKE_REPLAY_PROCESS_H
#define GK_CLI_FAKE_REPLAY_PROCESS_H

#include <gpukit/gpukit.h>

#include <stdint.h>
#include <sys/types.h>

struct gk_process;

/*
 * The environment variable that gives a process that stands for a recorded one
 * its descriptor and its name, separated by a colon.
 */
#define FAKE_REPLAY_PROCESS "GPUKIT_STAND_IN"

#define FAKE_REPLAY_PROCESS_TARGETS 64

/* A process's use of one target, a GPU or MIG device. */
struct fake_replay_process_target {
	uint32_t gpu, types;
	uint32_t mig; /* index of the MIG device + 1; 0: none */
	uint64_t bytes;
	uint32_t sm, mem, enc, dec; /* percent */
};

/*
 * A message that tells a process that stands for a recorded one what to do. The
 * process leaves all targets that the message does not list.
 */
struct fake_replay_process_order {
	uint32_t count;
	struct fake_replay_process_target targets[FAKE_REPLAY_PROCESS_TARGETS];
};

struct fake_replay_process {
	pid_t recorded; /* pid of the process in the recording */
	uint64_t start;
	pid_t pid;
	int fd;
	unsigned seen; /* number of the last snapshot that contains the
			* process */
	struct fake_replay_process_order order;
};

/*
 * Starts a process that stands for a recorded one, on the machine named by
 * GPUKIT_MACHINE. It ends with the caller. Returns 0 or a gk_err.
 */
int fake_replay_process_start(const struct gk_process *process,
			      struct fake_replay_process *ret_process);

/* Sends process->order, and waits at most a second until it is carried out. */
void fake_replay_process_tell(struct fake_replay_process *process);
void fake_replay_process_end(struct fake_replay_process *process);

/* The process's main function. Returns when its descriptor is closed. */
int fake_replay_process_main(void);

#endif
