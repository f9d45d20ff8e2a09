/* ledger_op.h - operations on accounts, for the rest of the ledger. */
#ifndef GKL_LEDGER_OP_H
#define GKL_LEDGER_OP_H

#include "limit/ledger_file.h"

/* The number of an account's next operation. */
static inline uint64_t gkl_number_after(uint64_t number)
{
	return (number + 1) & GKL_SEQ_MASK;
}

/* As a total names it. */
static inline uint64_t gkl_name_of(unsigned int slot, uint64_t number)
{
	return (uint64_t)slot << GKL_SEQ_BITS | number;
}

/* bytes + delta, but not below 0 and not above what fits. */
static inline uint64_t gkl_add(uint64_t bytes, int64_t delta)
{
	uint64_t sum = bytes + (uint64_t)delta;

	if (delta < 0)
		return sum < bytes ? sum : 0;
	return sum >= bytes ? sum : UINT64_MAX;
}

/* Step 3 of the operation that a total names, if it is not done yet. */
void gkl_op_finish_last(struct gkl_ledger_file *f, unsigned int device,
			union gkl_wide total);

/*
 * Gives back what the owner `life` of a slot holds and frees the slot. It is
 * dead, or the caller. False: somebody else has done it.
 */
bool gkl_bury_slot(struct gkl_ledger_file *f, unsigned int slot,
		   union gkl_wide life);

/* What `self` held before exec. */
void gkl_bury_former(struct gkl_ledger_file *f, union gkl_wide self);

/*
 * Buries all the dead. found: those who were dead, whoever has buried them.
 */
struct gkl_round {
	int found, buried, dying;
};
struct gkl_round gkl_bury_round(const struct gkl_ledger *ledger);

#endif
