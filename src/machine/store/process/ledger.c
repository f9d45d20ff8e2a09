/* SPDX-License-Identifier: Apache-2.0 */
/* ledger.c - attaches processes to devices: takes and frees slots. */
#include "machine/store/flag.h"
#include "base/assert.h"
#include "machine/file/board.h"
#include "machine/file/value.h"
#include "machine/file/wave_state.h"
#include "machine/store/process/ledger.h"
#include "machine/store/process/lent.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/pair.h"
#include "machine/file/numbers.h"
#include "machine/file/slot.h"
#include "machine/store/above.h"
#include "machine/store/process/account.h"
#include "machine/store/process/books.h"
#include "machine/store/process/busy.h"
#include "machine/store/clock.h"
#include "machine/store/process/identity.h"
#include "machine/store/listed.h"
#include "machine/store/process/slot.h"
#include "machine/store/process/total.h"
#include "machine/store/process/turn.h"
#include "machine/store/view.h"
#include "machine/store/writers_lock.h"

#include <string.h>

/* A free slot, or GKF_SLOTS_MAX. The caller holds the writers' lock. */
static unsigned find_free(struct gkf_machine *m)
{
	unsigned i = 0;

	GK_ASSERT(gkf_lock_held(m));
	while (i < GKF_SLOTS_MAX &&
	       (atomic_load_explicit(&m->file->slot[i].life,
				     memory_order_relaxed) &
		1))
		i++;
	return i;
}

/*
 * Fills a free slot, then makes it visible by storing its life. If the process
 * is killed before that store, the slot stays free.
 */
static int occupy_slot(struct gkf_machine *m, unsigned index,
		       const struct gkf_slot *content)
{
	struct gkf_slot *slot = &m->file->slot[index];
	uint64_t life = atomic_load_explicit(&slot->life, memory_order_relaxed);
	int r = gkf_books_lock(m, content->device);

	GK_ASSERT(gkf_lock_held(m));
	if (r)
		return r;
	if (gkf_slots_high(m) <= index)
		atomic_store_explicit(&m->file->slots_high, index + 1,
				      memory_order_release);
	gkf_account_open(m, index);
	gkf_busy_open(m, index);
	gkf_lent_open(m, index);
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

/* Ends the turn, account and total of a slot whose process has ended. */
static void close_slot(struct gkf_machine *m, unsigned index)
{
	gkf_turn_drop(m, index);
	gkf_account_close(m, index);
	gkf_total_close(m, index);
}

int gkf_slot_free(struct gkf_machine *m, unsigned index, unsigned device,
		  uint64_t patience_ns)
{
	struct gkf_slot *slot = &m->file->slot[index];
	uint64_t lent = gkf_lent_bytes(m, index);
	int r = gkf_books_lock_within(m, device, patience_ns);

	GK_ASSERT(gkf_lock_held(m));
	if (r)
		return r;
	if (!gkf_is_lent(slot))
		close_slot(m, index);
	if (lent) {
		gkf_books_keep(m, slot, device, lent);
		__atomic_store_n(&slot->types, 0, __ATOMIC_RELEASE);
	} else {
		gkf_books_leave(m, slot, device);
		atomic_fetch_add_explicit(&slot->life, 1, memory_order_release);
	}
	gkf_books_unlock(m, device);
	return 0;
}

/*
 * Whether another compute process is on the device. The caller holds the
 * writers' lock.
 */
static bool has_other_compute(struct gkf_machine *m, unsigned device,
			      const struct gkf_slot *by)
{
	unsigned high = gkf_slots_high(m);
	uint64_t bin = gkf_machine_bin(m);

	GK_ASSERT(gkf_lock_held(m));
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

/*
 * Checks whether the compute mode admits another process. The caller holds the
 * writers' lock.
 */
static int check_compute_mode(struct gkf_machine *m, unsigned device,
			      const struct gkf_slot *content)
{
	int64_t mode;

	GK_ASSERT(gkf_lock_held(m));
	/* Loads of a scenario ignore the compute mode. */
	if (content->wave.load || !(content->types & GKF_COMPUTE))
		return 0;
	mode = m->above->compute_mode(m, device);
	if (mode == GKF_PROHIBITED)
		return GK_ERR_PERMISSION;
	return mode == GKF_EXCLUSIVE && has_other_compute(m, device, content)
		   ? GK_ERR_IN_USE
		   : 0;
}

/*
 * Refuses a process whose end other processes could not detect: its memory
 * would never be freed.
 */
static int refuse_unknown(const struct gkf_identity *self)
{
	gk_log(GK_LOG_ERROR,
	       "/proc/%d does not identify this process: it cannot use a GPU; "
	       "mount /proc",
	       (int)self->pid);
	return GK_ERR_IO;
}

/*
 * Whether a slot has this process's pid, but was taken before its exec, or by
 * an earlier process.
 */
static bool is_former(const struct gkf_slot *slot,
		      const struct gkf_identity *self)
{
	return slot->pid == self->pid && slot->pid_ns == self->pid_ns &&
	       (slot->start != self->start ||
		(slot->stack && self->stack && slot->stack != self->stack));
}

/*
 * Frees the slots for which is_former() is true. Otherwise, until the next
 * reaping, process lists would show their memory as this process's. The caller
 * holds the writers' lock.
 */
static void free_former(struct gkf_machine *m, const struct gkf_identity *self)
{
	unsigned high = gkf_slots_high(m);

	GK_ASSERT(gkf_lock_held(m));
	for (unsigned i = 0; i < high; i++) {
		struct gkf_slot slot;

		if (!gkf_slot_read(m, i, &slot, NULL) ||
		    !is_former(&slot, self))
			continue;
		m->above->state_advance(m, slot.device);
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
	m->above->state_advance(m, device);
	if (!content.wave.stop_bin)
		content.wave.start_bin = gkf_machine_bin(m);
	index = find_free(m);
	/* The instance of a scenario's load is set when it starts. */
	if (!content.wave.load)
		r = m->above->instance_enter(m, device, &content.instance);
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

/*
 * Takes the writers' lock if the slot belongs to this process; also returns the
 * slot's device.
 */
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
	m->above->state_advance(m, device);
	r = gkf_slot_free(m, index, device, GK_NS_PER_S);
	gkf_unlock(m);
	return r;
}

/*
 * Copies the wave word by word, so that a reader without the lock sees the old
 * or the new value of each word.
 */
int gkf_tune(struct gkf_machine *m, unsigned index, const struct gkf_wave *wave)
{
	struct gkf_wave tuned = *wave;
	struct gkf_slot *slot;
	unsigned device;
	int r = lock_own_slot(m, index, &slot, &device);

	if (r)
		return r;
	m->above->state_advance(m, device);
	tuned.load = slot->wave.load;
	tuned.start_bin = slot->wave.start_bin;
	tuned.stop_bin = slot->wave.stop_bin;
	gk_words_copy((char *)&slot->wave, (const char *)&tuned, sizeof tuned);
	gkf_unlock(m);
	return 0;
}
