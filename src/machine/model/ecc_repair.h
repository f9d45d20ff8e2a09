/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ecc_repair.h - repairs of memory, for ecc.c. The caller of each function
 * holds the writers' lock.
 */
#ifndef GKF_ECC_REPAIR_H
#define GKF_ECC_REPAIR_H

#include "machine/file/ecc_state.h"

struct gkf_machine;

/*
 * Records that `hits` errors occurred at an address of DRAM, and repairs its
 * row or page if needed.
 */
void gkf_ecc_repair(struct gkf_machine *m, unsigned device,
		    enum gkf_ecc_kind kind, uint64_t hits, uint64_t address);

/* Records where SRAM errors occurred, unless they were corrected. */
void gkf_ecc_count_unique(struct gkf_machine *m, unsigned device,
			  enum gkf_ecc_location location,
			  enum gkf_ecc_kind kind, uint64_t count,
			  uint64_t address);

/* Makes pending repairs take effect. */
void gkf_ecc_take_effect(struct gkf_machine *m, unsigned device);

#endif
