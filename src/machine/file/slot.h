/* SPDX-License-Identifier: Apache-2.0 */
/* slot.h - the slot of a process on a device, in the machine file. */
#ifndef GKF_FILE_SLOT_H
#define GKF_FILE_SLOT_H

#include "machine/file/wave_state.h"

#include <stdatomic.h>
#include <stdint.h>

/*
 * A process on a device. `life` is odd while the slot is in use, and grows by
 * one each time the slot is taken or freed, so that a reader can detect both. A
 * slot in use that has no type no longer belongs to a process: it keeps memory
 * that others still share.
 */
struct gkf_slot {
	_Atomic uint64_t life;
	_Atomic uint64_t bytes; /* device memory, including contexts */
	/* Resident managed memory; `bytes` excludes it. */
	_Atomic uint64_t managed;
	uint32_t device;
	uint32_t types;    /* bits of gkf_process_type */
	int32_t pid;       /* pid in its own pid namespace */
	uint32_t instance; /* GKF_INSTANCE(gi, ci), or GKF_NO_INSTANCE */
	uint64_t pid_ns;   /* inode of /proc/self/ns/pid */
	uint64_t start;    /* start time of the process, clock ticks */
	uint64_t stack;    /* address of its stack; differs after exec */
	struct gkf_wave wave;
};

/*
 * The memory of a slot that others may share (machine/store/process/lent.h).
 * Not in the slot, because every list of processes copies the slots.
 */
struct gkf_lent {
	_Atomic uint64_t device, inode; /* inode 0: none */
	_Atomic uint64_t pooled;
};

#endif
