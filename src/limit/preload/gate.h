/*
 * gate.h - lets one thread look at what all threads of the process count, at a
 * moment when none is between the driver's call and its counting.
 *
 * Threads pass in and out at every allocation, and the gate is closed seldom:
 * so a thread that passes writes only to a place of its own, by plain stores,
 * and the one that closes asks the kernel for the barriers of all others
 * (membarrier). Where the kernel has none, and for threads beyond GATE_THREADS,
 * there is a place for all, changed by atomic additions.
 */
#ifndef GKL_PRELOAD_GATE_H
#define GKL_PRELOAD_GATE_H

#include "limit/limits.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { GATE_THREADS = 256 };

struct gate_place {
	_Atomic(void *) owner;   /* of one thread; the common one has none */
	_Atomic uint32_t inside; /* how often it went in and not out */
	/* What was counted here; one place's alone may be below zero. */
	_Atomic uint64_t counted[GKL_DEVICES];
} __attribute__((aligned(64)));

/* Zeros: open, nobody is inside, nothing is counted. */
struct gate {
	_Atomic uint32_t closed;
	_Atomic uint32_t barriers; /* enum in gate.c */
	struct gate_place common;
	/* In use up to the first without an owner; never given back. */
	struct gate_place own[GATE_THREADS];
};

/* In and out: the same thread. Waits while the gate is closed. */
void gate_enter(struct gate *gate);
void gate_leave(struct gate *gate);

/* Inside, or by who has closed the gate. */
void gate_count(struct gate *gate, int device, int64_t bytes);

/*
 * One thread at a time. False: the gate is open, as somebody does not leave (it
 * may wait for a kernel), or the kernel refuses the barriers.
 */
bool gate_close(struct gate *gate);
void gate_open(struct gate *gate);

/* The sum, while the gate is closed. */
uint64_t gate_counted(const struct gate *gate, int device);

#endif
