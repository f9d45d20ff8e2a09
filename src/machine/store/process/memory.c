/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - computes used and free memory of devices and GPU instances. */
#include "base/assert.h"
#include "base/min.h"
#include "base/units.h"
#include "machine/file/board.h"
#include "machine/file/device.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/slot.h"
#include "machine/file/value.h"
#include "machine/store/above.h"
#include "machine/store/clock.h"
#include "machine/store/process/instances.h"
#include "machine/store/process/ledger.h"
#include "machine/store/process/slot.h"
#include "machine/store/view.h"

/* Whether the slot is in a GPU instance; gi all ones: any. */
static bool is_in(const struct gkf_slot *slot, unsigned gi)
{
	return gi == UINT32_MAX ||
	       GKF_INSTANCE_GI(
		   __atomic_load_n(&slot->instance, __ATOMIC_RELAXED)) == gi;
}

static uint64_t sum_held(struct gkf_machine *m, unsigned device, unsigned gi)
{
	uint64_t bin = gkf_machine_bin(m);
	unsigned high = gkf_slots_high(m);
	uint64_t held = 0;

	for (unsigned i = 0; i < high; i++) {
		struct gkf_slot *slot = &m->file->slot[i];

		if ((atomic_load_explicit(&slot->life, memory_order_acquire) &
		     1) &&
		    __atomic_load_n(&slot->device, __ATOMIC_RELAXED) ==
			device &&
		    is_in(slot, gi) && gkf_slot_is_present(slot, bin))
			held += gkf_slot_held(slot);
	}
	return held;
}

/* How many times to read the slots for a consistent sum. */
#define READINGS 4

/*
 * The sum over all slots. If slots change while they are summed, the sum may be
 * wrong; b->changes reveals that, and the slots are read again.
 */
static uint64_t held_bytes(struct gkf_machine *m, unsigned device, unsigned gi)
{
	const struct gkf_books *b = &m->file->device[device].books;
	uint64_t before, after, held;
	int readings = 0;

	do {
		before = __atomic_load_n(&b->changes, __ATOMIC_ACQUIRE);
		held = sum_held(m, device, gi);
		atomic_thread_fence(memory_order_acquire);
		after = __atomic_load_n(&b->changes, __ATOMIC_RELAXED);
	} while (before != after && ++readings < READINGS);
	if (before != after && !__atomic_load_n(&b->by_clock, __ATOMIC_RELAXED))
		held = __atomic_load_n(gi < GKF_MIG_GIS ? &b->held_gi[gi]
							: &b->held,
				       __ATOMIC_RELAXED);
	return held;
}

uint64_t gkf_held_bytes(struct gkf_machine *m, unsigned device)
{
	GK_ASSERT(device < m->device_count);
	return held_bytes(m, device, UINT32_MAX);
}

int gkf_memory_gi(struct gkf_machine *m, unsigned device, unsigned gi,
		  struct gkf_memory *ret_memory)
{
	struct gkf_memory memory = {0};
	uint64_t taken;
	int r = m->above->instance_bytes(m, device, gi, &memory.total, &taken);

	if (r)
		return r;
	memory.used = gk_min(held_bytes(m, device, gi) + taken, memory.total);
	memory.free = memory.total - memory.used;
	*ret_memory = memory;
	return 0;
}

void gkf_memory(struct gkf_machine *m, unsigned device,
		struct gkf_memory *ret_memory)
{
	const struct gkf_profile *profile = &m->boards[device].profile;
	struct gkf_memory memory;
	uint64_t room;
	int64_t extra;

	GK_ASSERT(device < m->device_count);
	memory = (struct gkf_memory){
	    .total = (uint64_t)profile->memory_mib * MIB,
	    .reserved = (uint64_t)profile->reserved_mib * MIB,
	};
	room = memory.total - memory.reserved;
	memory.used =
	    gkf_held_bytes(m, device) + gkf_held_by_instances(m, device);
	extra = atomic_load_explicit(
	    &m->file->device[device].set[GKF_V_EXTRA_MEMORY],
	    memory_order_relaxed);
	if (extra != GKF_UNSET)
		memory.used += (uint64_t)extra;
	memory.used = gk_min(memory.used, room);
	memory.free = room - memory.used;
	*ret_memory = memory;
}
