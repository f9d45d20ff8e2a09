/*
 * replay_process.h - processes in the place of those of a recording: they have
 * their commands and names, and are on the GPUs that they are told to be on.
 */
#ifndef GK_CLI_FAKE_REPLAY_PROCESS_H
#define GK_CLI_FAKE_REPLAY_PROCESS_H

#include <gpukit/gpukit.h>

#include <stdint.h>
#include <sys/types.h>

struct gk_process;

/* A variable of its environment: its descriptor, a colon and its name. */
#define FAKE_REPLAY_PROCESS "GPUKIT_STAND_IN"

#define FAKE_REPLAY_PROCESS_PLACES 64

/* The part that one of them plays on a GPU. */
struct fake_replay_process_place {
	uint32_t gpu, types;
	uint32_t mig; /* index of the MIG device + 1; 0: none */
	uint64_t bytes;
	uint32_t sm, mem, enc, dec; /* percent */
};

/* A message; places that it does not name are left. */
struct fake_replay_process_order {
	uint32_t count;
	struct fake_replay_process_place places[FAKE_REPLAY_PROCESS_PLACES];
};

struct fake_replay_process {
	pid_t recorded; /* of which process */
	uint64_t start;
	pid_t pid;
	int fd;
	unsigned seen; /* the last snapshot that had it */
	struct fake_replay_process_order order;
};

/*
 * Starts one for a process, on the machine of GPUKIT_MACHINE; it ends with the
 * caller. 0 or a gk_err.
 */
int fake_replay_process_start(const struct gk_process *process,
			      struct fake_replay_process *ret_process);

/* Tells it where to be, and waits until it is, for a second at most. */
void fake_replay_process_tell(struct fake_replay_process *process);
void fake_replay_process_end(struct fake_replay_process *process);

/* The process itself: runs until its descriptor ends. */
int fake_replay_process_main(void);

#endif
