/*
 * ecc_repair.h - what ecc.c asks of ecc_repair.c. The caller of all holds the
 * writers' lock.
 */
#ifndef GKF_ECC_REPAIR_H
#define GKF_ECC_REPAIR_H

#include "machine/file/ecc_state.h"

struct gkf_machine;

/* An address of DRAM was hit so many times: does it need a repair? */
void gkf_ecc_repair(struct gkf_machine *m, unsigned device,
		    enum gkf_ecc_kind kind, uint64_t hits, uint64_t address);

/* Keeps the address of an uncorrected error of SRAM. */
void gkf_ecc_count_unique(struct gkf_machine *m, unsigned device,
			  enum gkf_ecc_location location,
			  enum gkf_ecc_kind kind, uint64_t count,
			  uint64_t address);

/* Repairs that wait take effect. */
void gkf_ecc_take_effect(struct gkf_machine *m, unsigned device);

#endif
