/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.h - lets one thread read the sum of the bytes that all threads of the
 * process have counted. At that moment no thread is between a driver's call and
 * counting the result of the call.
 *
 * Threads enter the gate at every allocation, and it is seldom closed. So an
 * entering thread writes only to a gate_place of its own, by plain stores, and
 * the closing thread makes the kernel execute barriers in all other threads
 * (membarrier). Without membarrier, and for threads beyond GATE_THREADS, there
 * is a common gate_place, changed by atomic additions.
 */
#ifndef GKL_PRELOAD_GATE_H
#define GKL_PRELOAD_GATE_H

#include "limit/limits.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { GATE_THREADS = 256 };

struct gate_place {
	_Atomic(void *) owner; /* names a thread; NULL in `common` */
	/* How often the thread has entered and not left. */
	_Atomic uint32_t inside;
	/* Bytes counted by the thread; a single count may be below zero. */
	_Atomic uint64_t counted[GKL_DEVICES];
} __attribute__((aligned(64)));

/* All zeros: open, nobody is inside, nothing is counted. */
struct gate {
	_Atomic uint32_t closed;
	_Atomic uint32_t barriers; /* enum in gate.c */
	struct gate_place common;
	/*
	 * The entries before the first one without an owner are in use; they
	 * are never freed.
	 */
	struct gate_place own[GATE_THREADS];
};

/*
 * Called in pairs by the same thread. gate_enter() waits while the gate is
 * closed.
 */
void gate_enter(struct gate *gate);
void gate_leave(struct gate *gate);

/* Counts bytes. Call it inside the gate, or from the thread that closed it. */
void gate_count(struct gate *gate, int device, int64_t bytes);

/*
 * Closes the gate; one thread at a time. False: the gate is open, because a
 * thread did not leave it (it may be waiting for a kernel), or because the
 * kernel refused the barriers.
 */
bool gate_close(struct gate *gate);
void gate_open(struct gate *gate);

/* The sum of a device's counted bytes. The gate must be closed. */
uint64_t gate_counted(const struct gate *gate, int device);

#endif
