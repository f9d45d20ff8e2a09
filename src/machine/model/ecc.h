/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ecc.h - memory errors: a count for each location and kind, from which all
 * sums are made, and the repairs that errors lead to. Boards since Ampere remap
 * DRAM rows, older ones retire pages; both take effect at the next reset.
 *
 * While the values "ecc-corrected" and "ecc-uncorrected" are set, they replace
 * the volatile counts of DRAM; the next error or clearing turns them into
 * counts.
 */
#ifndef GKF_ECC_H
#define GKF_ECC_H

#include "base/export.h"
#include "machine/file/ecc_state.h"

#include <stdbool.h>

struct gkf_machine;

#define GKF_ECC_BIT(place_or_kind) (1U << (place_or_kind))
#define GKF_ECC_ALL_LOCATIONS      (GKF_ECC_BIT(GKF_ECC_LOCATIONS) - 1)
#define GKF_ECC_SRAM               (GKF_ECC_ALL_LOCATIONS & ~GKF_ECC_BIT(GKF_ECC_DRAM))
#define GKF_ECC_SM                                                             \
	(GKF_ECC_BIT(GKF_ECC_L1) | GKF_ECC_BIT(GKF_ECC_REGISTERS) |            \
	 GKF_ECC_BIT(GKF_ECC_TEXTURE) | GKF_ECC_BIT(GKF_ECC_SHARED) |          \
	 GKF_ECC_BIT(GKF_ECC_CBU))
#define GKF_ECC_UNCORRECTED                                                    \
	(GKF_ECC_BIT(GKF_ECC_PARITY) | GKF_ECC_BIT(GKF_ECC_SECDED))

/*
 * The most errors in one call. Each uncorrected error gets an address of its
 * own.
 */
#define GKF_ECC_COUNT_MAX 1000000000

/* The name of a location in ctl: "l1", "dram"...; NULL past the last. */
const char *gkf_ecc_location_name(unsigned location);

/* Whether ECC is on. */
GKF_API bool gkf_ecc_on(struct gkf_machine *m, unsigned device);

/* Bits of the locations whose errors this board reports. */
GKF_API unsigned gkf_ecc_locations(const struct gkf_machine *m,
				   unsigned device);

/*
 * Makes errors happen: counts them, marks rows or pages for repair, and sends
 * ECC events; Xids are up to the caller. Parity errors of DRAM count as
 * SEC-DED. GK_ERR_NOT_SUPPORTED when ECC is off or the board does not report
 * errors of that location, GK_ERR_RANGE above GKF_ECC_COUNT_MAX.
 */
int gkf_ecc_error(struct gkf_machine *m, unsigned device,
		  enum gkf_ecc_kind kind, enum gkf_ecc_location location,
		  uint64_t count);

/* Like gkf_ecc_error(). The caller holds the writers' lock. */
int gkf_ecc_error_locked(struct gkf_machine *m, unsigned device,
			 enum gkf_ecc_kind kind, enum gkf_ecc_location location,
			 uint64_t count);

/* Like gkf_ecc_error(), but at an address of DRAM, in bytes. */
int gkf_ecc_error_at(struct gkf_machine *m, unsigned device,
		     enum gkf_ecc_kind kind, uint64_t address, uint64_t count);

/* The number of errors of all locations and kinds whose bits are set. */
GKF_API uint64_t gkf_ecc_sum(struct gkf_machine *m, unsigned device,
			     enum gkf_ecc_counter counter, unsigned locations,
			     unsigned kinds);

/*
 * Volatile uncorrected SRAM errors (of SMs and L2) in a GPU instance since it
 * was created; the address of an error says which slice it is in. 0 if there is
 * no such instance.
 */
GKF_API uint64_t gkf_ecc_of_instance(struct gkf_machine *m, unsigned device,
				     unsigned gi);

/* Sets all locations and kinds of a counter to 0. */
GKF_API int gkf_ecc_clear(struct gkf_machine *m, unsigned device,
			  enum gkf_ecc_counter counter);

/*
 * Whether a part (the SMs, L2 and so on) has had more uncorrected errors than
 * field diagnostics accept.
 */
GKF_API bool gkf_ecc_sram_exceeded(struct gkf_machine *m, unsigned device);

/* The address of an uncorrected SRAM error, and how often it occurred. */
struct gkf_ecc_unique {
	enum gkf_ecc_location location;
	bool parity;
	uint32_t address, count;
};
/* Writes at most cap addresses; returns how many there are. */
GKF_API unsigned gkf_ecc_uniques(const struct gkf_machine *m, unsigned device,
				 struct gkf_ecc_unique *out, unsigned cap);

/* Why a row was remapped or a page retired. */
enum gkf_ecc_cause {
	GKF_ECC_BY_CORRECTED, /* two corrected errors at one address */
	GKF_ECC_BY_UNCORRECTED,
	GKF_ECC_CAUSES
};
struct gkf_ecc_rows {
	unsigned active[GKF_ECC_CAUSES];
	unsigned pending[GKF_ECC_CAUSES]; /* effective at the next reset */
	bool failed; /* no spare row was left for a bad row */
	/*
	 * Number of banks that have all, most, some, one and none of their
	 * spare rows left.
	 */
	unsigned banks[5];
};
/* Returns false if this board does not remap rows. */
GKF_API bool gkf_ecc_rows(const struct gkf_machine *m, unsigned device,
			  struct gkf_ecc_rows *ret_rows);

struct gkf_ecc_page {
	uint64_t address, seconds; /* seconds since 1970 */
	bool pending;
};
/* Whether this board retires pages. */
GKF_API bool gkf_ecc_retires(const struct gkf_machine *m, unsigned device);
/*
 * Writes at most cap of the pages retired for a cause; returns how many there
 * are.
 */
GKF_API unsigned gkf_ecc_pages(const struct gkf_machine *m, unsigned device,
			       enum gkf_ecc_cause cause,
			       struct gkf_ecc_page *out, unsigned cap);

/* Repairs that need a reset. */
struct gkf_ecc_repairs {
	bool channel; /* DRAM: a row could not be remapped */
	bool tpc;     /* SMs have errors, and a part has too many */
};
GKF_API struct gkf_ecc_repairs gkf_ecc_repairs(struct gkf_machine *m,
					       unsigned device);

/*
 * Does what a reset does to memory: pending rows and pages take effect,
 * volatile counts restart at 0. The caller holds the writers' lock.
 */
void gkf_ecc_reset(struct gkf_machine *m, unsigned device);

#endif
