/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect_row.h - rows of the tables of NVML calls.
 *
 * A row is one call of the driver and the metrics that it returns.
 */
#ifndef GK_CORE_COLLECT_ROW_H
#define GK_CORE_COLLECT_ROW_H

#include "base/units.h"
#include "core/read/gate.h"
#include "core/driver/nvml.h"

/* The maximum number of values that one call returns. */
#define GK_ROW_VALUES 12

/* Marks a value that the call did not return. */
#define GK_ROW_MISSING INT64_MIN

/* Marks a metric that is not set, because it is set only in unusual cases. */
#define GK_ROW_UNTOLD (INT64_MIN + 1)

/* Scales. NVML's PCIe throughput is in KB/s, decimal like other transfer rates;
 * its memory sizes are in bytes or KiB. */
enum { MHZ = 1000000, KB = 1000, US = 1000, MS = 1000000 };

/* Calls the driver; on success out[] has the numbers in base units. */
typedef nvmlReturn_t gk_row_reader(const struct gk_nvml *nvml, nvmlDevice_t dev,
				   int64_t out[GK_ROW_VALUES]);

/* Converts a raw number of any integer type to base units. */
#define GK_ROW_NUMBER(raw, scale)                                              \
	((raw) > 0 ? gk_scaled_unsigned((uint64_t)(raw), scale)                \
		   : gk_scaled((int64_t)(raw), scale))

struct gk_row {
	gk_row_reader *read;
	enum gk_metric gives[GK_ROW_VALUES];
	unsigned count;
};

/* Defines functions that read one number by one call, for GET and GET_OF. */
#define GK_ROW_GET(metric, function, type, scale)                              \
	static nvmlReturn_t read_##metric(const struct gk_nvml *nvml,          \
					  nvmlDevice_t dev,                    \
					  int64_t out[GK_ROW_VALUES])          \
	{                                                                      \
		type raw = (type)0;                                            \
		nvmlReturn_t r = GK_NVML_CALL(nvml, function, dev, &raw);      \
                                                                               \
		out[0] = GK_ROW_NUMBER(raw, scale);                            \
		return r;                                                      \
	}
#define GK_ROW_GET_OF(metric, function, argument, type, scale)                 \
	static nvmlReturn_t read_##metric(const struct gk_nvml *nvml,          \
					  nvmlDevice_t dev,                    \
					  int64_t out[GK_ROW_VALUES])          \
	{                                                                      \
		type raw = (type)0;                                            \
		nvmlReturn_t r =                                               \
		    GK_NVML_CALL(nvml, function, dev, argument, &raw);         \
                                                                               \
		out[0] = GK_ROW_NUMBER(raw, scale);                            \
		return r;                                                      \
	}

/* The rows of the DETAIL tier, at most GK_ROWS_DETAIL. */
#define GK_ROWS_DETAIL 160
const struct gk_row *gk_detail_rows(size_t *ret_count);

/* The rows of all other tiers. */
const struct gk_row *gk_plain_rows(size_t *ret_count);

/*
 * Makes the call of a row and sets all metrics that it returns. Returns NVML's
 * return code; if that means that the GPU is lost, sets nothing.
 */
nvmlReturn_t gk_row_read(const struct gk_nvml *nvml, nvmlDevice_t handle,
			 const struct gk_row *row, bool is_mig,
			 struct gk_value values[GK_M_COUNT]);

/*
 * Reads, in one call, the metrics of the DETAIL tier that are field values.
 * answers (may be NULL) gets NVML's return code for each.
 */
nvmlReturn_t gk_collect_fields(const struct gk_nvml *nvml, nvmlDevice_t handle,
			       const struct gk_metric_set *only,
			       struct gk_value values[GK_M_COUNT],
			       int answers[GK_M_COUNT]);

/* The value of a field; `all` is the return code of the whole call. */
struct gk_value gk_field_value(const nvmlFieldValue_t *field, nvmlReturn_t all,
			       int64_t scale);

#endif
