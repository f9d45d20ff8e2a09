/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_state.c - owns the state of this process's memory, and the gate that
 * threads enter when they take or give back memory.
 */
#include "limit/preload/memory/memory_state.h"
#include "limit/preload/own.h"

#include <sys/mman.h>

_Atomic(struct memory_state *) memory_known_state;

struct memory_state *memory_make_state(void)
{
	struct memory_state *s = own_map(sizeof(*s)), *none = NULL;

	if (s &&
	    !atomic_compare_exchange_strong(&memory_known_state, &none, s)) {
		munmap(s, sizeof(*s));
		return none;
	}
	return s;
}

uint32_t memory_epoch(void)
{
	return atomic_load_explicit(&memory_state()->epoch,
				    memory_order_relaxed);
}

void memory_expect(int device, unsigned looks)
{
	struct memory_state *s = device < 0 ? NULL : memory_state();

	if (!s)
		return;
	if (atomic_load(&s->device[device].looks) < looks)
		atomic_store(&s->device[device].looks, looks);
	atomic_store(&s->device[device].due, true);
}

void memory_enter(void)
{
	gate_enter(&memory_state()->gate);
}

void memory_leave(void)
{
	gate_leave(&memory_state()->gate);
}
