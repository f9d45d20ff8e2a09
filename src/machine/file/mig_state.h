/*
 * mig_state.h - how a device is split, as it stands in the machine file.
 *
 * Each instance is one word, so it comes and goes by one store. A GPU
 * instance's place in the table is its id, and the id says where it lies: 0 is
 * the whole device, 1 and 2 its halves, 3 to 6 the quarters, 7 to 14 the
 * eighths, by memory slice (see docs/MIG.md).
 *
 * A word: bit 0 in use; bits 8-15 the profile's number; bits 16-19 the first
 * slice; bits 24-31 the index of the MIG device (compute instances); bits
 * 32-63 its life, which grows each time that the place is taken: what was
 * handed out for an earlier life is no longer valid.
 */
#ifndef GKF_MIG_STATE_H
#define GKF_MIG_STATE_H

#include "machine/file/numbers.h"

#include <stdatomic.h>
#include <stdint.h>

/*
 * Work done in a GPU instance: permille of each engine, summed over the bins.
 * Words only; they grow whatever lives come and go.
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
