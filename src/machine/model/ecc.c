/* SPDX-License-Identifier: Apache-2.0 */
/* ecc.c - counts memory errors and handles new ones; see ecc.h. */
#include "machine/model/ecc.h"
#include "abi/nvml/nvml_abi.h"
#include "base/assert.h"
#include "base/err.h"
#include "base/mix.h"
#include "machine/file/board.h"
#include "machine/file/device.h"
#include "machine/file/ecc_state.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/value.h"
#include "machine/model/ecc_repair.h"
#include "machine/model/mig/mig.h"
#include "machine/model/model.h"
#include "machine/store/above.h"
#include "machine/store/event.h"
#include "machine/store/view.h"
#include "machine/store/writers_lock.h"

#include <stdlib.h>

/*
 * The most uncorrected SRAM errors of a part that field diagnostics accept. The
 * number is our own: NVIDIA does not publish one.
 */
#define SRAM_THRESHOLD 10

/* Locations that boards before Turing report; later boards report all. */
#define OLD_PLACES                                                             \
	(GKF_ECC_BIT(GKF_ECC_L1) | GKF_ECC_BIT(GKF_ECC_L2) |                   \
	 GKF_ECC_BIT(GKF_ECC_DRAM) | GKF_ECC_BIT(GKF_ECC_REGISTERS) |          \
	 GKF_ECC_BIT(GKF_ECC_CBU))

/* Volatile DRAM counts that can be set, and the values that set them. */
static const struct {
	enum gkf_ecc_kind kind;
	enum gkf_value value;
} settable[] = {
    {GKF_ECC_CORRECTED, GKF_V_ECC_CORRECTED},
    {GKF_ECC_SECDED, GKF_V_ECC_UNCORRECTED},
};
#define SETTABLE (sizeof settable / sizeof *settable)

const char *gkf_ecc_location_name(unsigned location)
{
	static const char *const names[GKF_ECC_LOCATIONS] = {
	    [GKF_ECC_L1] = "l1",
	    [GKF_ECC_L2] = "l2",
	    [GKF_ECC_DRAM] = "dram",
	    [GKF_ECC_REGISTERS] = "register-file",
	    [GKF_ECC_TEXTURE] = "texture",
	    [GKF_ECC_SHARED] = "shared",
	    [GKF_ECC_CBU] = "cbu",
	    [GKF_ECC_MCU] = "mcu",
	    [GKF_ECC_PCIE] = "pcie",
	    [GKF_ECC_OTHER] = "other",
	};

	return location < GKF_ECC_LOCATIONS ? names[location] : NULL;
}

static const struct gkf_profile *board_profile(const struct gkf_machine *m,
					       unsigned device)
{
	GK_ASSERT(device < m->device_count);
	return &m->boards[device].profile;
}

bool gkf_ecc_on(struct gkf_machine *m, unsigned device)
{
	int64_t on;

	return gkf_value_get(m, device, GKF_V_ECC_MODE, &on) && on;
}

/* Turing is 7.5. */
unsigned gkf_ecc_locations(const struct gkf_machine *m, unsigned device)
{
	const struct gkf_profile *p = board_profile(m, device);

	if (p->ecc < 0)
		return 0;
	return p->compute_major * 10 + p->compute_minor < 75
		   ? OLD_PLACES
		   : GKF_ECC_ALL_LOCATIONS;
}

