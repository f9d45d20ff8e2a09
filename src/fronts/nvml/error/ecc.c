/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ecc.c - reports the ECC mode and ECC errors. Each number is a sum over the
 * error counts of model/ecc.h.
 */
#include "fronts/nvml/error/ecc.h"
#include "fronts/nvml/mig/mig_handle.h"
#include "fronts/nvml/permission.h"
#include "fronts/nvml/value.h"
#include "machine/file/board.h"
#include "machine/file/ecc_state.h"
#include "machine/file/numbers.h"
#include "machine/file/value.h"
#include "machine/model/ecc.h"

static unsigned kinds_of(nvmlMemoryErrorType_t type)
{
	return type == NVML_MEMORY_ERROR_TYPE_CORRECTED
		   ? GKF_ECC_BIT(GKF_ECC_CORRECTED)
		   : GKF_ECC_UNCORRECTED;
}

static uint64_t sum_errors(const struct call *c, enum gkf_ecc_counter counter,
			   unsigned places, unsigned kinds)
{
	return gkf_ecc_sum(c->machine, c->index, counter, places, kinds);
}

static bool ecc_is_on(const struct call *c)
{
	return gkf_ecc_on(c->machine, c->index);
}

nvmlReturn_t ecc_count(const struct call *c, nvmlMemoryErrorType_t type,
		       nvmlEccCounterType_t counter, unsigned places,
		       uint64_t *ret_count)
{
	if (!ecc_is_on(c))
		return NVML_ERROR_NOT_SUPPORTED;
	*ret_count = sum_errors(
	    c,
	    counter == NVML_VOLATILE_ECC ? GKF_ECC_VOLATILE : GKF_ECC_AGGREGATE,
	    places, kinds_of(type));
	return NVML_SUCCESS;
}

/*
 * Boards since Turing report DRAM and SRAM errors separately. Older boards
 * report caches, register file and DRAM, and the uncorrected errors of the
 * convergence barrier unit (CBU).
 */
unsigned ecc_places(const struct call *c, nvmlMemoryErrorType_t type,
		    nvmlMemoryLocation_t location)
{
	static const unsigned old[NVML_MEMORY_LOCATION_COUNT] = {
	    [NVML_MEMORY_LOCATION_L1_CACHE] = GKF_ECC_BIT(GKF_ECC_L1),
	    [NVML_MEMORY_LOCATION_L2_CACHE] = GKF_ECC_BIT(GKF_ECC_L2),
	    [NVML_MEMORY_LOCATION_DRAM] = GKF_ECC_BIT(GKF_ECC_DRAM),
	    [NVML_MEMORY_LOCATION_REGISTER_FILE] =
		GKF_ECC_BIT(GKF_ECC_REGISTERS),
	    [NVML_MEMORY_LOCATION_CBU] = GKF_ECC_BIT(GKF_ECC_CBU),
	};
	static const unsigned modern[NVML_MEMORY_LOCATION_COUNT] = {
	    [NVML_MEMORY_LOCATION_DRAM] = GKF_ECC_BIT(GKF_ECC_DRAM),
	    [NVML_MEMORY_LOCATION_SRAM] = GKF_ECC_SRAM,
	};

	GK_ASSERT((unsigned)location < NVML_MEMORY_LOCATION_COUNT);
	if (gkf_ecc_locations(c->machine, c->index) == GKF_ECC_ALL_LOCATIONS)
		return modern[location];
	if (location == NVML_MEMORY_LOCATION_CBU &&
	    type == NVML_MEMORY_ERROR_TYPE_CORRECTED)
		return 0;
	return old[location];
}

static bool are_types(nvmlMemoryErrorType_t error, nvmlEccCounterType_t counter)
{
	return (unsigned)error < NVML_MEMORY_ERROR_TYPE_COUNT &&
	       (unsigned)counter < NVML_ECC_COUNTER_TYPE_COUNT;
}

nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device,
					 nvmlMemoryErrorType_t errorType,
					 nvmlEccCounterType_t counterType,
					 unsigned long long *eccCounts)
{
	uint64_t n;
	nvmlReturn_t r;

	ENTER_DEVICE(nvmlDeviceGetTotalEccErrors, device,
		     eccCounts && are_types(errorType, counterType));
	r = ecc_count(&c, errorType, counterType, GKF_ECC_ALL_LOCATIONS, &n);
	if (!r)
		*eccCounts = n;
	return r;
}

/* For MIG devices, NVML counts only the errors of the GPU instance, at these
 * locations. */
