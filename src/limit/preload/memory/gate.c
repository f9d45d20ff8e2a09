/* SPDX-License-Identifier: Apache-2.0 */
/* gate.c - lets threads enter and leave a gate, and closes it. */
#include "limit/preload/memory/gate.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/futex.h"

#include <sys/syscall.h>
#include <unistd.h>

#define PATIENCE_NS (2 * GK_NS_PER_MS)

/* The values are those of linux/membarrier.h, which old systems lack. */
enum { BARRIER_OF_ALL = 1 << 3, REGISTER_FOR_IT = 1 << 4 };

enum { BARRIERS_UNKNOWN, BARRIERS_WORK, BARRIERS_FAIL };

/*
 * This thread's gate_place. Valid only if its `owner` names this thread: after
 * fork() the child's copy still points to the gate_place of the parent's
 * thread.
 */
static _Thread_local struct gate_place *mine
    __attribute__((tls_model("initial-exec")));

static bool ask_kernel(int command)
{
#ifdef SYS_membarrier
	return !syscall(SYS_membarrier, command, 0, 0);
#else
	(void)command;
	return false;
#endif
}

/*
 * Whether the kernel offers the barriers. The first thread to ask decides for
 * all.
 */
static bool has_barriers(struct gate *gate)
{
	uint32_t found = BARRIERS_UNKNOWN;

	if (atomic_load(&gate->barriers) == BARRIERS_UNKNOWN)
		atomic_compare_exchange_strong(&gate->barriers, &found,
					       ask_kernel(REGISTER_FOR_IT)
						   ? BARRIERS_WORK
						   : BARRIERS_FAIL);
	return atomic_load(&gate->barriers) == BARRIERS_WORK;
}

static bool is_mine(const struct gate_place *place)
{
	return atomic_load_explicit(&place->owner, memory_order_relaxed) ==
	       &mine;
}

/*
 * Returns this thread's gate_place. A thread whose thread-local memory belonged
 * to an ended thread takes over the gate_place of that thread. The search finds
 * it before any free one, because entries are claimed in order.
 */
__attribute__((noinline)) static struct gate_place *
claim_place(struct gate *gate)
{
	unsigned i = has_barriers(gate) ? 0 : GATE_THREADS;

	for (; i < GATE_THREADS; i++) {
		void *none = NULL;

		if (is_mine(&gate->own[i]) ||
		    atomic_compare_exchange_strong(&gate->own[i].owner, &none,
						   &mine))
			return mine = &gate->own[i];
	}
	return &gate->common;
}

static inline struct gate_place *find_place(struct gate *gate)
{
	/* `mine` may belong to another gate: a test may have several. */
	if (__builtin_expect((uintptr_t)mine - (uintptr_t)gate->own <
				     sizeof(gate->own) &&
				 is_mine(mine),
			     1))
		return mine;
	return claim_place(gate);
}

static inline void change_inside(struct gate *gate, struct gate_place *place,
				 uint32_t change)
{
	uint32_t had =
	    atomic_load_explicit(&place->inside, memory_order_relaxed);

	if (place == &gate->common)
		atomic_fetch_add(&place->inside, change);
	else
		atomic_store_explicit(&place->inside, had + change,
				      memory_order_release);
}

/* The kernel's barrier keeps the store and the load in order (gate.h). */
static inline bool try_enter(struct gate *gate, struct gate_place *place)
{
	change_inside(gate, place, 1);
	atomic_signal_fence(memory_order_seq_cst);
	return !atomic_load(&gate->closed);
}

/* Leaves the gate, which was entered while closed; waits; tries again. */
__attribute__((noinline, cold)) static void
wait_outside(struct gate *gate, struct gate_place *place)
{
	do {
		change_inside(gate, place, -1u);
		gk_futex_wait(GK_FUTEX_PRIVATE, &gate->closed, 1, GK_NS_PER_MS);
	} while (!try_enter(gate, place));
}

void gate_enter(struct gate *gate)
{
	struct gate_place *place = find_place(gate);

	if (__builtin_expect(!try_enter(gate, place), 0))
		wait_outside(gate, place);
}

void gate_leave(struct gate *gate)
{
	change_inside(gate, find_place(gate), -1u);
}

void gate_count(struct gate *gate, int device, int64_t bytes)
{
	struct gate_place *place = find_place(gate);
	_Atomic uint64_t *counted;
	uint64_t had;

	GK_ASSERT((unsigned)device < GKL_DEVICES);
	counted = &place->counted[device];
	had = atomic_load_explicit(counted, memory_order_relaxed);
	if (place == &gate->common)
		atomic_fetch_add(counted, (uint64_t)bytes);
	else
		atomic_store_explicit(counted, had + (uint64_t)bytes,
				      memory_order_relaxed);
}

static bool is_used(const struct gate_place *place)
{
	return atomic_load(&place->owner);
}

static bool is_empty(const struct gate *gate)
{
	if (atomic_load(&gate->common.inside))
		return false;
	for (unsigned i = 0; i < GATE_THREADS && is_used(&gate->own[i]); i++)
		if (atomic_load(&gate->own[i].inside))
			return false;
	return true;
}

void gate_open(struct gate *gate)
{
	atomic_store(&gate->closed, 0);
	gk_futex_wake(GK_FUTEX_PRIVATE, &gate->closed, INT32_MAX);
}

bool gate_close(struct gate *gate)
{
	uint64_t end = gk_mono_ns() + PATIENCE_NS;
	bool ok = true;

	atomic_store(&gate->closed, 1);
	if (has_barriers(gate))
		ok = ask_kernel(BARRIER_OF_ALL);
	while (ok && !is_empty(gate)) {
		ok = gk_mono_ns() <= end;
		gk_cpu_pause();
	}
	if (!ok)
		gate_open(gate);
	return ok;
}

uint64_t gate_counted(const struct gate *gate, int device)
{
	uint64_t sum;

	GK_ASSERT((unsigned)device < GKL_DEVICES);
	sum = atomic_load(&gate->common.counted[device]);
	for (unsigned i = 0; i < GATE_THREADS && is_used(&gate->own[i]); i++)
		sum += atomic_load(&gate->own[i].counted[device]);
	return sum;
}
