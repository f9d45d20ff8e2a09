/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - functions for running kernels: they check whether the kernel may
 * continue, wait for other ranks, and access memory.
 */
#include "base/clock.h"
#include "base/futex.h"
#include "fronts/nccl/front.h"

#include <string.h>

/* The longest sleep, and the time between two checks that all ranks are alive.
 */
#define REST_NS (2 * GK_NS_PER_MS)
#define LOOK_NS (50 * GK_NS_PER_MS)

/* The number of polls before sleeping, as a change may come at once. */
#define SPINS 200

/* Bytes to copy before checking whether to continue. */
#define PIECE (1u << 20)

bool work_goes_on(struct work *w)
{
	struct ncclComm *c = w->c;

	if (atomic_load_explicit(&c->failed, memory_order_relaxed) ||
	    atomic_load_explicit(&c->abort, memory_order_relaxed))
		return false;
	if (atomic_load_explicit(&c->seat.at->broken, memory_order_acquire)) {
		comm_adopt(c);
		return false;
	}
	if (w->run->stopped()) {
		comm_fail(c, ncclUnhandledCudaError,
			  "rank %u (process %d): its kernel was stopped",
			  c->rank, w->self->pid);
		return false;
	}
	return true;
}

/* If this rank waits for a rank that has ended or was aborted, makes the
 * communicator fail and returns false. */
static bool check_awaited(struct work *w,
			  bool (*awaits)(const struct work *w, unsigned rank,
					 void *what),
			  void *what)
{
	static const char *const words[] = {
	    [MEMBER_LEFT] = "has left", [MEMBER_ABORTED] = "was aborted"};
	struct ncclComm *c = w->c;

	for (unsigned i = 0; i < c->ranks; i++) {
		struct member *m = meeting_member(&c->seat, i);
		uint32_t state;

		if (i == c->rank || !awaits(w, i, what))
			continue;
		state = atomic_load(&m->state);
		if (state == MEMBER_THERE && !meeting_is_dead(m))
			continue;
		/* The other rank may have done its part just before it
		 * ended. */
		if (!awaits(w, i, what))
			continue;
		state = atomic_load(&m->state);
		comm_fail(c, ncclRemoteError, "rank %u (process %d) %s", i,
			  m->pid,
			  state == MEMBER_LEFT || state == MEMBER_ABORTED
			      ? words[state]
			      : "has ended");
		return false;
	}
	return true;
}

bool work_rest(struct work *w, uint32_t seen,
	       bool (*awaits)(const struct work *w, unsigned rank, void *what),
	       void *what)
{
	struct member *self = w->self;
	uint64_t now;

	for (int i = 0; i < SPINS; i++) {
		if (atomic_load_explicit(&self->bell, memory_order_relaxed) !=
		    seen)
			return work_goes_on(w);
		gk_cpu_pause();
	}
	if (!work_goes_on(w))
		return false;
	atomic_store(&self->sleeps, 1);
	if (atomic_load(&self->bell) == seen)
		gk_futex_wait(GK_FUTEX_SHARED, &self->bell, seen, REST_NS);
	atomic_store(&self->sleeps, 0);
	now = gk_mono_ns();
	if (!w->looked_ns)
		w->looked_ns = now;
	if (now - w->looked_ns < LOOK_NS)
		return work_goes_on(w);
	w->looked_ns = now;
	return work_goes_on(w) && check_awaited(w, awaits, what);
}

void *work_memory(struct work *w, enum gpukit_access access,
		  CUdeviceptr address, uint64_t bytes)
{
	void *at = w->run->memory(w->run, access, address, bytes);

	if (!at)
		comm_fail(w->c, ncclUnhandledCudaError,
			  "rank %u: no memory of its device at %#llx, %llu "
			  "bytes",
			  w->c->rank, (unsigned long long)address,
			  (unsigned long long)bytes);
	return at;
}

void *work_reach(struct work *w, unsigned rank, const struct place *place,
		 enum gpukit_access access, uint64_t bytes)
{
	const struct member *m = meeting_member(&w->c->seat, rank);
	uint64_t address;
	void *at;
	int fault = w->run->fault;

	if (m->process == w->self->process)
		return (void *)(uintptr_t)place->pointer;
	if (!place->shown)
		return NULL;
	address = reach_open(w->c, place);
	if (!address)
		return NULL;
	at = w->run->memory(w->run, access, address + place->offset, bytes);
	w->run->fault = fault;
	return at;
}

bool work_copy(struct work *w, void *to, const void *from, uint64_t bytes)
{
	for (uint64_t done = 0; done < bytes; done += PIECE) {
		uint64_t some = bytes - done < PIECE ? bytes - done : PIECE;

		if (done && !work_goes_on(w))
			return false;
		if (to != from)
			memmove((char *)to + done, (const char *)from + done,
				some);
	}
	return true;
}