static nvmlReturn_t mig_errors(const struct call *c, nvmlMemoryErrorType_t type,
			       nvmlEccCounterType_t counter,
			       nvmlMemoryLocation_t location,
			       unsigned long long *ret_count)
{
	uint64_t n;
	nvmlReturn_t r;

	if (type != NVML_MEMORY_ERROR_TYPE_UNCORRECTED ||
	    counter != NVML_VOLATILE_ECC ||
	    location != NVML_MEMORY_LOCATION_SRAM || !ecc_is_on(c))
		return NVML_ERROR_NOT_SUPPORTED;
	n = gkf_ecc_of_instance(c->machine, c->index,
				GKF_INSTANCE_GI(c->instance));
	r = mig_confirm(c);
	if (!r)
		*ret_count = n;
	return r;
}

nvmlReturn_t nvmlDeviceGetMemoryErrorCounter(nvmlDevice_t device,
					     nvmlMemoryErrorType_t errorType,
					     nvmlEccCounterType_t counterType,
					     nvmlMemoryLocation_t locationType,
					     unsigned long long *count)
{
	unsigned places;
	uint64_t n;
	nvmlReturn_t r;

	ENTER_DEVICE(nvmlDeviceGetMemoryErrorCounter, device,
		     count && are_types(errorType, counterType) &&
			 (unsigned)locationType < NVML_MEMORY_LOCATION_COUNT);
	if (c.instance != GKF_NO_INSTANCE)
		return mig_errors(&c, errorType, counterType, locationType,
				  count);
	places = ecc_places(&c, errorType, locationType);
	if (!places)
		return NVML_ERROR_NOT_SUPPORTED;
	r = ecc_count(&c, errorType, counterType, places, &n);
	if (!r)
		*count = n;
	return r;
}

/* A location that the board does not report separately is 0, as documented. */
nvmlReturn_t nvmlDeviceGetDetailedEccErrors(nvmlDevice_t device,
					    nvmlMemoryErrorType_t errorType,
					    nvmlEccCounterType_t counterType,
					    nvmlEccErrorCounts_t *eccCounts)
{
	static const nvmlMemoryLocation_t locations[] = {
	    NVML_MEMORY_LOCATION_L1_CACHE, NVML_MEMORY_LOCATION_L2_CACHE,
	    NVML_MEMORY_LOCATION_DRAM, NVML_MEMORY_LOCATION_REGISTER_FILE};
	uint64_t n[4];

	ENTER_DEVICE(nvmlDeviceGetDetailedEccErrors, device,
		     eccCounts && are_types(errorType, counterType));
	for (int i = 0; i < 4; i++)
		if (ecc_count(&c, errorType, counterType,
			      ecc_places(&c, errorType, locations[i]), &n[i]))
			return NVML_ERROR_NOT_SUPPORTED;
	*eccCounts = (nvmlEccErrorCounts_t){.l1Cache = n[0],
					    .l2Cache = n[1],
					    .deviceMemory = n[2],
					    .registerFile = n[3]};
	return NVML_SUCCESS;
}

/* SRAM errors of one kind. */
static uint64_t sum_sram_errors(const struct call *c,
				enum gkf_ecc_counter counter,
				enum gkf_ecc_kind kind)
{
	return sum_errors(c, counter, GKF_ECC_SRAM, GKF_ECC_BIT(kind));
}

static uint64_t errors_at_places(const struct call *c, unsigned places)
{
	return sum_errors(c, GKF_ECC_AGGREGATE, places, GKF_ECC_UNCORRECTED);
}

/*
 * Ampere and newer boards support this. A GeForce RTX 4080 SUPER, whose memory
 * has no ECC, also reports the SRAM status, as zeros (capture of nvidia-smi
 * 595.71.05).
 */
static bool has_sram_status(const struct call *c)
{
	bool has_ecc = c->board->profile.ecc >= 0;

	return c->board->profile.compute_major >= 8 &&
	       (!has_ecc || ecc_is_on(c));
}

