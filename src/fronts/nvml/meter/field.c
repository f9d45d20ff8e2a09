/* SPDX-License-Identifier: Apache-2.0 */
/*
 * field.c - reads and clears values by field id, many in one call. fields.def
 * has the reader for each id; all other ids are NOT_SUPPORTED.
 */
#include "fronts/nvml/meter/field.h"
#include "base/clock.h"
#include "fronts/nvml/permission.h"
#include "machine/file/link_state.h"
#include "machine/file/profile.h"
#include "machine/file/state.h"
#include "machine/model/ecc.h"
#include "machine/model/link.h"

#include <string.h>

#define U32          NVML_VALUE_TYPE_UNSIGNED_INT
#define U64          NVML_VALUE_TYPE_UNSIGNED_LONG_LONG
#define S32          NVML_VALUE_TYPE_SIGNED_INT
#define FACT(member) offsetof(struct gkf_profile, member)
#define COUNT(sum)   offsetof(struct gkf_state, sum)
#define ERRORS(type, counter, location)                                        \
	FIELD_ECC(NVML_MEMORY_ERROR_TYPE_##type, NVML_##counter##_ECC,         \
		  NVML_MEMORY_LOCATION_##location)
#define BOTH_CAUSES                                                            \
	(FIELD_CAUSE(GKF_ECC_BY_CORRECTED) |                                   \
	 FIELD_CAUSE(GKF_ECC_BY_UNCORRECTED))
#define FIELD(tail, kind, reader, which)                                       \
	COUNTER(tail, kind, reader, which, NULL)
#define COUNTER(tail, kind, reader, which, clearer)                            \
	[NVML_FI_##tail] = {.read = (reader),                                  \
			    .clear = (clearer),                                \
			    .type = (kind),                                    \
			    .arg = (unsigned)(which)},
static const struct field fields[NVML_FI_MAX] = {
#include "fronts/nvml/meter/fields.def"
};
#undef U32
#undef U64
#undef S32
#undef FACT
#undef COUNT
#undef ERRORS
#undef BOTH_CAUSES
#undef FIELD
#undef COUNTER

/* The row of an id; NULL if this driver does not know it. */
static const struct field *find_field(unsigned id)
{
	return id && id < front_generation->field_max ? &fields[id] : NULL;
}

static void put_field_number(nvmlFieldValue_t *entry, nvmlValueType_t type,
			     uint64_t number)
{
	entry->valueType = type;
	memset(&entry->value, 0, sizeof(entry->value));
	if (type == NVML_VALUE_TYPE_UNSIGNED_INT)
		entry->value.uiVal = (unsigned)number;
	else if (type == NVML_VALUE_TYPE_SIGNED_INT)
		entry->value.siVal = (int)number;
	else
		entry->value.ullVal = number;
}

static nvmlReturn_t read_entry(const struct call *c, nvmlFieldValue_t *entry)
{
	const struct field *f = find_field(entry->fieldId);
	uint64_t number = 0;
	nvmlReturn_t r;

	if (!f)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (!f->read)
		return NVML_ERROR_NOT_SUPPORTED;
	r = f->read(c, entry->scopeId, f->arg, &number);
	if (!r)
		put_field_number(entry, f->type, number);
	return r;
}

static nvmlReturn_t clear_entry(const struct call *c, nvmlFieldValue_t *entry)
{
	const struct field *f = find_field(entry->fieldId);
	uint64_t number;
	nvmlReturn_t r;

	if (!f)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (!f->clear)
		return NVML_ERROR_NOT_SUPPORTED;
	r = f->read(c, entry->scopeId, f->arg, &number);
	return r ? r : f->clear(c, entry->scopeId, f->arg, &number);
}

typedef nvmlReturn_t entry_fn(const struct call *c, nvmlFieldValue_t *entry);

/*
 * Calls fn for each entry, and sets the entry's time stamp, latency and result.
 * Returns how many succeeded. The first entry's latency counts from `began`,
 * the start of the whole call, and therefore includes the call's delay.
 */
static unsigned each_field_entry(const struct call *c, uint64_t began,
				 int count, nvmlFieldValue_t *entries,
				 entry_fn *fn)
{
	unsigned done = 0;

	for (int i = 0; i < count; i++) {
		nvmlFieldValue_t *e = &entries[i];
		uint64_t ended;

		e->timestamp = (long long)front_wall_us();
		e->nvmlReturn = fn(c, e);
		ended = gk_mono_ns();
		e->latencyUsec = (long long)((ended - began) / GK_NS_PER_US);
		began = ended;
		done += e->nvmlReturn == NVML_SUCCESS;
	}
	return done;
}

nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int valuesCount,
				      nvmlFieldValue_t *values)
{
	uint64_t began = gk_mono_ns();

	ENTER_DEVICE(nvmlDeviceGetFieldValues, device,
		     values && valuesCount > 0);
	each_field_entry(&c, began, valuesCount, values, read_entry);
	return NVML_SUCCESS;
}

/* Succeeds if any entry was cleared; otherwise returns the first entry's error.
 */
nvmlReturn_t nvmlDeviceClearFieldValues(nvmlDevice_t device, int valuesCount,
					nvmlFieldValue_t *values)
{
	uint64_t began = gk_mono_ns();
	nvmlReturn_t r;

	ENTER_DEVICE(nvmlDeviceClearFieldValues, device,
		     values && valuesCount > 0);
	r = front_permit(&c);
	if (r)
		return r;
	return each_field_entry(&c, began, valuesCount, values, clear_entry)
		   ? NVML_SUCCESS
		   : values[0].nvmlReturn;
}
