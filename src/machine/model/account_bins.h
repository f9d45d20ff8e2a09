/* account_bins.h - what accounts get of the bins that have passed. */
#ifndef GKF_ACCOUNT_BINS_H
#define GKF_ACCOUNT_BINS_H

#include <stdint.h>

struct gkf_machine;

/*
 * Adds the bins from first to before end to the processes of a device. The
 * caller holds the lock.
 */
void gkf_account_bins(struct gkf_machine *m, unsigned device, uint64_t first,
		      uint64_t end);

#endif