static uint64_t load_counter(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static uint64_t count_of_errors(const struct gkf_device *dev,
				enum gkf_ecc_counter counter, unsigned location,
				unsigned kind)
{
	return load_counter(&dev->ecc.counts[counter][location][kind]);
}

/* Reads a volatile count that was set; false if it was not. */
static bool set_count(const struct gkf_device *dev, enum gkf_value value,
		      uint64_t *ret_count)
{
	int64_t set =
	    atomic_load_explicit(&dev->set[value], memory_order_relaxed);

	if (set < 0)
		return false;
	*ret_count = (uint64_t)set;
	return true;
}

/*
 * The sum of what the set values add to the recorded counts, modulo 2^64. It is
 * negative for volatile counts that were set lower than recorded, but never for
 * aggregate counts.
 */
static uint64_t set_more(const struct gkf_device *dev,
			 enum gkf_ecc_counter counter, unsigned kinds)
{
	uint64_t more = 0, set;

	for (size_t i = 0; i < SETTABLE; i++) {
		uint64_t d;

		if (!(kinds & GKF_ECC_BIT(settable[i].kind)) ||
		    !set_count(dev, settable[i].value, &set))
			continue;
		d = set - count_of_errors(dev, GKF_ECC_VOLATILE, GKF_ECC_DRAM,
					  settable[i].kind);
		if (counter == GKF_ECC_VOLATILE || (int64_t)d > 0)
			more += d;
	}
	return more;
}

uint64_t gkf_ecc_sum(struct gkf_machine *m, unsigned device,
		     enum gkf_ecc_counter counter, unsigned locations,
		     unsigned kinds)
{
	const struct gkf_device *dev = &m->file->device[device];
	uint64_t sum = 0;

	GK_ASSERT((unsigned)counter < GKF_ECC_COUNTERS);
	for (unsigned p = 0; p < GKF_ECC_LOCATIONS; p++)
		for (unsigned k = 0; k < GKF_ECC_KINDS; k++)
			if (locations & GKF_ECC_BIT(p) &&
			    kinds & GKF_ECC_BIT(k))
				sum += count_of_errors(dev, counter, p, k);
	if (locations & GKF_ECC_BIT(GKF_ECC_DRAM))
		sum += set_more(dev, counter, kinds);
	return sum;
}

/* Turns set counts into recorded ones. The caller holds the writers' lock. */
static void fold_set_counts(struct gkf_machine *m, unsigned device)
{
	struct gkf_device *dev = &m->file->device[device];
	uint64_t set;

	GK_ASSERT(gkf_lock_held(m));
	for (size_t i = 0; i < SETTABLE; i++) {
		unsigned kind = settable[i].kind;
		uint64_t old =
		    count_of_errors(dev, GKF_ECC_VOLATILE, GKF_ECC_DRAM, kind);

		if (!set_count(dev, settable[i].value, &set))
			continue;
		if (set > old)
			atomic_fetch_add(&dev->ecc.counts[GKF_ECC_AGGREGATE]
							 [GKF_ECC_DRAM][kind],
					 set - old);
		atomic_store(
		    &dev->ecc.counts[GKF_ECC_VOLATILE][GKF_ECC_DRAM][kind],
		    set);
		atomic_store(&dev->set[settable[i].value], GKF_UNSET);
	}
}

/* A pseudo-random address in the board's memory for the next error. */
static uint64_t next_address(struct gkf_machine *m, unsigned device)
{
	uint64_t number =
	    atomic_fetch_add(&m->file->device[device].ecc.number, 1);
	uint64_t size = (uint64_t)board_profile(m, device)->memory_mib << 20;

	return gkf_mix(gkf_mix(m->file->seed + device) + number) % size;
}

/* The SRAM that is divided among GPU instances. */
#define SPLIT_PLACES (GKF_ECC_SM | GKF_ECC_BIT(GKF_ECC_L2))

static uint64_t of_life(uint64_t word, const struct gkf_mig_gi *gi)
{
	return word >> 32 == gi->life ? (uint32_t)word : 0;
}

uint64_t gkf_ecc_of_instance(struct gkf_machine *m, unsigned device,
			     unsigned gi_id)
{
	struct gkf_mig_gi gi;

	return gkf_mig_gi_read(m, device, gi_id, &gi)
		   ? 0
		   : of_life(load_counter(
				 &m->file->device[device].ecc.instance[gi_id]),
			     &gi);
}

/* Counts errors in the GPU instance whose memory slices include an address. */
static void note_instance(struct gkf_machine *m, unsigned device,
			  uint64_t address, uint64_t count)
{
	uint64_t size = (uint64_t)board_profile(m, device)->memory_mib << 20;
	uint64_t slice = address * GKF_MIG_SLICES / size;
	struct gkf_mig_gi gi;

	for (unsigned id = 0; id < GKF_MIG_GIS; id++) {
		_Atomic uint64_t *word =
		    &m->file->device[device].ecc.instance[id];
		uint64_t sum;

		if (gkf_mig_gi_read(m, device, id, &gi) ||
		    slice - gi.start >= gi.profile->memory_slices)
			continue;
		sum = of_life(load_counter(word), &gi) + count;
		if (sum > UINT32_MAX)
			sum = UINT32_MAX;
		atomic_store(word, (uint64_t)gi.life << 32 | sum);
	}
}

struct error {
	enum gkf_ecc_kind kind;
	enum gkf_ecc_location location;
	uint64_t count;
	bool has_address;
	uint64_t address;
};

static void happen_in_sram(struct gkf_machine *m, unsigned device,
			   const struct error *e)
{
	uint64_t address = next_address(m, device);

	gkf_ecc_count_unique(m, device, e->location, e->kind, e->count,
			     address);
	if (e->kind != GKF_ECC_CORRECTED &&
	    SPLIT_PLACES & GKF_ECC_BIT(e->location))
		note_instance(m, device, address, e->count);
}

/* Records an error. The caller holds the writers' lock. */
static void book_error(struct gkf_machine *m, unsigned device,
		       const struct error *e)
{
	struct gkf_device *dev = &m->file->device[device];
	uint64_t hits = e->kind == GKF_ECC_CORRECTED ? e->count : 1;
	/*
	 * All corrected errors hit one row; each uncorrected error hits another
	 * row. Errors beyond the number of rows make no difference.
	 */
	uint64_t locations = e->count / hits;

	GK_ASSERT(gkf_lock_held(m));
	fold_set_counts(m, device);
	/*
	 * The aggregate count grows first, so that it is never below the
	 * volatile one.
	 */
	atomic_fetch_add(
	    &dev->ecc.counts[GKF_ECC_AGGREGATE][e->location][e->kind],
	    e->count);
	atomic_fetch_add(
	    &dev->ecc.counts[GKF_ECC_VOLATILE][e->location][e->kind], e->count);
	if (e->location != GKF_ECC_DRAM) {
		happen_in_sram(m, device, e);
		return;
	}
	for (uint64_t i = 0; i < locations && i < GKF_ECC_ROWS_MAX; i++)
		gkf_ecc_repair(m, device, e->kind, hits,
			       e->has_address ? e->address
					      : next_address(m, device));
}

/* The caller holds the writers' lock. */
static int let_happen(struct gkf_machine *m, unsigned device, struct error *e)
{
	int advice;

	GK_ASSERT(gkf_lock_held(m));
	if ((unsigned)e->kind >= GKF_ECC_KINDS ||
	    (unsigned)e->location >= GKF_ECC_LOCATIONS || !e->count ||
	    e->count > GKF_ECC_COUNT_MAX)
		return GK_ERR_RANGE;
	if (!gkf_ecc_on(m, device) ||
	    !(gkf_ecc_locations(m, device) & GKF_ECC_BIT(e->location)))
		return GK_ERR_NOT_SUPPORTED;
	if (e->location == GKF_ECC_DRAM && e->kind == GKF_ECC_PARITY)
		e->kind = GKF_ECC_SECDED;
	advice = m->above->fault_recovery(m, device);
	book_error(m, device, e);
	gkf_event_push(m, device,
		       e->kind == GKF_ECC_CORRECTED
			   ? nvmlEventTypeSingleBitEccError
			   : nvmlEventTypeDoubleBitEccError,
		       0, GKF_NO_INSTANCE);
	m->above->fault_tell_recovery(m, device, advice);
	return 0;
}

static int let_happen_alone(struct gkf_machine *m, unsigned device,
			    struct error *e)
{
	int r = gkf_lock(m);

	if (r)
		return r;
	r = let_happen(m, device, e);
	gkf_unlock(m);
	return r;
}

int gkf_ecc_error_locked(struct gkf_machine *m, unsigned device,
			 enum gkf_ecc_kind kind, enum gkf_ecc_location location,
			 uint64_t count)
{
	struct error e = {.kind = kind, .location = location, .count = count};

	GK_ASSERT(gkf_lock_held(m));
	return let_happen(m, device, &e);
}

int gkf_ecc_error(struct gkf_machine *m, unsigned device,
		  enum gkf_ecc_kind kind, enum gkf_ecc_location location,
		  uint64_t count)
{
	struct error e = {.kind = kind, .location = location, .count = count};

	return let_happen_alone(m, device, &e);
}

int gkf_ecc_error_at(struct gkf_machine *m, unsigned device,
		     enum gkf_ecc_kind kind, uint64_t address, uint64_t count)
{
	struct error e = {.kind = kind,
			  .location = GKF_ECC_DRAM,
			  .count = count,
			  .has_address = true,
			  .address = address};

	if (address >> 20 >= (uint64_t)board_profile(m, device)->memory_mib)
		return GK_ERR_RANGE;
	return let_happen_alone(m, device, &e);
}

static void forget_counts(struct gkf_machine *m, unsigned device,
			  enum gkf_ecc_counter counter)
{
	struct gkf_device *dev = &m->file->device[device];

	fold_set_counts(m, device);
	for (unsigned p = 0; p < GKF_ECC_LOCATIONS; p++)
		for (unsigned k = 0; k < GKF_ECC_KINDS; k++)
			atomic_store(&dev->ecc.counts[counter][p][k], 0);
	for (unsigned i = 0;
	     counter == GKF_ECC_AGGREGATE && i < GKF_ECC_UNIQUE_MAX; i++)
		atomic_store(&dev->ecc.unique[i], 0);
	for (unsigned i = 0; counter == GKF_ECC_VOLATILE && i < GKF_MIG_GIS;
	     i++)
		atomic_store(&dev->ecc.instance[i], 0);
}

int gkf_ecc_clear(struct gkf_machine *m, unsigned device,
		  enum gkf_ecc_counter counter)
{
	int r;

	if (!gkf_ecc_on(m, device))
		return GK_ERR_NOT_SUPPORTED;
	r = gkf_lock(m);
	if (r)
		return r;
	forget_counts(m, device, counter);
	gkf_unlock(m);
	return 0;
}

void gkf_ecc_reset(struct gkf_machine *m, unsigned device)
{
	GK_ASSERT(gkf_lock_held(m));
	forget_counts(m, device, GKF_ECC_VOLATILE);
	gkf_ecc_take_effect(m, device);
}

bool gkf_ecc_sram_exceeded(struct gkf_machine *m, unsigned device)
{
	static const unsigned parts[] = {
	    GKF_ECC_SM, GKF_ECC_BIT(GKF_ECC_L2), GKF_ECC_BIT(GKF_ECC_MCU),
	    GKF_ECC_BIT(GKF_ECC_PCIE), GKF_ECC_BIT(GKF_ECC_OTHER)};

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (gkf_ecc_sum(m, device, GKF_ECC_AGGREGATE, parts[i],
				GKF_ECC_UNCORRECTED) > SRAM_THRESHOLD)
			return true;
	return false;
}

struct gkf_ecc_repairs gkf_ecc_repairs(struct gkf_machine *m, unsigned device)
{
	return (struct gkf_ecc_repairs){
	    .channel = load_counter(&m->file->device[device].ecc.channel) != 0,
	    .tpc = gkf_ecc_sram_exceeded(m, device) &&
		   gkf_ecc_sum(m, device, GKF_ECC_VOLATILE, GKF_ECC_SM,
			       GKF_ECC_UNCORRECTED) > 0,
	};
}
