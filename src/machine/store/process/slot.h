/* slot.h - the slots of the machine file, read and freed. */
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
 * A live slot copied out; false when it is free or changed meanwhile, or when
 * it names no device of this machine.
 */
bool gkf_slot_read(struct gkf_machine *m, unsigned index,
		   struct gkf_slot *ret_slot, uint64_t *ret_life);

/* The same, and cheap for the slots of other devices. */
static inline bool gkf_slot_read_on(struct gkf_machine *m, unsigned index,
				    unsigned device, struct gkf_slot *ret_slot,
				    uint64_t *ret_life)
{
	return __atomic_load_n(&m->file->slot[index].device,
			       __ATOMIC_RELAXED) == device &&
	       gkf_slot_read(m, index, ret_slot, ret_life) &&
	       ret_slot->device == device;
}

/* Slots of loads come and go by the clock, those of processes are there. */
static inline bool gkf_slot_is_present(const struct gkf_slot *slot,
				       uint64_t bin)
{
	const struct gkf_wave *w = &slot->wave;
	uint64_t stop = __atomic_load_n(&w->stop_bin, __ATOMIC_RELAXED);

	return !stop ||
	       (bin < stop &&
		bin >= __atomic_load_n(&w->start_bin, __ATOMIC_RELAXED));
}

/* The bytes that a slot takes of its device. */
static inline uint64_t gkf_slot_held(const struct gkf_slot *slot)
{
	return atomic_load_explicit(&slot->bytes, memory_order_relaxed) +
	       atomic_load_explicit(&slot->managed, memory_order_relaxed);
}

/*
 * Frees a slot, which takes all that it holds with it, as soon as the books of
 * its device can be had, within patience_ns. The caller holds the writers'
 * lock.
 */
int gkf_slot_free(struct gkf_machine *m, unsigned index, unsigned device,
		  uint64_t patience_ns);

/* Number of slots that may be in use. */
unsigned gkf_slots_high(const struct gkf_machine *m);

/*
 * Ends what the dead had running on a device, with the last bin that is
 * computed. The caller holds the lock.
 */
void gkf_reap_busy(struct gkf_machine *m, unsigned device);

#endif
