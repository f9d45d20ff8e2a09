/*
 * ledger_op.c - reserves and refunds: the operations that ledger_file.h
 * describes.
 */
#include "limit/ledger_op.h"
#include "base/clock.h"
#include "base/log.h"

/* Who is refused waits so long for those who are dying. */
#define DYING_MAX_NS  (100 * GK_NS_PER_MS)
#define DYING_STEP_NS GK_NS_PER_MS

/*
 * An operation of the calling process's slot: begin and commit with the lock of
 * the device held, finish with or without it. Not committed, it has not been.
 */
struct op {
	struct gkl_ledger_file *file;
	unsigned int device, slot;
	struct gkl_account *account;
	union gkl_wide total; /* when committed: with it */
	union gkl_wide held;  /* before it */
	int64_t delta;
};

void gkl_op_finish_last(struct gkl_ledger_file *f, unsigned int device,
			union gkl_wide total)
{
	uint64_t slot = total.high >> GKL_SEQ_BITS;
	uint64_t number = total.high & GKL_SEQ_MASK;
	struct gkl_account *a;
	union gkl_wide held, to;
	int64_t delta;

	if (slot >= GKL_PROCESSES)
		return;
	a = &f->slots[slot].account[device];
	if (gkl_number_after(gkl_high(&a->held)) != number)
		return;
	held = gkl_wide_read(&a->held);
	delta = (int64_t)gkl_low(&a->op);
	/* While held has the number before, op is that of this operation. */
	if (gkl_number_after(held.high) != number || gkl_high(&a->op) != number)
		return;
	to.low = gkl_add(held.low, delta);
	to.high = number;
	gkl_wide_swap(&a->held, held, to);
}

static inline void begin_op(struct op *op, struct gkl_ledger_file *file,
			    unsigned int device, unsigned int slot)
{
	op->file = file;
	op->device = device;
	op->slot = slot;
	op->account = &file->slots[slot].account[device];
	op->total = gkl_wide_read(&file->taken[device].total);
	/* Maybe one of this slot: held is that after all which were before. */
	gkl_op_finish_last(file, device, op->total);
	op->held = gkl_wide_read(&op->account->held);
}

/* False: bytes would be above limit; 0: no limit. */
static inline bool commit_op(struct op *op, int64_t delta, uint64_t limit)
{
	union gkl_wide *total = &op->file->taken[op->device].total, to;
	struct gkl_account *a = op->account;
	uint64_t number = gkl_number_after(op->held.high);

	op->delta = delta;
	/* A late burier of the last owner takes this for its own no more. */
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

/* A full barrier. */
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

/*
 * What is held for a call that is under way is often more than it will take:
 * it makes no peak until it is called by another kind. Nobody else writes the
 * process's; several may write the group's.
 */
static void note_peaks(struct gkl_account *a, _Atomic uint64_t *peak,
		       uint64_t held, uint64_t total)
{
	uint64_t pending =
	    atomic_load_explicit(&a->kinds[GKL_PENDING], memory_order_relaxed);
	uint64_t seen = atomic_load_explicit(peak, memory_order_relaxed);

	held = gkl_add(held, -(int64_t)pending);
	total = gkl_add(total, -(int64_t)pending);
	if (held > atomic_load_explicit(&a->peak, memory_order_relaxed))
		atomic_store_explicit(&a->peak, held, memory_order_relaxed);
	while (seen < total &&
	       !atomic_compare_exchange_weak(peak, &seen, total))
		;
}

static bool take(struct gkl_ledger *ledger, unsigned device, enum gkl_kind kind,
		 uint64_t bytes, uint64_t limit)
{
	int slot = gkl_ledger_slot(ledger);
	struct gkl_lock *lock = &ledger->own->locks[device];
	struct op op;

	if (slot < 0 || bytes > INT64_MAX)
		return false;
	gkl_lock(lock);
	begin_op(&op, ledger->file, device, (unsigned)slot);
	if (!commit_op(&op, (int64_t)bytes, limit)) {
		gkl_unlock(lock);
		return false;
	}
	add_kind(op.account, kind, (int64_t)bytes);
	note_peaks(op.account, &ledger->file->taken[device].peak,
		   gkl_add(op.held.low, op.delta), op.total.low);
	gkl_unlock_begin(lock);
	finish_op(&op);
	gkl_unlock_end(lock);
	return true;
}

/*
 * Once more, without the dead; those who die just now are waited for. The
 * refusal is right if all who held something at the moment of the attempt
 * lived: the round behind it finds nobody dead, and nobody else has buried one
 * since. Else what was freed may have gone to another, whose own dead is not
 * buried.
 */
static bool take_from_dead(struct gkl_ledger *ledger, unsigned device,
			   enum gkl_kind kind, uint64_t bytes, uint64_t limit)
{
	_Atomic uint32_t *burials = &ledger->file->burials;
	uint64_t end = gk_mono_ns() + DYING_MAX_NS;

	do {
		uint32_t before = atomic_load(burials);
		struct gkl_round round;

		if (take(ledger, device, kind, bytes, limit))
			return true;
		round = gkl_bury_round(ledger);
		if (round.found || atomic_load(burials) != before)
			continue;
		if (!round.dying)
			return false;
		gk_sleep_until(gk_mono_ns() + DYING_STEP_NS);
	} while (gk_mono_ns() < end);
	return take(ledger, device, kind, bytes, limit);
}

bool gkl_ledger_reserve(struct gkl_ledger *ledger, unsigned int device,
			enum gkl_kind kind, uint64_t bytes, uint64_t limit)
{
	if (take(ledger, device, kind, bytes, limit))
		return true;
	return gkl_ledger_slot(ledger) >= 0 && bytes <= INT64_MAX &&
	       (!limit || bytes <= limit) &&
	       take_from_dead(ledger, device, kind, bytes, limit);
}

void gkl_ledger_charge(struct gkl_ledger *ledger, unsigned int device,
		       enum gkl_kind kind, uint64_t bytes)
{
	if (!take(ledger, device, kind, bytes, 0))
		gk_log(GK_LOG_ERROR, "%llu bytes of device %u are not counted",
		       (unsigned long long)bytes, device);
}

/* At most what is held, which is returned. */
static uint64_t give_back(struct gkl_ledger *ledger, struct gkl_slot *slot,
			  unsigned device, enum gkl_kind kind, uint64_t bytes)
{
	struct gkl_lock *lock = &ledger->own->locks[device];
	struct op op;

	gkl_lock(lock);
	begin_op(&op, ledger->file, device,
		 (unsigned)(slot - ledger->file->slots));
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

	if (!slot || bytes > INT64_MAX)
		return;
	a = &slot->account[device];
	gkl_lock(&ledger->own->locks[device]);
	add_kind(a, from, -(int64_t)bytes);
	add_kind(a, to, (int64_t)bytes);
	note_peaks(a, &taken->peak,
		   __atomic_load_n(&a->held.low, __ATOMIC_RELAXED),
		   __atomic_load_n(&taken->total.low, __ATOMIC_RELAXED));
	gkl_unlock(&ledger->own->locks[device]);
}
