/* ledger_op.h - operations on accounts, for the rest of the ledger. */
#ifndef GKL_LEDGER_OP_H
#define GKL_LEDGER_OP_H

#include "limit/ledger_file.h"

/* bytes + delta, but not below 0 and not above what fits. */
static inline uint64_t gkl_add(uint64_t bytes, int64_t delta)
{
	uint64_t sum = bytes + (uint64_t)delta;

	if (delta < 0)
		return sum < bytes ? sum : 0;
	return sum >= bytes ? sum : UINT64_MAX;
}

/*
 * An operation of the calling process's slot, whose lock of the device the
 * caller has. False: bytes would be above limit; 0: no limit.
 */
bool gkl_op(struct gkl_ledger_file *f, unsigned int device, unsigned int slot,
	    int64_t delta, uint64_t limit);

/*
 * Gives back what the owner `life` of a slot holds and frees the slot. It is
 * dead, or the caller. False: somebody else has done it.
 */
bool gkl_op_bury(struct gkl_ledger_file *f, unsigned int slot,
		 union gkl_wide life);

#endif
