/* ledger.c - slots: who is on which device, with how many bytes. */
#include "machine/store/flag.h"
#include "machine/file/board.h"
#include "machine/file/profile.h"
#include "machine/file/value.h"
#include "machine/file/wave_state.h"
#include "machine/store/ledger.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/pair.h"
#include "base/units.h"
#include "machine/file/numbers.h"
#include "machine/file/slot.h"
#include "machine/store/above.h"
#include "machine/store/account.h"
#include "machine/store/books.h"
#include "machine/store/busy.h"
#include "machine/store/clock.h"
#include "machine/store/identity.h"
#include "machine/store/listed.h"
#include "machine/store/slot.h"
#include "machine/store/total.h"
#include "machine/store/turn.h"
#include "machine/store/view.h"
#include "machine/store/writers_lock.h"

#include <string.h>

unsigned gkf_slots_high(const struct gkf_machine *m)
{
	uint64_t high =
	    atomic_load_explicit(&m->file->slots_high, memory_order_acquire);

	return high < GKF_SLOTS_MAX ? (unsigned)high : GKF_SLOTS_MAX;
}

bool gkf_slot_read(struct gkf_machine *m, unsigned index,
		   struct gkf_slot *ret_slot, uint64_t *ret_life)
{
	struct gkf_slot *slot = &m->file->slot[index];
	uint64_t life = atomic_load_explicit(&slot->life, memory_order_acquire);

	if (!(life & 1))
		return false;
	gk_words_copy(ret_slot, slot, sizeof *slot);
	atomic_thread_fence(memory_order_acquire);
	if (ret_life)
		*ret_life = life;
	return atomic_load_explicit(&slot->life, memory_order_relaxed) ==
		   life &&
	       ret_slot->device < m->device_count;
}

/* A free slot, or GKF_SLOTS_MAX. The caller holds the lock. */
static unsigned find_free(struct gkf_machine *m)
{
	unsigned i = 0;

	while (i < GKF_SLOTS_MAX &&
	       (atomic_load_explicit(&m->file->slot[i].life,
				     memory_order_relaxed) &
		1))
		i++;
	return i;
}

/*
 * Fills a free slot, then makes it visible by its life word. Killed anywhere
 * before that last store, it has left a free slot behind.
 */
static int occupy_slot(struct gkf_machine *m, unsigned index,
		       const struct gkf_slot *content)
{
	struct gkf_slot *slot = &m->file->slot[index];
	uint64_t life = atomic_load_explicit(&slot->life, memory_order_relaxed);
	int r = gkf_books_lock(m, content->device);

	if (r)
		return r;
	if (gkf_slots_high(m) <= index)
		atomic_store_explicit(&m->file->slots_high, index + 1,
				      memory_order_release);
	gkf_account_open(m, index);
	gkf_busy_open(m, index);
	gkf_total_open(m, index, content);
	gkf_books_enter(m, content);
	atomic_thread_fence(memory_order_release);
	gk_words_copy((char *)slot + sizeof slot->life,
		      (const char *)content + sizeof slot->life,
		      sizeof *slot - sizeof slot->life);
	atomic_store_explicit(&slot->life, life + 1, memory_order_release);
	gkf_books_unlock(m, content->device);
	return 0;
}

int gkf_slot_free(struct gkf_machine *m, unsigned index, unsigned device,
		  uint64_t patience_ns)
{
	struct gkf_slot *slot = &m->file->slot[index];
	int r = gkf_books_lock_within(m, device, patience_ns);

	if (r)
		return r;
	gkf_turn_drop(m, index);
	gkf_account_close(m, index);
	gkf_total_close(m, index);
	gkf_books_leave(m, slot, device);
	atomic_fetch_add_explicit(&slot->life, 1, memory_order_release);
	gkf_books_unlock(m, device);
	return 0;
}

