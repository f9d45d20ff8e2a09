/* collect.c - one row per NVML call: what it is asked and what it gives. */
#include "core/collect.h"
#include "base/array.h"

#include "core/collect_row.h"

#define GET    GK_ROW_GET
#define GET_OF GK_ROW_GET_OF
#include "core/collect.def"
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

/* How busy an engine is; over which time is not told. */
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

/* The older call counts the driver's reserve as used and does not tell it. */
static nvmlReturn_t read_memory_row(const struct gk_nvml *nvml,
				    nvmlDevice_t dev,
				    int64_t out[GK_ROW_VALUES])
{
	nvmlMemory_v2_t m = {.version = nvmlMemory_v2};
	nvmlMemory_t old = {0};
	nvmlReturn_t r =
	    GK_NVML_CALL(nvml, nvmlDeviceGetMemoryInfo_v2, dev, &m);

	out[0] = (int64_t)m.used;
	out[1] = (int64_t)m.free;
	out[2] = (int64_t)m.reserved;
	out[3] = (int64_t)m.total;
	if (!r || gk_nvml_is_lost(r))
		return r;
	r = GK_NVML_CALL(nvml, nvmlDeviceGetMemoryInfo, dev, &old);
	out[0] = (int64_t)old.used;
	out[1] = (int64_t)old.free;
	out[2] = GK_ROW_MISSING;
	out[3] = (int64_t)old.total;
	return r;
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

/* "Throttle" is the name of the same before driver 535. */
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
	out[0] = (int64_t)mask;
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

	*out = (int64_t)count;
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

/* A field has a result of its own. */
static nvmlReturn_t read_memory_temperature(const struct gk_nvml *nvml,
					    nvmlDevice_t dev,
					    int64_t out[GK_ROW_VALUES])
{
	nvmlFieldValue_t field = {.fieldId = NVML_FI_DEV_MEMORY_TEMP};
	nvmlReturn_t r =
	    GK_NVML_CALL(nvml, nvmlDeviceGetFieldValues, dev, 1, &field);

	out[0] = field.value.uiVal;
	return r ? r : field.nvmlReturn;
}

static nvmlReturn_t read_bar1(const struct gk_nvml *nvml, nvmlDevice_t dev,
			      int64_t out[GK_ROW_VALUES])
{
	nvmlBAR1Memory_t bar1 = {0};
	nvmlReturn_t r =
	    GK_NVML_CALL(nvml, nvmlDeviceGetBAR1MemoryInfo, dev, &bar1);

	out[0] = (int64_t)bar1.bar1Used;
	out[1] = (int64_t)bar1.bar1Total;
	return r;
}

/* The tier of a row is the tier of its metrics, in metrics.def. */
static const struct gk_row rows[] = {
#define GET(metric, function, type, scale) {read_##metric, {GK_M_##metric}, 1},
#define GET_OF(metric, function, argument, type, scale)                        \
	{read_##metric, {GK_M_##metric}, 1},
#include "core/collect.def"
#undef GET
#undef GET_OF
    {read_utilization, {GK_M_GPU_UTIL, GK_M_MEM_UTIL}, 2},
    {read_encoder, {GK_M_ENC_UTIL}, 1},
    {read_decoder, {GK_M_DEC_UTIL}, 1},
    {read_jpeg, {GK_M_JPG_UTIL}, 1},
    {read_optical_flow, {GK_M_OFA_UTIL}, 1},
    {read_memory_temperature, {GK_M_TEMP_MEM}, 1},
    {read_remapped_rows,
     {GK_M_ROWS_CORRECTED, GK_M_ROWS_UNCORRECTED, GK_M_ROWS_PENDING,
      GK_M_ROWS_FAILED},
     4},
    {read_memory_row,
     {GK_M_MEM_USED, GK_M_MEM_FREE, GK_M_MEM_RESERVED, GK_M_MEM_TOTAL},
     4},
    {read_temperature, {GK_M_TEMP}, 1},
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

/* The rows of a tier, and the place of the first in *unsupported. */
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
		value->v = value->why ? 0 : out[i];
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
	/* How drivers say that only whole GPUs have such a thing. */
	if (is_mig && r == NVML_ERROR_INVALID_ARGUMENT)
		r = NVML_ERROR_NOT_SUPPORTED;
	store_row(row, gk_nvml_absence(r), out, values);
	return r;
}

nvmlReturn_t gk_collect(const struct gk_nvml *nvml, nvmlDevice_t handle,
			enum gk_tier tier, bool is_mig,
			const struct gk_metric_set *only,
			struct gk_row_set *unsupported,
			struct gk_value values[GK_M_COUNT])
{
	size_t count, place;
	const struct gk_row *row = rows_of_tier(tier, &count, &place);
	nvmlReturn_t r;

	_Static_assert(COUNT(rows) + GK_ROWS_DETAIL <= GK_ROWS_MAX,
		       "each has a bit in *unsupported");
	for (const struct gk_row *end = row + count; row < end;
	     row++, place++) {
		uint64_t bit = 1ULL << place % 64;

		if (!is_row_wanted(row, tier, only) ||
		    unsupported->bits[place / 64] & bit)
			continue;
		r = gk_row_read(nvml, handle, row, is_mig, values);
		if (gk_nvml_is_lost(r))
			return r;
		if (r == NVML_ERROR_NOT_SUPPORTED ||
		    r == NVML_ERROR_FUNCTION_NOT_FOUND)
			unsupported->bits[place / 64] |= bit;
	}
	if (tier != GK_TIER_DETAIL)
		return NVML_SUCCESS;
	return gk_collect_fields(nvml, handle, only, values, NULL);
}
