/* SPDX-License-Identifier: Apache-2.0 */
/* collect.c - reads metrics by a table with a row for each NVML call. */
#include "core/read/collect.h"
#include "base/array.h"
#include "base/assert.h"

#include "core/read/collect_board.h"
#include "core/read/collect_row.h"
#include "core/read/host.h"

#define GET    GK_ROW_GET
#define GET_OF GK_ROW_GET_OF
#include "core/read/collect.def"
#undef GET
#undef GET_OF

static nvmlReturn_t read_utilization(const struct gk_nvml *nvml,
				     nvmlDevice_t dev,
				     int64_t out[GK_ROW_VALUES])
{
	nvmlUtilization_t u = {0};
	nvmlReturn_t r =
	    GK_NVML_CALL(nvml, nvmlDeviceGetUtilizationRates, dev, &u);

	out[0] = u.gpu;
	out[1] = u.memory;
	return r;
}

/* Reads an engine's utilisation; the sampling period is not used. */
#define ENGINE(name, function)                                                 \
	static nvmlReturn_t name(const struct gk_nvml *nvml, nvmlDevice_t dev, \
				 int64_t out[GK_ROW_VALUES])                   \
	{                                                                      \
		unsigned int busy = 0, period_us;                              \
		nvmlReturn_t r =                                               \
		    GK_NVML_CALL(nvml, function, dev, &busy, &period_us);      \
                                                                               \
		out[0] = busy;                                                 \
		return r;                                                      \
	}

ENGINE(read_encoder, nvmlDeviceGetEncoderUtilization)
ENGINE(read_decoder, nvmlDeviceGetDecoderUtilization)
ENGINE(read_jpeg, nvmlDeviceGetJpgUtilization)
ENGINE(read_optical_flow, nvmlDeviceGetOfaUtilization)

