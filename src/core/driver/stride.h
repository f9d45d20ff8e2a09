/*
 * stride.h - how long the records of a process list are, and reading them.
 *
 * Lists without a suffix have 16 bytes a record, _v2 and _v3 24. Drivers
 * 535.43 to 535.86 wrote 32 into _v3 without a new name. Pure functions.
 */
#ifndef GK_CORE_STRIDE_H
#define GK_CORE_STRIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for a record of any stride, in bytes. */
#define GK_STRIDE_MAX 32

#define GK_NO_INSTANCE UINT32_MAX

struct gk_record {
	uint32_t pid;
	uint64_t used; /* bytes; all ones when the driver cannot tell */
	uint32_t gpu_instance, compute_instance; /* GK_NO_INSTANCE without */
};

/* Facts about the driver that are known before it has answered. */
struct gk_stride_clues {
	const char *driver_version; /* "535.54.03"; "" if unknown */
	int list_version;           /* 1 (no suffix), 2 or 3 */
	bool has_conf_compute;      /* nvmlDeviceGetConfComputeMemSizeInfo */
	bool has_detail_list;       /* nvmlDeviceGetRunningProcessDetailList */
};

/* 16, 24 or 32. */
size_t gk_stride_expect(const struct gk_stride_clues *clues);

/*
 * The stride that the bytes bear out: the expected one unless its records
 * make no sense (a pid out of range, more memory than total) and those of the
 * other length do. bytes holds count * GK_STRIDE_MAX, zeroed before the
 * driver wrote; total 0: unknown.
 */
size_t gk_stride_check(size_t expected, const void *bytes, size_t count,
		       uint64_t total);

struct gk_record gk_record_at(const void *bytes, size_t stride, size_t index);

/* The record can be true: see gk_stride_check(). */
bool gk_record_plausible(const struct gk_record *record, uint64_t total);

#endif