/* Is another process computing on the device? The caller holds the lock. */
static bool has_other_compute(struct gkf_machine *m, unsigned device,
			      const struct gkf_slot *by)
{
	unsigned high = gkf_slots_high(m);
	uint64_t bin = gkf_machine_bin(m);

	for (unsigned i = 0; i < high; i++) {
		struct gkf_slot slot;

		if (gkf_slot_read_on(m, i, device, &slot, NULL) &&
		    slot.types & GKF_COMPUTE &&
		    gkf_slot_is_present(&slot, bin) &&
		    (slot.pid != by->pid || slot.pid_ns != by->pid_ns ||
		     slot.start != by->start))
			return true;
	}
	return false;
}

/* Asks the compute mode whether one more process may come. The lock is held. */
static int check_compute_mode(struct gkf_machine *m, unsigned device,
			      const struct gkf_slot *content)
{
	int64_t mode;

	/* A scenario puts its loads where it wants them. */
	if (content->wave.load || !(content->types & GKF_COMPUTE))
		return 0;
	mode = gkf_compute_mode(m, device);
	if (mode == GKF_PROHIBITED)
		return GK_ERR_PERMISSION;
	return mode == GKF_EXCLUSIVE && has_other_compute(m, device, content)
		   ? GK_ERR_IN_USE
		   : 0;
}

/* Nobody would ever see that it has ended: what it holds would stay. */
static int refuse_unknown(const struct gkf_identity *self)
{
	gk_log(GK_LOG_ERROR,
	       "/proc/%d does not tell who this process is: it gets no place "
	       "on a GPU; mount /proc",
	       (int)self->pid);
	return GK_ERR_IO;
}

/* Of this process's number, but before exec, or of one that has ended. */
static bool is_former(const struct gkf_slot *slot,
		      const struct gkf_identity *self)
{
	return slot->pid == self->pid && slot->pid_ns == self->pid_ns &&
	       (slot->start != self->start ||
		(slot->stack && self->stack && slot->stack != self->stack));
}

/*
 * Lists of processes would tell what they held as this one's, until somebody
 * looks for the dead. The lock is held.
 */
static void free_former(struct gkf_machine *m, const struct gkf_identity *self)
{
	unsigned high = gkf_slots_high(m);

	for (unsigned i = 0; i < high; i++) {
		struct gkf_slot slot;

		if (!gkf_slot_read(m, i, &slot, NULL) ||
		    !is_former(&slot, self))
			continue;
		gkf_state_advance(m, slot.device);
		gkf_slot_free(m, i, slot.device, GK_NS_PER_S);
	}
}

int gkf_attach_instance(struct gkf_machine *m, unsigned device,
			uint32_t instance, unsigned types,
			const struct gkf_wave *wave, unsigned *ret_slot)
{
	struct gkf_identity self = gkf_self(m);
	struct gkf_slot content = {.device = device,
				   .types = types,
				   .instance = instance,
				   .pid = self.pid,
				   .pid_ns = self.pid_ns,
				   .start = self.start,
				   .stack = self.stack};
	unsigned index;
	int r;

	if (device >= m->device_count || !types)
		return GK_ERR_RANGE;
	if (!gkf_is_known(&self))
		return refuse_unknown(&self);
	if (!gkf_is_listed(m, device))
		return GK_ERR_NOT_FOUND;
	if (gkf_is_set(m, device, GKF_V_DRAIN))
		return GK_ERR_PERMISSION;
	if (wave)
		content.wave = *wave;
	r = gkf_lock(m);
	if (r)
		return r;
	free_former(m, &self);
	gkf_state_advance(m, device);
	if (!content.wave.stop_bin)
		content.wave.start_bin = gkf_machine_bin(m);
	index = find_free(m);
	/* A load of a scenario is placed when its time comes. */
	if (!content.wave.load)
		r = gkf_instance_enter(m, device, &content.instance);
	if (!r)
		r = check_compute_mode(m, device, &content);
	if (!r && index == GKF_SLOTS_MAX)
		r = GK_ERR_TOO_MANY;
	if (!r)
		r = occupy_slot(m, index, &content);
	gkf_unlock(m);
	if (!r)
		*ret_slot = index;
	return r;
}

