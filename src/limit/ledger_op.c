/* ledger_op.c - the operations that ledger_file.h describes. */
#include "limit/ledger_op.h"

static uint64_t number_after(uint64_t number)
{
	return (number + 1) & GKL_SEQ_MASK;
}

static uint64_t name_of(unsigned int slot, uint64_t number)
{
	return (uint64_t)slot << GKL_SEQ_BITS | number;
}

/* Step 3 of the operation that a total names, if it is not done yet. */
static void finish_last(struct gkl_ledger_file *f, unsigned int device,
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
	if (number_after(gkl_high(&a->held)) != number)
		return;
	held = gkl_wide_read(&a->held);
	delta = (int64_t)gkl_low(&a->op);
	/* While held has the number before, op is that of this operation. */
	if (number_after(held.high) != number || gkl_high(&a->op) != number)
		return;
	to.low = gkl_add(held.low, delta);
	to.high = number;
	gkl_wide_swap(&a->held, held, to);
}

bool gkl_op(struct gkl_ledger_file *f, unsigned int device, unsigned int slot,
	    int64_t delta, uint64_t limit)
{
	struct gkl_taken *taken = &f->taken[device];
	struct gkl_account *a = &f->slots[slot].account[device];
	union gkl_wide held = gkl_wide_read(&a->held), total, to;

	to.high = number_after(held.high);
	/* A late burier of the last owner takes this for its own no more. */
	__atomic_store_n(&a->op.high, to.high, __ATOMIC_RELAXED);
	__atomic_store_n(&a->op.low, (uint64_t)delta, __ATOMIC_RELEASE);
	do {
		total = gkl_wide_read(&taken->total);
		finish_last(f, device, total);
		to.low = gkl_add(total.low, delta);
		if (limit && delta > 0 && to.low > limit)
			return false;
	} while (!gkl_wide_swap(
	    &taken->total, total,
	    (union gkl_wide){.low = to.low, .high = name_of(slot, to.high)}));
	to.low = gkl_add(held.low, delta);
	gkl_wide_swap(&a->held, held, to);
	return true;
}

/* What one operation can give back; more stands in damaged files only. */
static uint64_t most_of(uint64_t held)
{
	return held < 1ULL << 63 ? held : 1ULL << 63;
}

/* Swaps the pending operation to one that gives back all; or finds it there. */
static bool plan_return(struct gkl_account *a, union gkl_wide was,
			union gkl_wide held)
{
	union gkl_wide plan = {.low = 0 - most_of(held.low),
			       .high = number_after(held.high)};

	return was.both == plan.both || gkl_wide_swap(&a->op, was, plan);
}

/* False: the slot is not that owner's any more. */
static bool empty_account(struct gkl_ledger_file *f, unsigned int device,
			  unsigned int slot, union gkl_wide life)
{
	struct gkl_taken *taken = &f->taken[device];
	struct gkl_slot *s = &f->slots[slot];
	struct gkl_account *a = &s->account[device];
	union gkl_wide total, held, op, to;

	for (;;) {
		total = gkl_wide_read(&taken->total);
		finish_last(f, device, total);
		op = gkl_wide_read(&a->op);
		held = gkl_wide_read(&a->held);
		/* All of it was read while the slot was the dead's. */
		if (gkl_wide_read(&s->life).both != life.both)
			return false;
		if (!held.low)
			return true;
		if (!plan_return(a, op, held) ||
		    gkl_high(&a->held) != held.high)
			continue;
		to.low = gkl_add(total.low, (int64_t)(0 - most_of(held.low)));
		to.high = name_of(slot, number_after(held.high));
		gkl_wide_swap(&taken->total, total, to);
	}
}

struct sums {
	uint64_t refused[GKL_DEVICES], counts[GKL_DEVICES][GKL_COUNTS];
};

static void read_counters(const struct gkl_slot *s, struct sums *ret_sums)
{
	for (unsigned d = 0; d < GKL_DEVICES; d++) {
		const struct gkl_account *a = &s->account[d];

		ret_sums->refused[d] = atomic_load(&a->refused);
		for (unsigned c = 0; c < GKL_COUNTS; c++)
			ret_sums->counts[d][c] = atomic_load(&a->counts[c]);
	}
}

/* What the group had of its devices is told when its processes are gone. */
static void keep_counters(struct gkl_ledger_file *f, const struct sums *sums)
{
	for (unsigned d = 0; d < GKL_DEVICES; d++) {
		struct gkl_taken *taken = &f->taken[d];

		atomic_fetch_add(&taken->refused, sums->refused[d]);
		for (unsigned c = 0; c < GKL_COUNTS; c++)
			atomic_fetch_add(&taken->counts[c], sums->counts[d][c]);
	}
}

bool gkl_op_bury(struct gkl_ledger_file *f, unsigned int slot,
		 union gkl_wide life)
{
	static const union gkl_wide free_slot = {.both = 0};
	struct gkl_slot *s = &f->slots[slot];
	struct sums sums = {0};

	for (unsigned d = 0; d < GKL_DEVICES; d++)
		if (!empty_account(f, d, slot, life))
			return false;
	if (atomic_load(&s->counted) == life.high)
		read_counters(s, &sums);
	if (!gkl_wide_swap(&s->life, life, free_slot))
		return false;
	keep_counters(f, &sums);
	return true;
}
