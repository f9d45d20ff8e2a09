/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce.h - reduces the elements of all ranks. They are combined in the order
 * of the ranks and rounded once, so that every rank gets the same bits.
 */
#ifndef GKF_NCCL_REDUCE_H
#define GKF_NCCL_REDUCE_H

#include "fronts/nccl/meeting.h"

/* The maximum number of elements in a block: the blocks of four ranks fit in
 * the L1 cache. */
#define REDUCE_BLOCK 1024

struct reduction {
	uint32_t type, op;
	unsigned ranks;
	/* Each rank's scalar for OP_SCALED, of type `type`. */
	uint64_t scalar[RANKS_MAX];
};

/*
 * Reduces n elements of each rank, which are at in[rank]. The result goes to
 * `to`, a separate buffer.
 */
void reduce_block(const struct reduction *r, void *to,
		  const char *const in[RANKS_MAX], size_t n);

#endif
