/* SPDX-License-Identifier: Apache-2.0 */
/* stride.c - determines the length of records in process lists. */
#include "core/driver/stride.h"

#include "abi/nvml/nvml_process.h"

#include <stdio.h>
#include <string.h>

/* PID_MAX_LIMIT of 64-bit Linux. */
#define PID_LIMIT 4194304

/* Instance ids are slice numbers, and no GPU has nearly that many slices. */
#define INSTANCE_LIMIT 256

_Static_assert(sizeof(nvmlProcessInfo_v1_t) == 16, "list without suffix");
_Static_assert(sizeof(nvmlProcessInfo_v2_t) == 24, "_v2 and _v3");
_Static_assert(sizeof(nvmlProcessDetail_v1_t) == GK_STRIDE_MAX, "535.43");

/* Returns 1 for yes, 0 for no, -1 for unknown. */
static int is_long_record_driver(const char *version)
{
	int major, minor;

	if (sscanf(version, "%d.%d", &major, &minor) != 2)
		return -1;
	return major == 535 && minor >= 43 && minor <= 86;
}

size_t gk_stride_expect(const struct gk_stride_clues *clues)
{
	int is_long;

	if (clues->list_version == 1)
		return sizeof(nvmlProcessInfo_v1_t);
	if (clues->list_version == 2)
		return sizeof(nvmlProcessInfo_v2_t);
	is_long = is_long_record_driver(clues->driver_version);
	/*
	 * The version is unknown. Judge by two functions: only drivers with
	 * long records have the first but not the second.
	 */
	if (is_long < 0)
		is_long = clues->has_conf_compute && !clues->has_detail_list;
	return is_long ? sizeof(nvmlProcessDetail_v1_t)
		       : sizeof(nvmlProcessInfo_v2_t);
}

struct gk_record gk_record_at(const void *bytes, size_t stride, size_t index)
{
	const char *at = (const char *)bytes + stride * index;
	nvmlProcessInfo_v2_t info = {
	    .gpuInstanceId = GK_NO_INSTANCE,
	    .computeInstanceId = GK_NO_INSTANCE,
	};

	/* All layouts begin with the same members, so the common part can be
	 * copied. */
	memcpy(&info, at, stride < sizeof info ? stride : sizeof info);
	return (struct gk_record){info.pid, info.usedGpuMemory,
				  info.gpuInstanceId, info.computeInstanceId};
}

static bool instance_plausible(uint32_t id)
{
	return id == GK_NO_INSTANCE || id < INSTANCE_LIMIT;
}

bool gk_record_plausible(const struct gk_record *record, uint64_t total)
{
	if (!record->pid || record->pid > PID_LIMIT)
		return false;
	if (total && record->used > total && record->used != UINT64_MAX)
		return false;
	return instance_plausible(record->gpu_instance) &&
	       instance_plausible(record->compute_instance);
}

static size_t plausible_count(const void *bytes, size_t stride, size_t count,
			      uint64_t total)
{
	size_t good = 0;

	for (size_t i = 0; i < count; i++) {
		struct gk_record record = gk_record_at(bytes, stride, i);

		good += gk_record_plausible(&record, total);
	}
	return good;
}

size_t gk_stride_check(size_t expected, const void *bytes, size_t count,
		       uint64_t total)
{
	size_t other = expected == sizeof(nvmlProcessDetail_v1_t)
			   ? sizeof(nvmlProcessInfo_v2_t)
			   : sizeof(nvmlProcessDetail_v1_t);

	/* Records without instance ids have the same length in all drivers. */
	if (expected == sizeof(nvmlProcessInfo_v1_t))
		return expected;
	if (plausible_count(bytes, other, count, total) >
	    plausible_count(bytes, expected, count, total))
		return other;
	return expected;
}
