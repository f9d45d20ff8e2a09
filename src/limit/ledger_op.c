/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger_op.c - reserves and refunds: the operations that ledger_file.h
 * describes.
 */
#include "limit/ledger_op.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/log.h"

/* How long a refused process waits for processes that are dying. */
#define DYING_MAX_NS  (100 * GK_NS_PER_MS)
#define DYING_STEP_NS GK_NS_PER_MS

/*
 * An operation of the calling process's slot. It begins and is committed under
 * the process's lock of the device; finishing it does not need the lock. Until
 * it is committed it has not happened.
 */
struct op {
	struct gkl_ledger_file *file;
	unsigned int device, slot;
	struct gkl_account *account;
	union gkl_wide total; /* once committed, includes the operation */
	union gkl_wide held;  /* does not include the operation */
	int64_t delta;
};

/* The caller holds the process's lock of the device. */
static inline void begin_op(struct op *op, const struct gkl_ledger *ledger,
			    unsigned int device, unsigned int slot)
{
	struct gkl_ledger_file *file = ledger->file;

	GK_ASSERT(gkl_lock_held(&ledger->own->locks[device]));
	op->file = file;
	op->device = device;
	op->slot = slot;
	op->account = &file->slots[slot].account[device];
	op->total = gkl_wide_read(&file->taken[device].total);
	/*
	 * If this slot made the last operation, `held` must include that
	 * operation before it is read.
	 */
	gkl_op_finish_last(file, device, op->total);
	op->held = gkl_wide_read(&op->account->held);
}

/* False: the total would exceed `limit` (0: no limit). */
static inline bool commit_op(struct op *op, int64_t delta, uint64_t limit)
{
	union gkl_wide *total = &op->file->taken[op->device].total, to;
	struct gkl_account *a = op->account;
	uint64_t number = gkl_number_after(op->held.high);

	op->delta = delta;
	/*
	 * Another process may still be burying the slot's previous owner. Once
	 * it sees this new number, it knows that `op` is no longer the
	 * operation that it wrote.
	 */
	__atomic_store_n(&a->op.high, number, __ATOMIC_RELAXED);
	__atomic_store_n(&a->op.low, (uint64_t)delta, __ATOMIC_RELEASE);
	to.high = gkl_name_of(op->slot, number);
	for (;;) {
		to.low = gkl_add(op->total.low, delta);
		if (limit && delta > 0 && to.low > limit)
			return false;
		if (gkl_wide_swap(total, op->total, to))
			break;
		op->total = gkl_wide_read(total);
		gkl_op_finish_last(op->file, op->device, op->total);
	}
	op->total = to;
	return true;
}

/* Does step 3 (ledger_file.h); is a full barrier. */
static inline void finish_op(const struct op *op)
{
	union gkl_wide to = {.low = gkl_add(op->held.low, op->delta),
			     .high = gkl_number_after(op->held.high)};

	gkl_wide_swap(&op->account->held, op->held, to);
}

static void add_kind(struct gkl_account *a, enum gkl_kind kind, int64_t delta)
{
	uint64_t had =
	    atomic_load_explicit(&a->kinds[kind], memory_order_relaxed);

	atomic_store_explicit(&a->kinds[kind], gkl_add(had, delta),
			      memory_order_relaxed);
}

/* The file is not trusted, so the result is bounded: it is never below zero. */
static uint64_t subtract(uint64_t bytes, uint64_t part)
{
	return part < bytes ? bytes - part : 0;
}

/*
 * Raises the peaks. A call in progress often holds more than it will need, so
 * pending bytes count for a peak only once they are moved to another kind. The
 * upper bounds of code that other processes are loading do not count either;
 * they are read only if there would be a new peak. Only this process writes its
 * own peak; several processes may write the group's.
 */
static void note_peaks(const struct gkl_ledger *ledger, unsigned device,
		       struct gkl_account *a, uint64_t held, uint64_t total)
{
	_Atomic uint64_t *peak = &ledger->file->taken[device].peak;
	uint64_t loading =
	    atomic_load_explicit(&a->kinds[GKL_LOADING], memory_order_relaxed);
	uint64_t pending =
	    loading +
	    atomic_load_explicit(&a->kinds[GKL_PENDING], memory_order_relaxed);
	uint64_t seen = atomic_load_explicit(peak, memory_order_relaxed);

	held = subtract(held, pending);
	total = subtract(total, pending);
	if (seen < total) {
		uint64_t all = gkl_ledger_pending(ledger, device, GKL_LOADING);

		total = subtract(total, subtract(all, loading));
	}
	if (held > atomic_load_explicit(&a->peak, memory_order_relaxed))
		atomic_store_explicit(&a->peak, held, memory_order_relaxed);
	while (seen < total &&
	       !atomic_compare_exchange_weak(peak, &seen, total))
		;
}

