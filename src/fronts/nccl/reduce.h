/*
 * reduce.h - what ranks' elements come to. The order is that of the ranks and
 * the result is rounded once, so every rank gets the same bits.
 */
#ifndef GKF_NCCL_REDUCE_H
#define GKF_NCCL_REDUCE_H

#include "fronts/nccl/meeting.h"

/* The elements of a block, at most: those of four ranks lie in the first cache.
 */
#define REDUCE_BLOCK 1024

struct reduction {
	uint32_t type, op;
	unsigned ranks;
	uint64_t scalar[RANKS_MAX]; /* of OP_SCALED, in `type` */
};

/* n elements of each rank, from in[rank], to `to`, which is none of them. */
void reduce_block(const struct reduction *r, void *to,
		  const char *const in[RANKS_MAX], size_t n);

#endif