/* Whether the answers mean that a GPU has no memory of its own. */
static bool has_no_memory(nvmlReturn_t newer, nvmlReturn_t older)
{
	return older == NVML_ERROR_NOT_SUPPORTED &&
	       (newer == NVML_ERROR_NOT_SUPPORTED ||
		newer == NVML_ERROR_FUNCTION_NOT_FOUND ||
		newer == NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
}

/* Reads the host's memory for a GPU that uses it (GB10, Jetson). */
static nvmlReturn_t read_host_memory(int64_t out[GK_ROW_VALUES])
{
	int64_t total, available;

	if (!gk_host_memory(&total, &available))
		return NVML_ERROR_NOT_SUPPORTED;
	out[0] = total - available;
	out[1] = available;
	out[2] = GK_ROW_MISSING;
	out[3] = total;
	out[4] = 1;
	return NVML_SUCCESS;
}

/* The older call counts the driver's reserved memory as used. */
static nvmlReturn_t read_memory_row(const struct gk_nvml *nvml,
				    nvmlDevice_t dev,
				    int64_t out[GK_ROW_VALUES])
{
	nvmlMemory_v2_t m = {.version = nvmlMemory_v2};
	nvmlMemory_t old = {0};
	nvmlReturn_t r, newer;

	newer = GK_NVML_CALL(nvml, nvmlDeviceGetMemoryInfo_v2, dev, &m);
	out[0] = GK_ROW_NUMBER(m.used, 1);
	out[1] = GK_ROW_NUMBER(m.free, 1);
	out[2] = GK_ROW_NUMBER(m.reserved, 1);
	out[3] = GK_ROW_NUMBER(m.total, 1);
	out[4] = GK_ROW_UNTOLD;
	if (!newer && !m.total)
		return read_host_memory(out);
	if (!newer || gk_nvml_is_lost(newer))
		return newer;
	r = GK_NVML_CALL(nvml, nvmlDeviceGetMemoryInfo, dev, &old);
	out[0] = GK_ROW_NUMBER(old.used, 1);
	out[1] = GK_ROW_NUMBER(old.free, 1);
	out[2] = GK_ROW_MISSING;
	out[3] = GK_ROW_NUMBER(old.total, 1);
	return has_no_memory(newer, r) || (!r && !old.total)
		   ? read_host_memory(out)
		   : r;
}

static nvmlReturn_t read_temperature(const struct gk_nvml *nvml,
				     nvmlDevice_t dev,
				     int64_t out[GK_ROW_VALUES])
{
	nvmlTemperature_t t = {.version = nvmlTemperature_v1,
			       .sensorType = NVML_TEMPERATURE_GPU};
	unsigned int old = 0;
	nvmlReturn_t r = GK_NVML_CALL(nvml, nvmlDeviceGetTemperatureV, dev, &t);

	out[0] = t.temperature;
	if (!r || gk_nvml_is_lost(r))
		return r;
	r = GK_NVML_CALL(nvml, nvmlDeviceGetTemperature, dev,
			 NVML_TEMPERATURE_GPU, &old);
	out[0] = old;
	return r;
}

static nvmlReturn_t read_pstate(const struct gk_nvml *nvml, nvmlDevice_t dev,
				int64_t out[GK_ROW_VALUES])
{
	nvmlPstates_t pstate = NVML_PSTATE_UNKNOWN;
	nvmlReturn_t r =
	    GK_NVML_CALL(nvml, nvmlDeviceGetPerformanceState, dev, &pstate);

	out[0] =
	    pstate == NVML_PSTATE_UNKNOWN ? GK_ROW_MISSING : (int64_t)pstate;
	return r;
}

/* Drivers before 535 call the event reasons "throttle reasons". */
static nvmlReturn_t read_event_reasons(const struct gk_nvml *nvml,
				       nvmlDevice_t dev,
				       int64_t out[GK_ROW_VALUES])
{
	unsigned long long mask = 0;
	nvmlReturn_t r;

	if (nvml->nvmlDeviceGetCurrentClocksEventReasons)
		r = GK_NVML_CALL(nvml, nvmlDeviceGetCurrentClocksEventReasons,
				 dev, &mask);
	else
		r = GK_NVML_CALL(nvml,
				 nvmlDeviceGetCurrentClocksThrottleReasons, dev,
				 &mask);
	out[0] = GK_ROW_NUMBER(mask, 1);
	return r;
}

static nvmlReturn_t read_power_constraints(const struct gk_nvml *nvml,
					   nvmlDevice_t dev,
					   int64_t out[GK_ROW_VALUES])
{
	unsigned int low = 0, high = 0;
	nvmlReturn_t r =
	    GK_NVML_CALL(nvml, nvmlDeviceGetPowerManagementLimitConstraints,
			 dev, &low, &high);

	out[0] = low;
	out[1] = high;
	return r;
}

static nvmlReturn_t read_mig_mode(const struct gk_nvml *nvml, nvmlDevice_t dev,
				  int64_t out[GK_ROW_VALUES])
{
	unsigned int current = 0, pending;
	nvmlReturn_t r =
	    GK_NVML_CALL(nvml, nvmlDeviceGetMigMode, dev, &current, &pending);

	out[0] = current;
	return r;
}

static nvmlReturn_t read_ecc_mode(const struct gk_nvml *nvml, nvmlDevice_t dev,
				  int64_t out[GK_ROW_VALUES])
{
	nvmlEnableState_t current = NVML_FEATURE_DISABLED, pending;
	nvmlReturn_t r =
	    GK_NVML_CALL(nvml, nvmlDeviceGetEccMode, dev, &current, &pending);

	out[0] = (int64_t)current;
	return r;
}

static nvmlReturn_t read_ecc_errors(const struct gk_nvml *nvml,
				    nvmlDevice_t dev,
				    nvmlMemoryErrorType_t type, int64_t *out)
{
	unsigned long long count = 0;
	nvmlReturn_t r = GK_NVML_CALL(nvml, nvmlDeviceGetTotalEccErrors, dev,
				      type, NVML_VOLATILE_ECC, &count);

	*out = GK_ROW_NUMBER(count, 1);
	return r;
}

static nvmlReturn_t read_ecc_corrected(const struct gk_nvml *nvml,
				       nvmlDevice_t dev,
				       int64_t out[GK_ROW_VALUES])
{
	return read_ecc_errors(nvml, dev, NVML_MEMORY_ERROR_TYPE_CORRECTED,
			       out);
}

static nvmlReturn_t read_ecc_uncorrected(const struct gk_nvml *nvml,
					 nvmlDevice_t dev,
					 int64_t out[GK_ROW_VALUES])
{
	return read_ecc_errors(nvml, dev, NVML_MEMORY_ERROR_TYPE_UNCORRECTED,
			       out);
}

static nvmlReturn_t read_remapped_rows(const struct gk_nvml *nvml,
				       nvmlDevice_t dev,
				       int64_t out[GK_ROW_VALUES])
{
	unsigned int rows[4] = {0};
	nvmlReturn_t r = GK_NVML_CALL(nvml, nvmlDeviceGetRemappedRows, dev,
				      &rows[0], &rows[1], &rows[2], &rows[3]);

	for (int i = 0; i < 4; i++)
		out[i] = rows[i];
	return r;
}

/* Reads one field value, which has a return code of its own. A driver that is
 * older than the field returns INVALID_ARGUMENT for it. */
static nvmlReturn_t read_field(const struct gk_nvml *nvml, nvmlDevice_t dev,
			       unsigned id, int64_t out[GK_ROW_VALUES])
{
	nvmlFieldValue_t field = {.fieldId = id};
	nvmlReturn_t r =
	    GK_NVML_CALL(nvml, nvmlDeviceGetFieldValues, dev, 1, &field);

	struct gk_value value = gk_field_value(&field, r, 1);

	out[0] = value.v;
	r = r ? r : field.nvmlReturn;
	return value.why == GK_ABSENT_NOT_SUPPORTED ? NVML_ERROR_NOT_SUPPORTED
						    : r;
}

#define FIELD(name, id)                                                        \
	static nvmlReturn_t name(const struct gk_nvml *nvml, nvmlDevice_t dev, \
				 int64_t out[GK_ROW_VALUES])                   \
	{                                                                      \
		return read_field(nvml, dev, id, out);                         \
	}

FIELD(read_memory_temperature, NVML_FI_DEV_MEMORY_TEMP)
FIELD(read_recovery_action, NVML_FI_DEV_GET_GPU_RECOVERY_ACTION)
FIELD(read_retired_pending, NVML_FI_DEV_RETIRED_PENDING)

static nvmlReturn_t read_repairs(const struct gk_nvml *nvml, nvmlDevice_t dev,
				 int64_t out[GK_ROW_VALUES])
{
	nvmlRepairStatus_t repair = {.version = nvmlRepairStatus_v1};
	nvmlReturn_t r =
	    GK_NVML_CALL(nvml, nvmlDeviceGetRepairStatus, dev, &repair);

	out[0] = repair.bChannelRepairPending;
	out[1] = repair.bTpcRepairPending;
	return r;
}

static nvmlReturn_t read_bar1(const struct gk_nvml *nvml, nvmlDevice_t dev,
			      int64_t out[GK_ROW_VALUES])
{
	nvmlBAR1Memory_t bar1 = {0};
	nvmlReturn_t r =
	    GK_NVML_CALL(nvml, nvmlDeviceGetBAR1MemoryInfo, dev, &bar1);

	out[0] = GK_ROW_NUMBER(bar1.bar1Used, 1);
	out[1] = GK_ROW_NUMBER(bar1.bar1Total, 1);
	return r;
}

/* A row has no tier of its own: it is read with the tier of its metrics. */
static const struct gk_row rows[] = {
#define GET(metric, function, type, scale) {read_##metric, {GK_M_##metric}, 1},
#define GET_OF(metric, function, argument, type, scale)                        \
	{read_##metric, {GK_M_##metric}, 1},
#include "core/read/collect.def"
#undef GET
#undef GET_OF
    {read_utilization, {GK_M_GPU_UTIL, GK_M_MEM_UTIL}, 2},
    {read_encoder, {GK_M_ENC_UTIL}, 1},
    {read_decoder, {GK_M_DEC_UTIL}, 1},
    {read_jpeg, {GK_M_JPG_UTIL}, 1},
    {read_optical_flow, {GK_M_OFA_UTIL}, 1},
    {read_memory_temperature, {GK_M_TEMP_MEM}, 1},
    {read_recovery_action, {GK_M_RECOVERY_ACTION}, 1},
    {read_retired_pending, {GK_M_RETIRED_PENDING}, 1},
    {read_repairs, {GK_M_REPAIR_CHANNEL, GK_M_REPAIR_TPC}, 2},
    {gk_read_inforom_valid, {GK_M_INFOROM_VALID}, 1},
    {read_remapped_rows,
     {GK_M_ROWS_CORRECTED, GK_M_ROWS_UNCORRECTED, GK_M_ROWS_PENDING,
      GK_M_ROWS_FAILED},
     4},
    {read_memory_row,
     {GK_M_MEM_USED, GK_M_MEM_FREE, GK_M_MEM_RESERVED, GK_M_MEM_TOTAL,
      GK_M_MEM_UNIFIED},
     5},
    {read_temperature, {GK_M_TEMP}, 1},
    {read_pstate, {GK_M_PSTATE}, 1},
    {read_event_reasons, {GK_M_THROTTLE}, 1},
    {read_power_constraints, {GK_M_POWER_MIN, GK_M_POWER_MAX}, 2},
    {read_mig_mode, {GK_M_MIG_MODE}, 1},
    {read_ecc_mode, {GK_M_ECC_MODE}, 1},
    {read_ecc_corrected, {GK_M_ECC_CORRECTED}, 1},
    {read_ecc_uncorrected, {GK_M_ECC_UNCORRECTED}, 1},
    {read_bar1, {GK_M_BAR1_USED, GK_M_BAR1_TOTAL}, 2},
};

const struct gk_row *gk_plain_rows(size_t *ret_count)
{
	*ret_count = COUNT(rows);
	return rows;
}

/* The rows of a tier. *ret_place is the bit of the first row in *unsupported.
 */
static const struct gk_row *rows_of_tier(enum gk_tier tier, size_t *ret_count,
					 size_t *ret_place)
{
	if (tier == GK_TIER_DETAIL) {
		*ret_place = COUNT(rows);
		return gk_detail_rows(ret_count);
	}
	*ret_place = 0;
	*ret_count = COUNT(rows);
	return rows;
}

static void store_row(const struct gk_row *row, enum gk_absence why,
		      const int64_t out[GK_ROW_VALUES],
		      struct gk_value values[GK_M_COUNT])
{
	for (unsigned i = 0; i < row->count; i++) {
		struct gk_value *value = &values[row->gives[i]];

		value->why = why;
		if (!why && out[i] == GK_ROW_MISSING)
			value->why = GK_ABSENT_NOT_SUPPORTED;
		if (out[i] == GK_ROW_UNTOLD)
			value->why = GK_ABSENT_NOT_READ;
		value->v = value->why ? 0 : out[i];
		*value = gk_gate(*value, &gk_metric_ranges[row->gives[i]]);
	}
}

static bool is_row_wanted(const struct gk_row *row, enum gk_tier tier,
			  const struct gk_metric_set *only)
{
	if (gk_metrics[row->gives[0]].tier != tier)
		return false;
	for (unsigned i = 0; only && i < row->count; i++)
		if (gk_metric_set_has(only, row->gives[i]))
			return true;
	return !only;
}

nvmlReturn_t gk_row_read(const struct gk_nvml *nvml, nvmlDevice_t handle,
			 const struct gk_row *row, bool is_mig,
			 struct gk_value values[GK_M_COUNT])
{
	int64_t out[GK_ROW_VALUES] = {0};
	nvmlReturn_t r = row->read(nvml, handle, out);

	if (gk_nvml_is_lost(r))
		return r;
	/* For a MIG device, drivers return this error if only whole GPUs have
	 * the value. */
	if (is_mig && r == NVML_ERROR_INVALID_ARGUMENT)
		r = NVML_ERROR_NOT_SUPPORTED;
	store_row(row, gk_nvml_absence(r), out, values);
	return r;
}

/* Counts results, to see whether a GPU answers at all. */
struct tally {
	unsigned answered, failed;
	nvmlReturn_t failure; /* the last error */
};

static bool is_refused_for_good(nvmlReturn_t r)
{
	return r == NVML_ERROR_NOT_SUPPORTED ||
	       r == NVML_ERROR_FUNCTION_NOT_FOUND;
}

static void count_answer(struct tally *tally, nvmlReturn_t r)
{
	tally->answered += !r;
	if (!r || is_refused_for_good(r))
		return;
	tally->failed++;
	tally->failure = r;
}

/* The GPU's error, if several calls failed and none succeeded. One failed call
 * says nothing about the GPU. */
static nvmlReturn_t failure_of_all(const struct tally *tally)
{
	return !tally->answered && tally->failed > 1 ? tally->failure
						     : NVML_SUCCESS;
}

nvmlReturn_t gk_collect(const struct gk_nvml *nvml, nvmlDevice_t handle,
			enum gk_tier tier, bool is_mig,
			const struct gk_metric_set *only,
			struct gk_row_set *unsupported,
			struct gk_value values[GK_M_COUNT])
{
	size_t count, place;
	const struct gk_row *row = rows_of_tier(tier, &count, &place);
	struct tally tally = {0};
	nvmlReturn_t r;

	_Static_assert(COUNT(rows) + GK_ROWS_DETAIL <= GK_ROWS_MAX,
		       "each has a bit in *unsupported");
	GK_ASSERT((unsigned)tier < GK_TIER_COUNT);
	for (const struct gk_row *end = row + count; row < end;
	     row++, place++) {
		uint64_t bit = 1ULL << place % 64;

		if (!is_row_wanted(row, tier, only) ||
		    unsupported->bits[place / 64] & bit)
			continue;
		r = gk_row_read(nvml, handle, row, is_mig, values);
		if (gk_nvml_is_lost(r))
			return r;
		count_answer(&tally, r);
		if (is_refused_for_good(r))
			unsupported->bits[place / 64] |= bit;
	}
	if (tier == GK_TIER_FAST && !is_mig)
		return failure_of_all(&tally);
	if (tier != GK_TIER_DETAIL)
		return NVML_SUCCESS;
	return gk_collect_fields(nvml, handle, only, values, NULL);
}