static bool take_ledger_bytes(struct gkl_ledger *ledger, unsigned device,
			      enum gkl_kind kind, uint64_t bytes,
			      uint64_t limit)
{
	int slot = gkl_ledger_slot(ledger);
	struct gkl_lock *lock = &ledger->own->locks[device];
	struct op op;

	GK_ASSERT(device < GKL_DEVICES);
	GK_ASSERT((unsigned)kind < GKL_KINDS);
	if (slot < 0 || bytes > INT64_MAX)
		return false;
	gkl_lock(lock);
	begin_op(&op, ledger, device, (unsigned)slot);
	if (!commit_op(&op, (int64_t)bytes, limit)) {
		gkl_unlock(lock);
		return false;
	}
	add_kind(op.account, kind, (int64_t)bytes);
	note_peaks(ledger, device, op.account, gkl_add(op.held.low, op.delta),
		   op.total.low);
	gkl_unlock_begin(lock);
	finish_op(&op);
	gkl_unlock_end(lock);
	return true;
}

/*
 * Buries dead owners and tries again; also waits for processes that are dying.
 *
 * A refusal is right only if every process that held memory during the attempt
 * was alive. This is known if the round of burials after the attempt finds no
 * dead process, and if no other process has buried an owner since the attempt
 * began. Otherwise memory was freed, so it tries again.
 */
static bool take_from_dead(struct gkl_ledger *ledger, unsigned device,
			   enum gkl_kind kind, uint64_t bytes, uint64_t limit)
{
	_Atomic uint32_t *burials = &ledger->file->burials;
	uint64_t end = gk_mono_ns() + DYING_MAX_NS;

	do {
		uint32_t before = atomic_load(burials);
		struct gkl_round round;

		if (take_ledger_bytes(ledger, device, kind, bytes, limit))
			return true;
		round = gkl_bury_round(ledger);
		if (round.found || atomic_load(burials) != before)
			continue;
		if (!round.dying)
			return false;
		gk_sleep_until(gk_mono_ns() + DYING_STEP_NS);
	} while (gk_mono_ns() < end);
	return take_ledger_bytes(ledger, device, kind, bytes, limit);
}

bool gkl_ledger_reserve(struct gkl_ledger *ledger, unsigned int device,
			enum gkl_kind kind, uint64_t bytes, uint64_t limit)
{
	if (take_ledger_bytes(ledger, device, kind, bytes, limit))
		return true;
	return gkl_ledger_slot(ledger) >= 0 && bytes <= INT64_MAX &&
	       (!limit || bytes <= limit) &&
	       take_from_dead(ledger, device, kind, bytes, limit);
}

void gkl_ledger_charge(struct gkl_ledger *ledger, unsigned int device,
		       enum gkl_kind kind, uint64_t bytes)
{
	if (!take_ledger_bytes(ledger, device, kind, bytes, 0))
		gk_log(GK_LOG_ERROR, "%llu bytes of device %u are not counted",
		       (unsigned long long)bytes, device);
}

/*
 * Gives back `bytes`, or all bytes held if these are fewer. Returns how many.
 */
static uint64_t give_back(struct gkl_ledger *ledger, struct gkl_slot *slot,
			  unsigned device, enum gkl_kind kind, uint64_t bytes)
{
	struct gkl_lock *lock = &ledger->own->locks[device];
	struct op op;

	GK_ASSERT(device < GKL_DEVICES);
	GK_ASSERT((unsigned)kind < GKL_KINDS);
	gkl_lock(lock);
	begin_op(&op, ledger, device, (unsigned)(slot - ledger->file->slots));
	bytes = bytes < op.held.low ? bytes : op.held.low;
	bytes = bytes < INT64_MAX ? bytes : INT64_MAX;
	commit_op(&op, -(int64_t)bytes, 0);
	add_kind(op.account, kind, -(int64_t)bytes);
	gkl_unlock_begin(lock);
	finish_op(&op);
	gkl_unlock_end(lock);
	return bytes;
}

void gkl_ledger_refund(struct gkl_ledger *ledger, unsigned int device,
		       enum gkl_kind kind, uint64_t bytes)
{
	struct gkl_slot *slot = gkl_own_slot(ledger);
	uint64_t given =
	    slot ? give_back(ledger, slot, device, kind, bytes) : 0;

	if (given < bytes)
		gk_log(GK_LOG_ERROR,
		       "device %u: %llu bytes given back, %llu were held",
		       device, (unsigned long long)bytes,
		       (unsigned long long)given);
}

void gkl_ledger_move(struct gkl_ledger *ledger, unsigned int device,
		     enum gkl_kind from, enum gkl_kind to, uint64_t bytes)
{
	struct gkl_taken *taken = &ledger->file->taken[device];
	struct gkl_slot *slot = gkl_own_slot(ledger);
	struct gkl_account *a;

	GK_ASSERT(device < GKL_DEVICES);
	GK_ASSERT((unsigned)from < GKL_KINDS);
	GK_ASSERT((unsigned)to < GKL_KINDS);
	if (!slot || bytes > INT64_MAX)
		return;
	a = &slot->account[device];
	gkl_lock(&ledger->own->locks[device]);
	add_kind(a, from, -(int64_t)bytes);
	add_kind(a, to, (int64_t)bytes);
	note_peaks(ledger, device, a,
		   __atomic_load_n(&a->held.low, __ATOMIC_RELAXED),
		   __atomic_load_n(&taken->total.low, __ATOMIC_RELAXED));
	gkl_unlock(&ledger->own->locks[device]);
}
