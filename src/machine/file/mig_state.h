/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mig_state.h - the MIG instances of a device in the machine file.
 *
 * Each instance is one word, created and destroyed by one store. A GPU
 * instance's index in the table is its id, and the id says which memory slices
 * it has: 0 is the whole device, 1 and 2 its halves, 3 to 6 the quarters, 7 to
 * 14 the eighths (see docs/MIG.md).
 *
 * The bits of the word:
 *  0      the instance exists
 *  8-15   the number of its profile
 *  16-19  its first slice
 *  24-31  compute instances: the index of the MIG device
 *  32-63  its life, which grows each time the id is reused and so makes
 *         handles of earlier lives invalid
 */
#ifndef GKF_MIG_STATE_H
#define GKF_MIG_STATE_H

#include "machine/file/numbers.h"

#include <stdatomic.h>
#include <stdint.h>

/*
 * Work done in a GPU instance: the permille of each engine, summed over the
 * bins. All members are words. They keep growing when another instance takes
 * the same id.
 */
struct gkf_mig_sums {
	uint64_t gpu, sm, occupancy, tensor, dram;
	uint64_t enc, dec, jpg, ofa;
};

struct gkf_mig {
	_Atomic uint64_t mode;
	_Atomic uint64_t gi[GKF_MIG_GIS];
	_Atomic uint64_t ci[GKF_MIG_GIS][GKF_MIG_CIS];
	struct gkf_mig_sums sums[GKF_MIG_GIS];
};

#endif
