/*
 * collect_row.h - what the tables of NVML calls are made of.
 *
 * A row is one question to the driver and the metrics that the answer gives.
 */
#ifndef GK_CORE_COLLECT_ROW_H
#define GK_CORE_COLLECT_ROW_H

#include "base/units.h"
#include "core/nvml.h"

/* Most numbers that one call gives. */
#define GK_ROW_VALUES 12

/* A number that the call did not give. */
#define GK_ROW_MISSING INT64_MIN

/* Scales. NVML documents PCIe throughput in KB/s, decimal as transfer rates
 * are, while its memory sizes are in bytes or KiB. */
enum { MHZ = 1000000, KB = 1000, US = 1000, MS = 1000000 };

/* Asks the driver; on success out[] holds the numbers in base units. */
typedef nvmlReturn_t gk_row_reader(const struct gk_nvml *nvml, nvmlDevice_t dev,
				   int64_t out[GK_ROW_VALUES]);

struct gk_row {
	gk_row_reader *read;
	enum gk_metric gives[GK_ROW_VALUES];
	unsigned count;
};

/* A reader of one call and one number: rows GET and GET_OF of the tables. */
#define GK_ROW_GET(metric, function, type, scale)                              \
	static nvmlReturn_t read_##metric(const struct gk_nvml *nvml,          \
					  nvmlDevice_t dev,                    \
					  int64_t out[GK_ROW_VALUES])          \
	{                                                                      \
		type raw = (type)0;                                            \
		nvmlReturn_t r = GK_NVML_CALL(nvml, function, dev, &raw);      \
                                                                               \
		out[0] = (int64_t)raw * (scale);                               \
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
		out[0] = (int64_t)raw * (scale);                               \
		return r;                                                      \
	}

/* The rows of the DETAIL tier, at most so many. */
#define GK_ROWS_DETAIL 160
const struct gk_row *gk_detail_rows(size_t *ret_count);

/* The rows of all other tiers. */
const struct gk_row *gk_plain_rows(size_t *ret_count);

/*
 * Asks the question of a row and writes all that it gives. Returns the answer;
 * one that means the GPU is lost writes nothing.
 */
nvmlReturn_t gk_row_read(const struct gk_nvml *nvml, nvmlDevice_t handle,
			 const struct gk_row *row, bool is_mig,
			 struct gk_value values[GK_M_COUNT]);

/*
 * Reads the metrics of the DETAIL tier that are field values: one call.
 * answers (NULL: not asked for) gets NVML's answer for each.
 */
nvmlReturn_t gk_collect_fields(const struct gk_nvml *nvml, nvmlDevice_t handle,
			       const struct gk_metric_set *only,
			       struct gk_value values[GK_M_COUNT],
			       int answers[GK_M_COUNT]);

/* The value of a field; all: the answer of the call that asked for it. */
struct gk_value gk_field_value(const nvmlFieldValue_t *field, nvmlReturn_t all,
			       int64_t scale);

#endif
