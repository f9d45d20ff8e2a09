/* books.c - the books of device memory; see books.h. */
#include "machine/store/books.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/units.h"
#include "machine/file/board.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/slot.h"
#include "machine/file/value.h"
#include "machine/file/wave_state.h"
#include "machine/file/work_state.h"
#include "machine/store/above.h"
#include "machine/store/account.h"
#include "machine/store/identity.h"
#include "machine/store/ledger.h"
#include "machine/store/locks.h"
#include "machine/store/slot.h"
#include "machine/store/total.h"
#include "machine/store/view.h"

#include <pthread.h>
#include <errno.h>

#define PATIENCE_NS       GK_NS_PER_S
#define STUCK_PATIENCE_NS GK_NS_PER_MS

/* Drivers map this much at once: a context is given nothing smaller. */
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

/* Others read the sums without the lock. */
static void put(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static void add(struct gkf_books *b, uint32_t instance, uint64_t bytes)
{
	uint64_t *gi = gi_of(b, instance);

	put(&b->changes, b->changes + 1);
	put(&b->held, b->held + bytes);
	if (b->held > b->peak)
		put(&b->peak, b->held);
	if (gi)
		put(gi, *gi + bytes);
}

static void take_away(uint64_t *from, uint64_t bytes)
{
	put(from, bytes < *from ? *from - bytes : 0);
}

static void subtract(struct gkf_books *b, uint32_t instance, uint64_t bytes)
{
	uint64_t *gi = gi_of(b, instance);

	put(&b->changes, b->changes + 1);
	take_away(&b->held, bytes);
	if (gi)
		take_away(gi, bytes);
}

void gkf_books_enter(struct gkf_machine *m, const struct gkf_slot *slot)
{
	struct gkf_books *b = books_of(m, slot->device);

	if (slot->wave.stop_bin)
		put(&b->by_clock, b->by_clock + 1);
	else
		add(b, slot->instance, gkf_slot_held(slot));
}

/* Words of a slot in the file, which may change: each is read once. */
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

	if (is_by_clock(slot))
		take_away(&b->by_clock, 1);
	else
		subtract(b, instance_of(slot), gkf_slot_held(slot));
}

/* The holder died in the middle of a change: what the slots say is right. */
static void recount(struct gkf_machine *m, unsigned device)
{
	struct gkf_books *b = books_of(m, device);
	unsigned high = gkf_slots_high(m);

	put(&b->held, 0);
	put(&b->by_clock, 0);
	for (unsigned gi = 0; gi < GKF_MIG_GIS; gi++)
		put(&b->held_gi[gi], 0);
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
	int error =
	    gkf_locks_take(m->locks, GKF_LOCK_BOOKS + device, patience_ns);

	if (__builtin_expect(error == EOWNERDEAD, 0)) {
		recount(m, device);
		error = 0;
	}
	if (__builtin_expect(error == EINVAL, 0))
		return GK_ERR_CORRUPT;
	return __builtin_expect(error != 0, 0) ? gk_err_from_errno(error) : 0;
}

/*
 * A stopped process that holds the books costs a second once, not each who
 * comes after that, until they are to be had again.
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

static uint64_t rest(uint64_t of, uint64_t used)
{
	return used < of ? of - used : 0;
}

/* Left of a GPU instance, the books say; nothing when it is not there. */
static uint64_t rest_gi(struct gkf_machine *m, unsigned device, unsigned gi)
{
	uint64_t total, taken;

	if (gkf_instance_bytes(m, device, gi, &total, &taken))
		return 0;
	return rest(total, books_of(m, device)->held_gi[gi] + taken);
}

/*
 * The bytes that the slot may still take. gkf_memory() says the same, but it
 * looks at every slot.
 */
static uint64_t rest_by_books(struct gkf_machine *m, unsigned device,
			      const struct gkf_slot *slot)
{
	const struct gkf_profile *p = &m->boards[device].profile;
	uint64_t room = (uint64_t)(p->memory_mib - p->reserved_mib) * MIB;
	int64_t extra = atomic_load_explicit(
	    &m->file->device[device].set[GKF_V_EXTRA_MEMORY],
	    memory_order_relaxed);
	uint64_t left = rest(room, books_of(m, device)->held +
				       gkf_instances_hold(m, device));
	uint32_t instance = instance_of(slot);

	if (extra != GKF_UNSET)
		left = rest(left, (uint64_t)extra);
	if (instance != GKF_NO_INSTANCE) {
		uint64_t gi = rest_gi(m, device, GKF_INSTANCE_GI(instance));

		left = gi < left ? gi : left;
	}
	return left;
}

