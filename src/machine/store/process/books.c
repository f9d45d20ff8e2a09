/* SPDX-License-Identifier: Apache-2.0 */
/* books.c - owns the books of device memory; see books.h. */
#include "machine/store/process/books.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/units.h"
#include "machine/file/board.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/slot.h"
#include "machine/file/value.h"
#include "machine/file/work_state.h"
#include "machine/store/above.h"
#include "machine/store/process/account.h"
#include "machine/store/process/identity.h"
#include "machine/store/process/instances.h"
#include "machine/store/process/ledger.h"
#include "machine/store/locks.h"
#include "machine/store/process/slot.h"
#include "machine/store/process/total.h"
#include "machine/store/view.h"

#include <pthread.h>
#include <errno.h>

#define PATIENCE_NS       GK_NS_PER_S
#define STUCK_PATIENCE_NS GK_NS_PER_MS

/* Drivers map memory in blocks of this size; a context takes whole blocks. */
#define BLOCK (2 * MIB)

static struct gkf_books *books_of(const struct gkf_machine *m, unsigned device)
{
	return &m->file->device[device].books;
}

static uint64_t *gi_of(struct gkf_books *b, uint32_t instance)
{
	unsigned gi = GKF_INSTANCE_GI(instance);

	return gi < GKF_MIG_GIS ? &b->held_gi[gi] : NULL;
}