int gkf_attach(struct gkf_machine *m, unsigned device, unsigned types,
	       const struct gkf_wave *wave, unsigned *ret_slot)
{
	return gkf_attach_instance(m, device, GKF_NO_INSTANCE, types, wave,
				   ret_slot);
}

/* Locks and checks that the slot belongs to this process, on that device. */
static int lock_own_slot(struct gkf_machine *m, unsigned index,
			 struct gkf_slot **ret_slot, unsigned *ret_device)
{
	struct gkf_identity self = gkf_self(m);
	struct gkf_slot *slot;
	unsigned device;
	int r;

	if (index >= GKF_SLOTS_MAX)
		return GK_ERR_RANGE;
	r = gkf_lock(m);
	if (r)
		return r;
	slot = &m->file->slot[index];
	device = __atomic_load_n(&slot->device, __ATOMIC_RELAXED);
	if (!(atomic_load(&slot->life) & 1) || slot->pid != self.pid ||
	    slot->pid_ns != self.pid_ns || device >= m->device_count) {
		gkf_unlock(m);
		return GK_ERR_NOT_FOUND;
	}
	*ret_slot = slot;
	*ret_device = device;
	return 0;
}

int gkf_detach(struct gkf_machine *m, unsigned index)
{
	struct gkf_slot *slot;
	unsigned device;
	int r = lock_own_slot(m, index, &slot, &device);

	if (r)
		return r;
	gkf_state_advance(m, device);
	r = gkf_slot_free(m, index, device, GK_NS_PER_S);
	gkf_unlock(m);
	return r;
}

/* Whole words, as when the slot was taken: readers see old or new ones. */
int gkf_tune(struct gkf_machine *m, unsigned index, const struct gkf_wave *wave)
{
	struct gkf_wave tuned = *wave;
	struct gkf_slot *slot;
	unsigned device;
	int r = lock_own_slot(m, index, &slot, &device);

	if (r)
		return r;
	gkf_state_advance(m, device);
	tuned.load = slot->wave.load;
	tuned.start_bin = slot->wave.start_bin;
	tuned.stop_bin = slot->wave.stop_bin;
	gk_words_copy((char *)&slot->wave, (const char *)&tuned, sizeof tuned);
	gkf_unlock(m);
	return 0;
}

/* Is the slot in that GPU instance? All ones: the whole device is meant. */
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

/* How often the slots are looked at for a sum that held all the while. */
#define READINGS 4

/*
 * Slots that are looked at one after the other never held all that at once if
 * some took and others gave meanwhile: then the books did not stand still.
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
	return held_bytes(m, device, UINT32_MAX);
}

static uint64_t at_most(uint64_t value, uint64_t limit)
{
	return value < limit ? value : limit;
}

int gkf_memory_gi(struct gkf_machine *m, unsigned device, unsigned gi,
		  struct gkf_memory *ret_memory)
{
	struct gkf_memory memory = {0};
	uint64_t taken;
	int r = gkf_instance_bytes(m, device, gi, &memory.total, &taken);

	if (r)
		return r;
	memory.used = at_most(held_bytes(m, device, gi) + taken, memory.total);
	memory.free = memory.total - memory.used;
	*ret_memory = memory;
	return 0;
}

void gkf_memory(struct gkf_machine *m, unsigned device,
		struct gkf_memory *ret_memory)
{
	const struct gkf_profile *profile = &m->boards[device].profile;
	int64_t extra = atomic_load_explicit(
	    &m->file->device[device].set[GKF_V_EXTRA_MEMORY],
	    memory_order_relaxed);
	struct gkf_memory memory = {
	    .total = (uint64_t)profile->memory_mib * MIB,
	    .reserved = (uint64_t)profile->reserved_mib * MIB,
	};
	uint64_t room = memory.total - memory.reserved;

	memory.used = gkf_held_bytes(m, device) + gkf_instances_hold(m, device);
	if (extra != GKF_UNSET)
		memory.used += (uint64_t)extra;
	memory.used = at_most(memory.used, room);
	memory.free = room - memory.used;
	*ret_memory = memory;
}
