/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_op.h - operations on accounts, for the rest of the ledger. */
#ifndef GKL_LEDGER_OP_H
#define GKL_LEDGER_OP_H

#include "limit/ledger_file.h"

/* The number of an account's next operation. */
static inline uint64_t gkl_number_after(uint64_t number)
{
	return (number + 1) & GKL_SEQ_MASK;
}

/* The high half of a total after operation `number` of a slot. */
static inline uint64_t gkl_name_of(unsigned int slot, uint64_t number)
{
	return (uint64_t)slot << GKL_SEQ_BITS | number;
}

/* bytes + delta, clamped to 0 and UINT64_MAX. */
static inline uint64_t gkl_add(uint64_t bytes, int64_t delta)
{
	uint64_t sum = bytes + (uint64_t)delta;

	if (delta < 0)
		return sum < bytes ? sum : 0;
	return sum >= bytes ? sum : UINT64_MAX;
}

/* Does step 3 of the operation that a total names, unless it is done. */
static inline void gkl_op_finish_last(struct gkl_ledger_file *f,
				      unsigned int device, union gkl_wide total)
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
	/* While `held` has the previous number, `op` is this operation. */
	if (gkl_number_after(held.high) != number || gkl_high(&a->op) != number)
		return;
	to.low = gkl_add(held.low, delta);
	to.high = number;
	gkl_wide_swap(&a->held, held, to);
}

/*
 * A bit for each export that some process holds; all zeros: not yet searched.
 * One search is valid for all processes that died before it.
 */
struct gkl_holds {
	bool looked;
	uint64_t is_held[GKL_EXPORTS / 64];
};

/*
 * Gives back what the owner `life` of a slot holds, except memory that others
 * still hold, and frees the slot if nothing is left. The owner is dead, or is
 * the caller.
 */
enum gkl_burial {
	GKL_BURIED, /* the slot was freed by the caller */
	/* Another process has freed the slot, or some bytes were given back. */
	GKL_BY_OTHER,
	GKL_KEPT, /* others hold all of its memory */
};
enum gkl_burial gkl_bury_slot(struct gkl_ledger_file *f, unsigned int slot,
			      union gkl_wide life, struct gkl_holds *holds);

/*
 * Whether a slot stands for memory of the dead owner `life` that others hold.
 */
static inline bool gkl_is_ended(const struct gkl_slot *s, union gkl_wide life)
{
	return gkl_high(&s->ended) == life.high &&
	       gkl_wide_read(&s->ended).both == life.both;
}

/*
 * In ledger_export.c. gkl_exports_sum() adds up the memory of a dead process
 * that others hold; gkl_exports_free() frees the dead process's exports.
 */
void gkl_exports_sum(const struct gkl_ledger_file *f, union gkl_wide life,
		     struct gkl_holds *holds, uint64_t ret_bytes[GKL_DEVICES]);
void gkl_exports_free(struct gkl_ledger_file *f, union gkl_wide life);

/* Gives back what this process held before it called exec. */
void gkl_bury_former(struct gkl_ledger_file *f, union gkl_wide self);

/*
 * The result of gkl_bury_round(), which buries all dead owners. found: how many
 * were dead, whoever buried them.
 */
struct gkl_round {
	int found, buried, dying;
};
struct gkl_round gkl_bury_round(const struct gkl_ledger *ledger);

#endif