/* The same where slots come and go by the clock: all of them are looked at. */
static uint64_t rest_by_clock(struct gkf_machine *m, unsigned device,
			      const struct gkf_slot *slot)
{
	uint32_t instance = instance_of(slot);
	struct gkf_memory memory;
	uint64_t left;

	gkf_memory(m, device, &memory);
	/* Loads of a scenario come one after the other; its compiler saw that
	 * they fit. */
	left = slot->wave.load ? memory.total - memory.reserved : memory.free;
	if (instance == GKF_NO_INSTANCE)
		return left;
	if (gkf_memory_gi(m, device, GKF_INSTANCE_GI(instance), &memory))
		return 0;
	return memory.free < left ? memory.free : left;
}

/* Locks the books of the slot's device; it is this process's. */
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
 * The slot's words are the truth, so they are changed first, and one store
 * does it: whoever is killed here may have changed the slot of another process.
 */
static void change(struct gkf_slot *slot, uint64_t by, bool managed)
{
	_Atomic uint64_t *word = managed ? &slot->managed : &slot->bytes;

	atomic_store_explicit(
	    word, atomic_load_explicit(word, memory_order_relaxed) + by,
	    memory_order_release);
}

static void take(struct gkf_machine *m, unsigned index, unsigned device,
		 uint64_t bytes, bool managed)
{
	struct gkf_slot *slot = &m->file->slot[index];

	change(slot, bytes, managed);
	if (!is_by_clock(slot))
		add(books_of(m, device), instance_of(slot), bytes);
	gkf_account_holds(m, index, atomic_load(&slot->bytes));
	gkf_total_holds(m, index, gkf_slot_held(slot));
}

static void let_go(struct gkf_machine *m, unsigned device,
		   struct gkf_slot *slot, uint64_t bytes, bool managed)
{
	change(slot, -bytes, managed);
	if (!is_by_clock(slot))
		subtract(books_of(m, device), instance_of(slot), bytes);
}

/* Managed memory that another process than `by` has in the same place. */
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
 * Managed memory can be on the host as well, so it gives way, whosever it is:
 * all that is needed, or nothing.
 */
static bool evict(struct gkf_machine *m, unsigned device,
		  const struct gkf_slot *by, uint64_t needed)
{
	unsigned high = gkf_slots_high(m);
	uint64_t found = 0;

	for (unsigned i = 0; i < high && found < needed; i++)
		found += managed_of(&m->file->slot[i], device, by);
	if (found < needed)
		return false;
	for (unsigned i = 0; i < high && needed; i++) {
		struct gkf_slot *slot = &m->file->slot[i];
		uint64_t part = managed_of(slot, device, by);

		part = part < needed ? part : needed;
		let_go(m, device, slot, part, true);
		needed -= part;
	}
	return true;
}

static int try_charge(struct gkf_machine *m, unsigned index, uint64_t bytes,
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
	if (bytes <= left || (!managed && evict(m, device, slot, bytes - left)))
		take(m, index, device, bytes, managed);
	else
		r = GK_ERR_NO_SPACE;
	gkf_books_unlock(m, device);
	return r;
}

static int charge(struct gkf_machine *m, unsigned index, uint64_t bytes,
		  bool managed)
{
	int r = try_charge(m, index, bytes, managed);

	/* Whoever removes the dead: another process may just have done it. */
	if (r == GK_ERR_NO_SPACE) {
		gkf_reap(m, true);
		r = try_charge(m, index, bytes, managed);
	}
	return r;
}

int gkf_books_charge(struct gkf_machine *m, unsigned index, uint64_t bytes)
{
	return charge(m, index, bytes, false);
}

int gkf_books_charge_managed(struct gkf_machine *m, unsigned index,
			     uint64_t bytes)
{
	return charge(m, index, bytes, true);
}

static int refund(struct gkf_machine *m, unsigned index, uint64_t bytes,
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
		let_go(m, device, slot, bytes, managed);
	gkf_books_unlock(m, device);
	return r;
}

int gkf_books_refund(struct gkf_machine *m, unsigned index, uint64_t bytes)
{
	return refund(m, index, bytes, false);
}

int gkf_books_refund_managed(struct gkf_machine *m, unsigned index,
			     uint64_t bytes)
{
	return refund(m, index, bytes, true);
}

int gkf_books_attach(struct gkf_machine *m, unsigned device, uint32_t instance,
		     unsigned *ret_slot)
{
	const struct gkf_wave real = {.kind = GKF_WAVE_REAL};
	int r = gkf_attach_instance(m, device, instance, GKF_COMPUTE, &real,
				    ret_slot);

	if (r == GK_ERR_TOO_MANY || r == GK_ERR_IN_USE) {
		gkf_reap(m, true);
		r = gkf_attach_instance(m, device, instance, GKF_COMPUTE, &real,
					ret_slot);
	}
	return r;
}

uint64_t gkf_books_context(const struct gkf_machine *m, unsigned device,
			   unsigned nth)
{
	uint64_t first = (uint64_t)m->boards[device].profile.context_mib * MIB;

	return nth ? first * 3 / 4 / BLOCK * BLOCK : first;
}