/* Stores a sum, which others read without the lock. */
static void store_sum(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static void add_bytes(struct gkf_books *b, uint32_t instance, uint64_t bytes)
{
	uint64_t *gi = gi_of(b, instance);

	store_sum(&b->changes, b->changes + 1);
	store_sum(&b->held, b->held + bytes);
	if (b->held > b->peak)
		store_sum(&b->peak, b->held);
	if (gi)
		store_sum(gi, *gi + bytes);
}

static void reduce_sum(uint64_t *from, uint64_t bytes)
{
	store_sum(from, bytes < *from ? *from - bytes : 0);
}

static void subtract_bytes(struct gkf_books *b, uint32_t instance,
			   uint64_t bytes)
{
	uint64_t *gi = gi_of(b, instance);

	store_sum(&b->changes, b->changes + 1);
	reduce_sum(&b->held, bytes);
	if (gi)
		reduce_sum(gi, bytes);
}

void gkf_books_enter(struct gkf_machine *m, const struct gkf_slot *slot)
{
	struct gkf_books *b = books_of(m, slot->device);

	GK_ASSERT(gkf_books_held(m, slot->device));
	if (slot->wave.stop_bin)
		store_sum(&b->by_clock, b->by_clock + 1);
	else
		add_bytes(b, slot->instance, gkf_slot_held(slot));
}

/* Words of a slot may be overwritten at any time, so each is read once. */
static uint32_t instance_of(const struct gkf_slot *slot)
{
	return __atomic_load_n(&slot->instance, __ATOMIC_RELAXED);
}

static bool is_by_clock(const struct gkf_slot *slot)
{
	return __atomic_load_n(&slot->wave.stop_bin, __ATOMIC_RELAXED) != 0;
}

void gkf_books_leave(struct gkf_machine *m, const struct gkf_slot *slot,
		     unsigned device)
{
	struct gkf_books *b = books_of(m, device);

	GK_ASSERT(gkf_books_held(m, device));
	if (is_by_clock(slot))
		reduce_sum(&b->by_clock, 1);
	else
		subtract_bytes(b, instance_of(slot), gkf_slot_held(slot));
}

/* Computes the sums again after a holder of the lock died during a change. */
static void recount_books(struct gkf_machine *m, unsigned device)
{
	struct gkf_books *b = books_of(m, device);
	unsigned high = gkf_slots_high(m);

	GK_ASSERT(gkf_books_held(m, device));
	store_sum(&b->held, 0);
	store_sum(&b->by_clock, 0);
	for (unsigned gi = 0; gi < GKF_MIG_GIS; gi++)
		store_sum(&b->held_gi[gi], 0);
	for (unsigned i = 0; i < high; i++) {
		struct gkf_slot slot;

		if (!gkf_slot_read_on(m, i, device, &slot, NULL))
			continue;
		gkf_books_enter(m, &slot);
		gkf_account_holds(m, i, atomic_load(&slot.bytes));
	}
	gk_log(GK_LOG_INFO, "a process died while taking memory of GPU %u",
	       device);
}

int gkf_books_lock_within(struct gkf_machine *m, unsigned device,
			  uint64_t patience_ns)
{
	int error;

	GK_ASSERT(device < m->device_count);
	error = gkf_locks_take(m->locks, GKF_LOCK_BOOKS + device, patience_ns);
	if (__builtin_expect(error == EOWNERDEAD, 0)) {
		recount_books(m, device);
		error = 0;
	}
	if (__builtin_expect(error == EINVAL, 0))
		return GK_ERR_CORRUPT;
	return __builtin_expect(error != 0, 0) ? gk_err_from_errno(error) : 0;
}

/*
 * If a stopped process holds the books, only the first call waits a second.
 * Later calls wait only a millisecond, until one of them gets the lock.
 */
int gkf_books_lock(struct gkf_machine *m, unsigned device)
{
	uint64_t bit = 1ULL << device;
	bool stuck = atomic_load(&m->stuck_books) & bit;
	int r = gkf_books_lock_within(m, device, 0);

	if (__builtin_expect(r != 0, 0))
		r = gkf_books_lock_within(
		    m, device, stuck ? STUCK_PATIENCE_NS : PATIENCE_NS);
	if (__builtin_expect(r != 0, 0))
		atomic_fetch_or(&m->stuck_books, bit);
	else if (__builtin_expect(stuck, 0))
		atomic_fetch_and(&m->stuck_books, ~bit);
	return r;
}

void gkf_books_unlock(struct gkf_machine *m, unsigned device)
{
	gkf_locks_release(m->locks, GKF_LOCK_BOOKS + device);
}

bool gkf_books_held(const struct gkf_machine *m, unsigned device)
{
	return gkf_locks_held(m->locks, GKF_LOCK_BOOKS + device);
}

static uint64_t bytes_left(uint64_t of, uint64_t used)
{
	return used < of ? of - used : 0;
}

/* Bytes left in a GPU instance according to the books; 0 if there is none. */
static uint64_t rest_gi(struct gkf_machine *m, unsigned device, unsigned gi)
{
	uint64_t total, taken;

	if (m->above->instance_bytes(m, device, gi, &total, &taken))
		return 0;
	return bytes_left(total, books_of(m, device)->held_gi[gi] + taken);
}

/*
 * The bytes that the slot may still take. gkf_memory() gives the same result,
 * but reads every slot.
 */
static uint64_t rest_by_books(struct gkf_machine *m, unsigned device,
			      const struct gkf_slot *slot)
{
	const struct gkf_profile *p = &m->boards[device].profile;
	uint64_t room = (uint64_t)(p->memory_mib - p->reserved_mib) * MIB;
	int64_t extra = atomic_load_explicit(
	    &m->file->device[device].set[GKF_V_EXTRA_MEMORY],
	    memory_order_relaxed);
	uint64_t left = bytes_left(room, books_of(m, device)->held +
					     gkf_held_by_instances(m, device));
	uint32_t instance = instance_of(slot);

	if (extra != GKF_UNSET)
		left = bytes_left(left, (uint64_t)extra);
	if (instance != GKF_NO_INSTANCE) {
		uint64_t gi = rest_gi(m, device, GKF_INSTANCE_GI(instance));

		left = gi < left ? gi : left;
	}
	return left;
}

/*
 * Like rest_by_books(), but reads all slots. Needed where loads of a scenario
 * appear and disappear at set times.
 */
static uint64_t rest_by_clock(struct gkf_machine *m, unsigned device,
			      const struct gkf_slot *slot)
{
	uint32_t instance = instance_of(slot);
	struct gkf_memory memory;
	uint64_t left;

	gkf_memory(m, device, &memory);
	/* Loads of a scenario come at different times; its compiler checked
	 * that they fit. */
	left = slot->wave.load ? memory.total - memory.reserved : memory.free;
	if (instance == GKF_NO_INSTANCE)
		return left;
	if (gkf_memory_gi(m, device, GKF_INSTANCE_GI(instance), &memory))
		return 0;
	return memory.free < left ? memory.free : left;
}

/* Locks the books of a slot's device. The slot must be this process's. */
static int lock_own(struct gkf_machine *m, unsigned index, unsigned *ret_device)
{
	struct gkf_slot *slot;
	unsigned device;
	int r;

	if (index >= GKF_SLOTS_MAX)
		return GK_ERR_RANGE;
	slot = &m->file->slot[index];
	device = __atomic_load_n(&slot->device, __ATOMIC_RELAXED);
	if (device >= m->device_count || !gkf_owns(m, slot))
		return GK_ERR_NOT_FOUND;
	r = gkf_books_lock(m, device);
	if (r)
		return r;
	if (!gkf_owns(m, slot) ||
	    __atomic_load_n(&slot->device, __ATOMIC_RELAXED) != device) {
		gkf_books_unlock(m, device);
		return GK_ERR_NOT_FOUND;
	}
	*ret_device = device;
	return 0;
}

/*
 * The slot's words are authoritative, so they are changed first. Each change is
 * a single store, because this process may be killed at this point, and because
 * the slot may belong to another process.
 */
static void change_bytes(struct gkf_slot *slot, uint64_t by, bool managed)
{
	_Atomic uint64_t *word = managed ? &slot->managed : &slot->bytes;

	atomic_store_explicit(
	    word, atomic_load_explicit(word, memory_order_relaxed) + by,
	    memory_order_release);
}

static void take_bytes(struct gkf_machine *m, unsigned index, unsigned device,
		       uint64_t bytes, bool managed)
{
	struct gkf_slot *slot = &m->file->slot[index];

	GK_ASSERT(gkf_books_held(m, device));
	change_bytes(slot, bytes, managed);
	if (!is_by_clock(slot))
		add_bytes(books_of(m, device), instance_of(slot), bytes);
	gkf_account_holds(m, index, atomic_load(&slot->bytes));
	gkf_total_holds(m, index, gkf_slot_held(slot));
}

static void give_bytes(struct gkf_machine *m, unsigned device,
		       struct gkf_slot *slot, uint64_t bytes, bool managed)
{
	GK_ASSERT(gkf_books_held(m, device));
	change_bytes(slot, -bytes, managed);
	if (!is_by_clock(slot))
		subtract_bytes(books_of(m, device), instance_of(slot), bytes);
}

void gkf_books_keep(struct gkf_machine *m, struct gkf_slot *slot,
		    unsigned device, uint64_t bytes)
{
	uint64_t held = atomic_load(&slot->bytes);

	GK_ASSERT(gkf_books_held(m, device));
	if (held > bytes)
		give_bytes(m, device, slot, held - bytes, false);
	give_bytes(m, device, slot, atomic_load(&slot->managed), true);
}

/*
 * The managed bytes of a slot; 0 if the slot is `by` itself, or is not in the
 * same instance of the device as `by`.
 */
static uint64_t managed_of(const struct gkf_slot *slot, unsigned device,
			   const struct gkf_slot *by)
{
	if (!(atomic_load(&slot->life) & 1) || slot == by ||
	    __atomic_load_n(&slot->device, __ATOMIC_RELAXED) != device ||
	    GKF_INSTANCE_GI(instance_of(slot)) !=
		GKF_INSTANCE_GI(instance_of(by)))
		return 0;
	return atomic_load(&slot->managed);
}

/*
 * Moves other processes' managed memory to the host to free `needed` bytes. If
 * there is less of it, moves nothing.
 */
static bool evict_managed(struct gkf_machine *m, unsigned device,
			  const struct gkf_slot *by, uint64_t needed)
{
	unsigned high = gkf_slots_high(m);
	uint64_t found = 0;

	GK_ASSERT(gkf_books_held(m, device));
	for (unsigned i = 0; i < high && found < needed; i++)
		found += managed_of(&m->file->slot[i], device, by);
	if (found < needed)
		return false;
	for (unsigned i = 0; i < high && needed; i++) {
		struct gkf_slot *slot = &m->file->slot[i];
		uint64_t part = managed_of(slot, device, by);

		part = part < needed ? part : needed;
		give_bytes(m, device, slot, part, true);
		needed -= part;
	}
	return true;
}

int gkf_books_try(struct gkf_machine *m, unsigned index, uint64_t bytes,
		  bool managed)
{
	const struct gkf_slot *slot = &m->file->slot[index % GKF_SLOTS_MAX];
	unsigned device;
	uint64_t left;
	int r = lock_own(m, index, &device);

	if (r)
		return r;
	left = __builtin_expect(books_of(m, device)->by_clock != 0, 0)
		   ? rest_by_clock(m, device, slot)
		   : rest_by_books(m, device, slot);
	if (bytes <= left ||
	    (!managed && evict_managed(m, device, slot, bytes - left)))
		take_bytes(m, index, device, bytes, managed);
	else
		r = GK_ERR_NO_SPACE;
	gkf_books_unlock(m, device);
	return r;
}

static int refund_bytes(struct gkf_machine *m, unsigned index, uint64_t bytes,
			bool managed)
{
	struct gkf_slot *slot = &m->file->slot[index % GKF_SLOTS_MAX];
	uint64_t held;
	unsigned device;
	int r = lock_own(m, index, &device);

	if (r)
		return r;
	held = atomic_load(managed ? &slot->managed : &slot->bytes);
	if (managed && bytes > held)
		bytes = held;
	if (bytes > held)
		r = GK_ERR_RANGE;
	else
		give_bytes(m, device, slot, bytes, managed);
	gkf_books_unlock(m, device);
	return r;
}

int gkf_books_refund(struct gkf_machine *m, unsigned index, uint64_t bytes)
{
	return refund_bytes(m, index, bytes, false);
}

int gkf_books_refund_managed(struct gkf_machine *m, unsigned index,
			     uint64_t bytes)
{
	return refund_bytes(m, index, bytes, true);
}

uint64_t gkf_books_context(const struct gkf_machine *m, unsigned device,
			   unsigned nth)
{
	uint64_t first = (uint64_t)m->boards[device].profile.context_mib * MIB;

	return nth ? first * 3 / 4 / BLOCK * BLOCK : first;
}
