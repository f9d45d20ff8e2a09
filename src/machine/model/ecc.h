/*
 * ecc.h - the book of memory errors: one count for each location and kind, from
 * which every sum is made, and what follows from an error. Boards since
 * Ampere remap rows of their DRAM, older ones retire pages; both take effect
 * at the next reset.
 *
 * The set values "ecc-corrected" and "ecc-uncorrected" stand for the volatile
 * counts of DRAM while they are set; the first change of the book takes them
 * over.
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

/* Corrected errors hit one address, uncorrected ones an address each. */
#define GKF_ECC_COUNT_MAX 1000000000

/* The name of a location, as ctl has it: "l1", "dram"...; NULL past the last.
 */
const char *gkf_ecc_location_name(unsigned location);

/* Is ECC on? */
GKF_API bool gkf_ecc_on(struct gkf_machine *m, unsigned device);

/* Bits of the locations whose errors this board tells. */
GKF_API unsigned gkf_ecc_locations(const struct gkf_machine *m,
				   unsigned device);

/*
 * Lets errors happen: counts them, marks rows or pages, and no more (events
 * and Xids are the caller's). Of DRAM, parity is as good as SEC-DED.
 * GK_ERR_NOT_SUPPORTED when ECC is off or the board does not tell errors of
 * that location, GK_ERR_RANGE above GKF_ECC_COUNT_MAX.
 */
int gkf_ecc_error(struct gkf_machine *m, unsigned device,
		  enum gkf_ecc_kind kind, enum gkf_ecc_location location,
		  uint64_t count);

/* The same of who holds the writers' lock. */
int gkf_ecc_error_locked(struct gkf_machine *m, unsigned device,
			 enum gkf_ecc_kind kind, enum gkf_ecc_location location,
			 uint64_t count);

/* The same at an address of DRAM, in bytes. */
int gkf_ecc_error_at(struct gkf_machine *m, unsigned device,
		     enum gkf_ecc_kind kind, uint64_t address, uint64_t count);

/* The sum over bits of locations and bits of kinds. */
GKF_API uint64_t gkf_ecc_sum(struct gkf_machine *m, unsigned device,
			     enum gkf_ecc_counter counter, unsigned locations,
			     unsigned kinds);

/*
 * Volatile uncorrected errors of SRAM (of SMs and L2) that were in a GPU
 * instance since it was made; each lies in a slice, by its address. 0 where
 * there is no such instance.
 */
GKF_API uint64_t gkf_ecc_of_instance(struct gkf_machine *m, unsigned device,
				     unsigned gi);

/* Puts a counter, all locations and kinds of it, to 0. */
GKF_API int gkf_ecc_clear(struct gkf_machine *m, unsigned device,
			  enum gkf_ecc_counter counter);

/* Have a part's uncorrected errors passed what field diagnosis lets pass? */
GKF_API bool gkf_ecc_sram_exceeded(struct gkf_machine *m, unsigned device);

/* The address of one uncorrected error of SRAM, and how often it was hit. */
struct gkf_ecc_unique {
	enum gkf_ecc_location location;
	bool parity;
	uint32_t address, count;
};
/* Writes at most cap of them; how many there are. */
GKF_API unsigned gkf_ecc_uniques(const struct gkf_machine *m, unsigned device,
				 struct gkf_ecc_unique *out, unsigned cap);

/* Rows that were remapped. By enum gkf_ecc_cause. */
enum gkf_ecc_cause {
	GKF_ECC_BY_CORRECTED, /* two corrected errors at one address */
	GKF_ECC_BY_UNCORRECTED,
	GKF_ECC_CAUSES
};
struct gkf_ecc_rows {
	unsigned active[GKF_ECC_CAUSES];
	unsigned pending[GKF_ECC_CAUSES]; /* until the next reset */
	bool failed; /* a row was bad and no spare row was left */
	/* Banks by the spare rows they have: all, most, some, one, none. */
	unsigned banks[5];
};
/* false: this board remaps no rows. */
GKF_API bool gkf_ecc_rows(const struct gkf_machine *m, unsigned device,
			  struct gkf_ecc_rows *ret_rows);

struct gkf_ecc_page {
	uint64_t address, seconds; /* since 1970 */
	bool pending;
};
/* Does this board retire pages? */
GKF_API bool gkf_ecc_retires(const struct gkf_machine *m, unsigned device);
/* Writes at most cap of the pages retired for a cause; how many there are. */
GKF_API unsigned gkf_ecc_pages(const struct gkf_machine *m, unsigned device,
			       enum gkf_ecc_cause cause,
			       struct gkf_ecc_page *out, unsigned cap);

/* Repairs that wait for a reset. */
struct gkf_ecc_repairs {
	bool channel; /* of DRAM, since a row could not be remapped */
	bool tpc;     /* since the SMs' errors passed the threshold */
};
GKF_API struct gkf_ecc_repairs gkf_ecc_repairs(struct gkf_machine *m,
					       unsigned device);

/*
 * Does to memory what a reset does: rows and pages that wait take effect,
 * volatile counts begin anew. The caller holds the writers' lock.
 */
void gkf_ecc_reset(struct gkf_machine *m, unsigned device);

#endif
