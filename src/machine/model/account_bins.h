/* SPDX-License-Identifier: Apache-2.0 */
/* account_bins.h - adds past bins to the accounts of processes. */
#ifndef GKF_ACCOUNT_BINS_H
#define GKF_ACCOUNT_BINS_H

#include <stdint.h>

struct gkf_machine;

/*
 * Adds the bins [first, end) to the accounts of a device's processes. The
 * caller holds the writers' lock.
 */
void gkf_account_bins(struct gkf_machine *m, unsigned device, uint64_t first,
		      uint64_t end);

#endif
