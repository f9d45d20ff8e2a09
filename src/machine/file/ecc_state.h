/*
 * ecc_state.h - the errors that a device's memories met, and what was done
 * about them; kept in the machine file. Each fact is one word.
 */
#ifndef GKF_ECC_STATE_H
#define GKF_ECC_STATE_H

#include "machine/file/numbers.h"

#include <stdatomic.h>
#include <stdint.h>

enum gkf_ecc_counter {
	GKF_ECC_VOLATILE,  /* since the GPU was reset or the driver loaded */
	GKF_ECC_AGGREGATE, /* in the life of the board */
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
	GKF_ECC_PARITY, /* uncorrected, of a memory with parity only */
	GKF_ECC_SECDED, /* uncorrected, of all others */
	GKF_ECC_KINDS
};

#define GKF_ECC_ROWS_MAX   512 /* remaps that a board can remember */
#define GKF_ECC_PAGES_MAX  64  /* pages that it can retire */
#define GKF_ECC_UNIQUE_MAX 64
#define GKF_ECC_SEEN_MAX   16

/* A retired page: visible once its address is written, which is last. */
struct gkf_ecc_page_word {
	_Atomic uint64_t seconds; /* since 1970, when it was found bad */
	_Atomic uint64_t address; /* of the page, and bits of ecc.c */
};

struct gkf_ecc {
	_Atomic uint64_t
	    counts[GKF_ECC_COUNTERS][GKF_ECC_LOCATIONS][GKF_ECC_KINDS];
	_Atomic uint64_t number;   /* errors so far: where the next one is */
	_Atomic uint64_t failures; /* rows that no spare row was left for */
	_Atomic uint64_t channel;  /* a failure since the last reset */
	_Atomic uint64_t rows[GKF_ECC_ROWS_MAX];
	struct gkf_ecc_page_word pages[GKF_ECC_PAGES_MAX];
	_Atomic uint64_t unique[GKF_ECC_UNIQUE_MAX]; /* uncorrected, SRAM */
	_Atomic uint64_t seen[GKF_ECC_SEEN_MAX];     /* corrected once, DRAM */
	/* By GPU instance: its life in the upper half, below it the volatile
	 * uncorrected errors of its SRAM in that life. */
	_Atomic uint64_t instance[GKF_MIG_GIS];
};

#endif
