/* SPDX-License-Identifier: Apache-2.0 */
/* collect_detail.c - owns the table of calls of the DETAIL tier. */
#include "base/array.h"
#include "core/read/collect_board.h"
#include "core/read/collect_row.h"

#include <math.h>

/* Scope of a field value: all links together. */
#define ALL_LINKS UINT32_MAX

/* Scopes of the field values of power. */
#define MODULE_POWER NVML_POWER_SCOPE_MODULE
#define MEMORY_POWER NVML_POWER_SCOPE_MEMORY

#define GET    GK_ROW_GET
#define GET_OF GK_ROW_GET_OF
#define ECC(metric, type, counter, location)                                   \
	static nvmlReturn_t read_##metric(const struct gk_nvml *nvml,          \
					  nvmlDevice_t dev,                    \
					  int64_t out[GK_ROW_VALUES])          \
	{                                                                      \
		unsigned long long raw = 0;                                    \
		nvmlReturn_t r = GK_NVML_CALL(                                 \
		    nvml, nvmlDeviceGetMemoryErrorCounter, dev,                \
		    NVML_MEMORY_ERROR_TYPE_##type, NVML_##counter,             \
		    NVML_MEMORY_LOCATION_##location, &raw);                    \
                                                                               \
		out[0] = GK_ROW_NUMBER(raw, 1);                                \
		return r;                                                      \
	}
#define FIELD(metric, field, scope, scale)
#include "core/read/detail.def"
#undef GET
#undef GET_OF
#undef ECC
#undef FIELD

static nvmlReturn_t read_margin(const struct gk_nvml *nvml, nvmlDevice_t dev,
				int64_t out[GK_ROW_VALUES])
{
	nvmlMarginTemperature_t margin = {.version = nvmlMarginTemperature_v1};
	nvmlReturn_t r =
	    GK_NVML_CALL(nvml, nvmlDeviceGetMarginTemperature, dev, &margin);

	out[0] = margin.marginTemperature;
	return r;
}

/* Drivers before 535 call the event reasons "throttle reasons". */
static nvmlReturn_t read_supported_reasons(const struct gk_nvml *nvml,
					   nvmlDevice_t dev,
					   int64_t out[GK_ROW_VALUES])
{
	unsigned long long mask = 0;
	nvmlReturn_t r;

	if (nvml->nvmlDeviceGetSupportedClocksEventReasons)
		r = GK_NVML_CALL(nvml, nvmlDeviceGetSupportedClocksEventReasons,
				 dev, &mask);
	else
		r = GK_NVML_CALL(nvml,
				 nvmlDeviceGetSupportedClocksThrottleReasons,
				 dev, &mask);
	out[0] = GK_ROW_NUMBER(mask, 1);
	return r;
}

static nvmlReturn_t read_bar1_free(const struct gk_nvml *nvml, nvmlDevice_t dev,
				   int64_t out[GK_ROW_VALUES])
{
	nvmlBAR1Memory_t bar1 = {0};
	nvmlReturn_t r =
	    GK_NVML_CALL(nvml, nvmlDeviceGetBAR1MemoryInfo, dev, &bar1);

	out[0] = GK_ROW_NUMBER(bar1.bar1Free, 1);
	return r;
}

static nvmlReturn_t read_mig_pending(const struct gk_nvml *nvml,
				     nvmlDevice_t dev,
				     int64_t out[GK_ROW_VALUES])
{
	unsigned int current, pending = 0;
	nvmlReturn_t r =
	    GK_NVML_CALL(nvml, nvmlDeviceGetMigMode, dev, &current, &pending);

	out[0] = pending;
	return r;
}

static nvmlReturn_t read_ecc_pending(const struct gk_nvml *nvml,
				     nvmlDevice_t dev,
				     int64_t out[GK_ROW_VALUES])
{
	nvmlEnableState_t current, pending = NVML_FEATURE_DISABLED;
	nvmlReturn_t r =
	    GK_NVML_CALL(nvml, nvmlDeviceGetEccMode, dev, &current, &pending);

	out[0] = (int64_t)pending;
	return r;
}

static nvmlReturn_t read_gsp(const struct gk_nvml *nvml, nvmlDevice_t dev,
			     int64_t out[GK_ROW_VALUES])
{
	unsigned int enabled = 0, normal = 0;
	nvmlReturn_t r = GK_NVML_CALL(nvml, nvmlDeviceGetGspFirmwareMode, dev,
				      &enabled, &normal);

	out[0] = enabled;
	out[1] = normal;
	return r;
}

static nvmlReturn_t read_addressing(const struct gk_nvml *nvml,
				    nvmlDevice_t dev,
				    int64_t out[GK_ROW_VALUES])
{
	nvmlDeviceAddressingMode_t mode = {.version =
					       nvmlDeviceAddressingMode_v1};
	nvmlReturn_t r =
	    GK_NVML_CALL(nvml, nvmlDeviceGetAddressingMode, dev, &mode);

	out[0] = mode.value;
	return r;
}

static nvmlReturn_t read_pci_ids(const struct gk_nvml *nvml, nvmlDevice_t dev,
				 int64_t out[GK_ROW_VALUES])
{
	nvmlPciInfo_t pci = {0};
	nvmlReturn_t r = GK_NVML_CALL(nvml, nvmlDeviceGetPciInfo_v3, dev, &pci);

	out[0] = pci.pciDeviceId;
	out[1] = pci.pciSubSystemId;
	return r;
}

static nvmlReturn_t read_encoder(const struct gk_nvml *nvml, nvmlDevice_t dev,
				 int64_t out[GK_ROW_VALUES])
{
	unsigned int sessions = 0, fps = 0, latency_us = 0;
	nvmlReturn_t r = GK_NVML_CALL(nvml, nvmlDeviceGetEncoderStats, dev,
				      &sessions, &fps, &latency_us);

	out[0] = sessions;
	out[1] = fps;
	out[2] = (int64_t)latency_us * US;
	return r;
}

static nvmlReturn_t read_capture(const struct gk_nvml *nvml, nvmlDevice_t dev,
				 int64_t out[GK_ROW_VALUES])
{
	nvmlFBCStats_t stats = {0};
	nvmlReturn_t r = GK_NVML_CALL(nvml, nvmlDeviceGetFBCStats, dev, &stats);

	out[0] = stats.sessionsCount;
	out[1] = stats.averageFPS;
	out[2] = (int64_t)stats.averageLatency * US;
	return r;
}

static nvmlReturn_t read_remap_banks(const struct gk_nvml *nvml,
				     nvmlDevice_t dev,
				     int64_t out[GK_ROW_VALUES])
{
	nvmlRowRemapperHistogramValues_t banks = {0};
	nvmlReturn_t r =
	    GK_NVML_CALL(nvml, nvmlDeviceGetRowRemapperHistogram, dev, &banks);

	out[0] = banks.max;
	out[1] = banks.high;
	out[2] = banks.partial;
	out[3] = banks.low;
	out[4] = banks.none;
	return r;
}

static nvmlReturn_t read_confidential(const struct gk_nvml *nvml,
				      nvmlDevice_t dev,
				      int64_t out[GK_ROW_VALUES])
{
	nvmlConfComputeMemSizeInfo_t memory = {0};
	nvmlReturn_t r = GK_NVML_CALL(nvml, nvmlDeviceGetConfComputeMemSizeInfo,
				      dev, &memory);

	out[0] = GK_ROW_NUMBER(memory.protectedMemSizeKib, KIB);
	out[1] = GK_ROW_NUMBER(memory.unprotectedMemSizeKib, KIB);
	return r;
}

static const struct gk_row rows[] = {
#define GET(metric, function, type, scale) {read_##metric, {GK_M_##metric}, 1},
#define GET_OF(metric, function, argument, type, scale)                        \
	{read_##metric, {GK_M_##metric}, 1},
#define ECC(metric, type, counter, location)                                   \
	{read_##metric, {GK_M_##metric}, 1},
#define FIELD(metric, field, scope, scale)
#include "core/read/detail.def"
#undef GET
#undef GET_OF
#undef ECC
#undef FIELD
    {read_margin, {GK_M_TEMP_MARGIN}, 1},
    {read_supported_reasons, {GK_M_EVENT_REASONS_SUPPORTED}, 1},
    {read_bar1_free, {GK_M_BAR1_FREE}, 1},
    {read_mig_pending, {GK_M_MIG_PENDING}, 1},
    {read_ecc_pending, {GK_M_ECC_PENDING}, 1},
    {read_gsp, {GK_M_GSP_MODE, GK_M_GSP_MODE_DEFAULT}, 2},
    {read_addressing, {GK_M_ADDRESSING_MODE}, 1},
    {read_pci_ids, {GK_M_PCI_DEVICE_ID, GK_M_PCI_SUBSYSTEM_ID}, 2},
    {read_encoder, {GK_M_ENC_SESSIONS, GK_M_ENC_FPS, GK_M_ENC_LATENCY}, 3},
    {read_capture, {GK_M_FBC_SESSIONS, GK_M_FBC_FPS, GK_M_FBC_LATENCY}, 3},
    {read_remap_banks,
     {GK_M_REMAP_BANKS_MAX, GK_M_REMAP_BANKS_HIGH, GK_M_REMAP_BANKS_PARTIAL,
      GK_M_REMAP_BANKS_LOW, GK_M_REMAP_BANKS_NONE},
     5},
    {read_confidential, {GK_M_CC_MEM_PROTECTED, GK_M_CC_MEM_UNPROTECTED}, 2},
    {gk_read_pci_class, {GK_M_PCI_CLASS}, 1},
    {gk_read_pdi, {GK_M_PDI}, 1},
    {gk_read_capabilities, {GK_M_CAPABILITIES}, 1},
    {gk_read_c2c, {GK_M_C2C_MODE}, 1},
    {gk_read_encryption,
     {GK_M_DRAM_ENCRYPTION, GK_M_DRAM_ENCRYPTION_PENDING},
     2},
    {gk_read_protected, {GK_M_PROTECTED_TOTAL, GK_M_PROTECTED_USED}, 2},
    {gk_read_fabric,
     {GK_M_FABRIC_STATE, GK_M_FABRIC_STATUS, GK_M_FABRIC_CLIQUE,
      GK_M_FABRIC_HEALTH, GK_M_FABRIC_SUMMARY},
     5},
    {gk_read_platform,
     {GK_M_PLATFORM_SLOT, GK_M_PLATFORM_TRAY, GK_M_PLATFORM_HOST,
      GK_M_PLATFORM_PEER},
     4},
    {gk_read_unrepairable, {GK_M_UNREPAIRABLE}, 1},
    {gk_read_sram,
     {GK_M_SRAM_PARITY_AGG, GK_M_SRAM_SECDED_AGG, GK_M_SRAM_PARITY,
      GK_M_SRAM_SECDED, GK_M_SRAM_L2, GK_M_SRAM_SM, GK_M_SRAM_PCIE,
      GK_M_SRAM_MCU, GK_M_SRAM_OTHER, GK_M_SRAM_THRESHOLD},
     10},
    {gk_read_mig_parts,
     {GK_M_MIG_SMS, GK_M_MIG_COPIES, GK_M_MIG_DECODERS, GK_M_MIG_ENCODERS,
      GK_M_MIG_JPEGS, GK_M_MIG_OFAS},
     6},
    {gk_read_instances,
     {GK_M_GI_PROFILE, GK_M_GI_START, GK_M_GI_SIZE, GK_M_CI_PROFILE,
      GK_M_CI_START, GK_M_CI_SIZE},
     6},
};

_Static_assert(COUNT(rows) <= GK_ROWS_DETAIL, "each has a bit in gk_row_set");

const struct gk_row *gk_detail_rows(size_t *ret_count)
{
	*ret_count = COUNT(rows);
	return rows;
}

/* ---- field values ---- */

static const struct field {
	enum gk_metric metric;
	unsigned id, scope;
	int64_t scale;
} fields[] = {
#define GET(metric, function, type, scale)
#define GET_OF(metric, function, argument, type, scale)
#define ECC(metric, type, counter, location)
#define FIELD(metric, field, scope, scale) {GK_M_##metric, field, scope, scale},
#include "core/read/detail.def"
#undef GET
#undef GET_OF
#undef ECC
#undef FIELD
};

/* Converts a field to base units. Returns false if the field contains no
 * number; some drivers return the largest number for "not available". */
static bool field_number(const nvmlFieldValue_t *field, int64_t scale,
			 int64_t *ret_number)
{
	int64_t raw;

	switch (field->valueType) {
	case NVML_VALUE_TYPE_DOUBLE:
		if (!(fabs(field->value.dVal) < 0x1p63))
			return false;
		raw = (int64_t)field->value.dVal;
		break;
	case NVML_VALUE_TYPE_UNSIGNED_INT:
		raw = field->value.uiVal;
		break;
	case NVML_VALUE_TYPE_SIGNED_LONG_LONG:
		raw = field->value.sllVal;
		break;
	case NVML_VALUE_TYPE_SIGNED_INT:
		raw = field->value.siVal;
		break;
	case NVML_VALUE_TYPE_UNSIGNED_SHORT:
		raw = field->value.usVal;
		break;
	case NVML_VALUE_TYPE_UNSIGNED_LONG:
	case NVML_VALUE_TYPE_UNSIGNED_LONG_LONG:
	case NVML_VALUE_TYPE_COUNT:
	default:
		if (field->value.ullVal > INT64_MAX)
			return false;
		raw = (int64_t)field->value.ullVal;
	}
	return !__builtin_mul_overflow(raw, scale, ret_number);
}

struct gk_value gk_field_value(const nvmlFieldValue_t *field, nvmlReturn_t all,
			       int64_t scale)
{
	nvmlReturn_t r = all ? all : field->nvmlReturn;
	struct gk_value value = {.why = gk_nvml_absence(r)};

	/* Drivers that do not know the field return this error. */
	if (r == NVML_ERROR_INVALID_ARGUMENT)
		value.why = GK_ABSENT_NOT_SUPPORTED;
	if (!value.why && !field_number(field, scale, &value.v))
		value = (struct gk_value){.why = GK_ABSENT_NOT_SUPPORTED};
	return value;
}

nvmlReturn_t gk_collect_fields(const struct gk_nvml *nvml, nvmlDevice_t handle,
			       const struct gk_metric_set *only,
			       struct gk_value values[GK_M_COUNT],
			       int answers[GK_M_COUNT])
{
	nvmlFieldValue_t asked[COUNT(fields)] = {0};
	const struct field *of[COUNT(fields)];
	nvmlReturn_t r;
	int count = 0;

	for (size_t i = 0; i < COUNT(fields); i++) {
		if (only && !gk_metric_set_has(only, fields[i].metric))
			continue;
		of[count] = &fields[i];
		asked[count].fieldId = fields[i].id;
		asked[count++].scopeId = fields[i].scope;
	}
	if (!count)
		return NVML_SUCCESS;
	r = GK_NVML_CALL(nvml, nvmlDeviceGetFieldValues, handle, count, asked);
	if (gk_nvml_is_lost(r))
		return r;
	for (int i = 0; i < count; i++) {
		values[of[i]->metric] =
		    gk_gate(gk_field_value(&asked[i], r, of[i]->scale),
			    &gk_metric_ranges[of[i]->metric]);
		if (answers)
			answers[of[i]->metric] =
			    (int)(r ? r : asked[i].nvmlReturn);
	}
	return NVML_SUCCESS;
}
