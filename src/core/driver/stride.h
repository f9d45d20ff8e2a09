/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stride.h - determines the length of records in process lists, and reads them.
 *
 * Records of functions without a suffix have 16 bytes, those of _v2 and _v3
 * have 24 bytes. Drivers 535.43 to 535.86 wrote records of 32 bytes for _v3.
 * Pure functions.
 */
#ifndef GK_CORE_STRIDE_H
#define GK_CORE_STRIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The largest stride, in bytes. */
#define GK_STRIDE_MAX 32

#define GK_NO_INSTANCE UINT32_MAX

struct gk_record {
	uint32_t pid;
	uint64_t used; /* bytes; all ones if the driver does not know */
	uint32_t gpu_instance, compute_instance; /* GK_NO_INSTANCE: none */
};

/* Facts about the driver from which the length of records is guessed. */
struct gk_stride_clues {
	const char *driver_version; /* "535.54.03"; "" if unknown */
	int list_version;           /* 1 (no suffix), 2 or 3 */
	bool has_conf_compute;      /* nvmlDeviceGetConfComputeMemSizeInfo */
	bool has_detail_list;       /* nvmlDeviceGetRunningProcessDetailList */
};

/* The expected stride: 16, 24 or 32. */
size_t gk_stride_expect(const struct gk_stride_clues *clues);

/*
 * Returns the stride that fits the bytes: the expected one, unless records of
 * that length are implausible (a pid out of range, more memory than total) and
 * records of the other length are plausible. bytes has count * GK_STRIDE_MAX
 * bytes, which were zeroed before the driver wrote to them. total 0: unknown.
 */
size_t gk_stride_check(size_t expected, const void *bytes, size_t count,
		       uint64_t total);

struct gk_record gk_record_at(const void *bytes, size_t stride, size_t index);

/* Whether a record is plausible, see gk_stride_check(). */
bool gk_record_plausible(const struct gk_record *record, uint64_t total);

#endif
