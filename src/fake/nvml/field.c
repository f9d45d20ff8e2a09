/*
 * field.c - values by field id. One row of the table per id that has a
 * figure; every other id of NVML is answered NOT_SUPPORTED, entry by entry.
 */
#include "fake/nvml/ecc.h"
#include "base/clock.h"

#include <string.h>

enum source { NOWHERE, VALUE, PROFILE, ECC };

struct field {
	enum source source;
	nvmlValueType_t type;
	unsigned arg; /* gkf_value, offset in the profile, or error type */
};

#define U32                   NVML_VALUE_TYPE_UNSIGNED_INT
#define U64                   NVML_VALUE_TYPE_UNSIGNED_LONG_LONG
#define V(id, type, value_id) [id] = {VALUE, type, GKF_V_##value_id}
#define P(id, member)                                                          \
	[id] = {PROFILE, U32, offsetof(struct gkf_profile, member)}
#define E(id, error) [id] = {ECC, U64, NVML_MEMORY_ERROR_TYPE_##error}

static const struct field fields[NVML_FI_MAX] = {
    V(NVML_FI_DEV_ECC_CURRENT, U32, ECC_MODE),
    V(NVML_FI_DEV_ECC_PENDING, U32, ECC_MODE),
    E(NVML_FI_DEV_ECC_SBE_VOL_TOTAL, CORRECTED),
    E(NVML_FI_DEV_ECC_DBE_VOL_TOTAL, UNCORRECTED),
    E(NVML_FI_DEV_ECC_SBE_AGG_TOTAL, CORRECTED),
    E(NVML_FI_DEV_ECC_DBE_AGG_TOTAL, UNCORRECTED),
    V(NVML_FI_DEV_MEMORY_TEMP, U32, MEM_TEMPERATURE),
    V(NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION, U64, ENERGY),
    P(NVML_FI_DEV_NVLINK_LINK_COUNT, nvlinks),
    /* The model's one figure is the mean of a bin of 1/6 s. */
    V(NVML_FI_DEV_POWER_AVERAGE, U32, POWER),
    V(NVML_FI_DEV_POWER_INSTANT, U32, POWER),
    P(NVML_FI_DEV_POWER_MIN_LIMIT, power_min_mw),
    P(NVML_FI_DEV_POWER_MAX_LIMIT, power_max_mw),
    P(NVML_FI_DEV_POWER_DEFAULT_LIMIT, power_limit_mw),
    V(NVML_FI_DEV_POWER_CURRENT_LIMIT, U32, POWER_LIMIT),
    V(NVML_FI_DEV_POWER_REQUESTED_LIMIT, U32, POWER_LIMIT),
};
#undef U32
#undef U64
#undef V
#undef P
#undef E

static nvmlReturn_t read_field(const struct call *c, const struct field *f,
			       uint64_t *ret_number)
{
	int64_t v = 0;

	switch (f->source) {
	case VALUE:
		if (!value(c, (enum gkf_value)f->arg, &v))
			return NVML_ERROR_NOT_SUPPORTED;
		break;
	case PROFILE:
		memcpy(&v, (const char *)&c->board->profile + f->arg,
		       sizeof(v));
		if (v <= 0)
			return NVML_ERROR_NOT_SUPPORTED;
		break;
	case ECC:
		return ecc_errors(c, (nvmlMemoryErrorType_t)f->arg, ret_number);
	case NOWHERE:
	default:
		return NVML_ERROR_NOT_SUPPORTED;
	}
	*ret_number = (uint64_t)v;
	return NVML_SUCCESS;
}

static void fill(const struct call *c, nvmlFieldValue_t *entry)
{
	uint64_t number = 0, began = gk_mono_ns();
	const struct field *f;

	entry->timestamp = (long long)front_wall_us();
	entry->nvmlReturn = NVML_ERROR_INVALID_ARGUMENT;
	if (entry->fieldId == 0 ||
	    entry->fieldId >= front_generation->field_max)
		return;
	f = &fields[entry->fieldId];
	entry->nvmlReturn = read_field(c, f, &number);
	entry->latencyUsec = (long long)((gk_mono_ns() - began) / GK_NS_PER_US);
	if (entry->nvmlReturn)
		return;
	entry->valueType = f->type;
	memset(&entry->value, 0, sizeof(entry->value));
	if (f->type == NVML_VALUE_TYPE_UNSIGNED_INT)
		entry->value.uiVal = (unsigned)number;
	else
		entry->value.ullVal = number;
}

nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int valuesCount,
				      nvmlFieldValue_t *values)
{
	ENTER_DEVICE(nvmlDeviceGetFieldValues, device,
		     values && valuesCount > 0);
	for (int i = 0; i < valuesCount; i++)
		fill(&c, &values[i]);
	return NVML_SUCCESS;
}