nvmlReturn_t nvmlDeviceGetSramEccErrorStatus(nvmlDevice_t device,
					     nvmlEccSramErrorStatus_t *status)
{
	ENTER_DEVICE(nvmlDeviceGetSramEccErrorStatus, device, status != NULL);
	if (!TAKES(status->version, nvmlEccSramErrorStatus_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (!has_sram_status(&c))
		return NVML_ERROR_NOT_SUPPORTED;
	*status = (nvmlEccSramErrorStatus_t){
	    .version = status->version,
	    .aggregateUncParity =
		sum_sram_errors(&c, GKF_ECC_AGGREGATE, GKF_ECC_PARITY),
	    .aggregateUncSecDed =
		sum_sram_errors(&c, GKF_ECC_AGGREGATE, GKF_ECC_SECDED),
	    .aggregateCor =
		sum_sram_errors(&c, GKF_ECC_AGGREGATE, GKF_ECC_CORRECTED),
	    .volatileUncParity =
		sum_sram_errors(&c, GKF_ECC_VOLATILE, GKF_ECC_PARITY),
	    .volatileUncSecDed =
		sum_sram_errors(&c, GKF_ECC_VOLATILE, GKF_ECC_SECDED),
	    .volatileCor =
		sum_sram_errors(&c, GKF_ECC_VOLATILE, GKF_ECC_CORRECTED),
	    .aggregateUncBucketL2 =
		errors_at_places(&c, GKF_ECC_BIT(GKF_ECC_L2)),
	    .aggregateUncBucketSm = errors_at_places(&c, GKF_ECC_SM),
	    .aggregateUncBucketPcie =
		errors_at_places(&c, GKF_ECC_BIT(GKF_ECC_PCIE)),
	    .aggregateUncBucketMcu =
		errors_at_places(&c, GKF_ECC_BIT(GKF_ECC_MCU)),
	    .aggregateUncBucketOther =
		errors_at_places(&c, GKF_ECC_BIT(GKF_ECC_OTHER)),
	    .bThresholdExceeded = gkf_ecc_sram_exceeded(c.machine, c.index),
	};
	return NVML_SUCCESS;
}

/* Unit numbers are internal to a driver; ours are those of enum
 * gkf_ecc_location. */
static void write_uniques(const struct gkf_ecc_unique *from, unsigned n,
			  nvmlEccSramUniqueUncorrectedErrorEntry_v1_t *to)
{
	for (unsigned i = 0; i < n; i++)
		to[i] = (nvmlEccSramUniqueUncorrectedErrorEntry_v1_t){
		    .unit = from[i].location,
		    .address = from[i].address,
		    .isParity = from[i].parity,
		    .count = from[i].count,
		};
}

nvmlReturn_t nvmlDeviceGetSramUniqueUncorrectedEccErrorCounts(
    nvmlDevice_t device, nvmlEccSramUniqueUncorrectedErrorCounts_t *errorCounts)
{
	struct gkf_ecc_unique found[GKF_ECC_UNIQUE_MAX];
	unsigned n, room;

	ENTER_DEVICE(nvmlDeviceGetSramUniqueUncorrectedEccErrorCounts, device,
		     errorCounts != NULL);
	if (!TAKES(errorCounts->version,
		   nvmlEccSramUniqueUncorrectedErrorCounts_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (c.board->profile.compute_major < 10 || !ecc_is_on(&c))
		return NVML_ERROR_NOT_SUPPORTED;
	n = gkf_ecc_uniques(c.machine, c.index, found, GKF_ECC_UNIQUE_MAX);
	room = errorCounts->entryCount;
	errorCounts->entryCount = n;
	if (!errorCounts->entries)
		return NVML_SUCCESS;
	if (room < n)
		return NVML_ERROR_INSUFFICIENT_SIZE;
	write_uniques(found, n, errorCounts->entries);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceClearEccErrorCounts(nvmlDevice_t device,
					   nvmlEccCounterType_t counterType)
{
	ENTER_DEVICE(nvmlDeviceClearEccErrorCounts, device,
		     (unsigned)counterType < NVML_ECC_COUNTER_TYPE_COUNT);
	if (!ecc_is_on(&c))
		return NVML_ERROR_NOT_SUPPORTED;
	if (!front_may_change(&c))
		return NVML_ERROR_NO_PERMISSION;
	return front_error(gkf_ecc_clear(c.machine, c.index,
					 counterType == NVML_VOLATILE_ECC
					     ? GKF_ECC_VOLATILE
					     : GKF_ECC_AGGREGATE));
}

nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t device,
				  nvmlEnableState_t *current,
				  nvmlEnableState_t *pending)
{
	int64_t now, then;

	ENTER_DEVICE(nvmlDeviceGetEccMode, device, current && pending);
	if (!read_device_value(&c, GKF_V_ECC_MODE, &now) ||
	    !read_device_value(&c, GKF_V_ECC_PENDING, &then))
		return NVML_ERROR_NOT_SUPPORTED;
	*current = (nvmlEnableState_t)now;
	*pending = (nvmlEnableState_t)then;
	return NVML_SUCCESS;
}

/* Takes effect at the next reset. */
nvmlReturn_t nvmlDeviceSetEccMode(nvmlDevice_t device, nvmlEnableState_t ecc)
{
	ENTER_DEVICE(nvmlDeviceSetEccMode, device,
		     (unsigned)ecc <= NVML_FEATURE_ENABLED);
	return front_set(&c, GKF_V_ECC_PENDING, ecc);
}
