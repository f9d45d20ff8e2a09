/* SPDX-License-Identifier: Apache-2.0 */
/* slot.h - reads and frees slots of the machine file. */
#ifndef GKF_SLOT_H
#define GKF_SLOT_H

#include "machine/file/file.h"
#include "machine/file/slot.h"
#include "machine/store/view.h"

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include <stdatomic.h>

struct gkf_machine;
struct gkf_slot;

/*
 * Copies a slot in use; false when it is free, changed during the copy, or
 * names no device of this machine.
 */
bool gkf_slot_read(struct gkf_machine *m, unsigned index,
		   struct gkf_slot *ret_slot, uint64_t *ret_life);

/*
 * Like gkf_slot_read(), but false for slots of other devices, which it rejects
 * cheaply.
 */
static inline bool gkf_slot_read_on(struct gkf_machine *m, unsigned index,
				    unsigned device, struct gkf_slot *ret_slot,
				    uint64_t *ret_life)
{
	return __atomic_load_n(&m->file->slot[index].device,
			       __ATOMIC_RELAXED) == device &&
	       gkf_slot_read(m, index, ret_slot, ret_life) &&
	       ret_slot->device == device;
}

/*
 * The slots of loads appear and disappear at set times; other slots are always
 * present.
 */
static inline bool gkf_slot_is_present(const struct gkf_slot *slot,
				       uint64_t bin)
{
	const struct gkf_wave *w = &slot->wave;
	uint64_t stop = __atomic_load_n(&w->stop_bin, __ATOMIC_RELAXED);

	return !stop ||
	       (bin < stop &&
		bin >= __atomic_load_n(&w->start_bin, __ATOMIC_RELAXED));
}

/* The bytes of device memory that a slot holds. */
static inline uint64_t gkf_slot_held(const struct gkf_slot *slot)
{
	return atomic_load_explicit(&slot->bytes, memory_order_relaxed) +
	       atomic_load_explicit(&slot->managed, memory_order_relaxed);
}

/*
 * Frees a slot and its memory, waiting at most patience_ns for the books of its
 * device. Memory that others still use stays in a lent slot (lent.h). The
 * caller holds the writers' lock.
 */
int gkf_slot_free(struct gkf_machine *m, unsigned index, unsigned device,
		  uint64_t patience_ns);

/* Number of slots that may be in use. */
static inline unsigned gkf_slots_high(const struct gkf_machine *m)
{
	uint64_t high =
	    atomic_load_explicit(&m->file->slots_high, memory_order_acquire);

	return high < GKF_SLOTS_MAX ? (unsigned)high : GKF_SLOTS_MAX;
}

/*
 * Ends the running work of dead processes on a device with the last computed
 * bin. The caller holds the writers' lock.
 */
void gkf_reap_busy(struct gkf_machine *m, unsigned device);

#endif
