/* slot.h - a process on a device. */
#ifndef GKF_FILE_SLOT_H
#define GKF_FILE_SLOT_H

#include "machine/file/wave_state.h"

#include <stdatomic.h>
#include <stdint.h>

/*
 * A process on a device. `life` is odd while the slot is in use and grows by
 * one at each change of hands, so that a reader notices a slot that was freed
 * or reused under its eyes.
 */
struct gkf_slot {
	_Atomic uint64_t life;
	_Atomic uint64_t bytes;   /* its own device memory, with contexts */
	_Atomic uint64_t managed; /* beside it, managed memory that came */
	uint32_t device;
	uint32_t types;    /* bits of gkf_process_type */
	int32_t pid;       /* in its own pid namespace */
	uint32_t instance; /* GKF_INSTANCE(gi, ci), or GKF_NO_INSTANCE */
	uint64_t pid_ns;   /* inode of /proc/self/ns/pid */
	uint64_t start;    /* start time of the process, clock ticks */
	uint64_t stack;    /* where its stack begins: another one after exec */
	struct gkf_wave wave;
};

#endif
