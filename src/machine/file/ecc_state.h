/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ecc_state.h - memory errors of a device and the repairs made, as kept in the
 * machine file. Each fact is one word.
 */
#ifndef GKF_ECC_STATE_H
#define GKF_ECC_STATE_H

#include "machine/file/numbers.h"

#include <stdatomic.h>
#include <stdint.h>

enum gkf_ecc_counter {
	/* Errors since the GPU was reset or the driver loaded. */
	GKF_ECC_VOLATILE,
	GKF_ECC_AGGREGATE, /* errors in the life of the board */
	GKF_ECC_COUNTERS
};

enum gkf_ecc_location {
	GKF_ECC_L1,
	GKF_ECC_L2,
	GKF_ECC_DRAM,
	GKF_ECC_REGISTERS,
	GKF_ECC_TEXTURE,
	GKF_ECC_SHARED,
	GKF_ECC_CBU, /* convergence barrier unit */
	GKF_ECC_MCU, /* microcontrollers */
	GKF_ECC_PCIE,
	GKF_ECC_OTHER,
	GKF_ECC_LOCATIONS
};

enum gkf_ecc_kind {
	GKF_ECC_CORRECTED,
	GKF_ECC_PARITY, /* uncorrected error in memory with parity only */
	GKF_ECC_SECDED, /* uncorrected error in any other memory */
	GKF_ECC_KINDS
};

#define GKF_ECC_ROWS_MAX   512 /* maximum number of remapped rows of a board */
#define GKF_ECC_PAGES_MAX  64  /* maximum number of retired pages */
#define GKF_ECC_UNIQUE_MAX 64
#define GKF_ECC_SEEN_MAX   16

/* A retired page. The address is written last and makes it visible. */
struct gkf_ecc_page_word {
	_Atomic uint64_t seconds; /* when the page was found bad, since 1970 */
	/* The page's address, and flags of ecc_repair.c. */
	_Atomic uint64_t address;
};

struct gkf_ecc {
	_Atomic uint64_t
	    counts[GKF_ECC_COUNTERS][GKF_ECC_LOCATIONS][GKF_ECC_KINDS];
	/* Errors so far; determines the next error's address. */
	_Atomic uint64_t number;
	_Atomic uint64_t failures; /* rows for which no spare was left */
	_Atomic uint64_t channel;  /* 1: a remap failed since the last reset */
	_Atomic uint64_t rows[GKF_ECC_ROWS_MAX];
	struct gkf_ecc_page_word pages[GKF_ECC_PAGES_MAX];
	/* Addresses of uncorrected SRAM errors. */
	_Atomic uint64_t unique[GKF_ECC_UNIQUE_MAX];
	/* DRAM rows that had one corrected error. */
	_Atomic uint64_t seen[GKF_ECC_SEEN_MAX];
	/*
	 * One word for each GPU instance. Upper half: the instance's life
	 * (mig_state.h); lower half: the volatile uncorrected errors of its
	 * SRAM in that life.
	 */
	_Atomic uint64_t instance[GKF_MIG_GIS];
};

#endif
