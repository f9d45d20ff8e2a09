/*
 * collect.h - which NVML call gives which metric, and running those calls.
 */
#ifndef GK_CORE_COLLECT_H
#define GK_CORE_COLLECT_H

#include "core/nvml.h"

/* More calls than the tables have. */
#define GK_ROWS_MAX 256

/* Some of the calls. Zeroed: none. */
struct gk_row_set {
	uint64_t bits[GK_ROWS_MAX / 64];
};

/*
 * Reads the metrics of one tier, those of only (NULL: all). *unsupported
 * remembers the calls that this device has refused for good, so that they are
 * not asked again; zero it to try them anew. Stops at an answer that means the
 * GPU is lost and returns it, else NVML_SUCCESS.
 */
nvmlReturn_t gk_collect(const struct gk_nvml *nvml, nvmlDevice_t handle,
			enum gk_tier tier, bool is_mig,
			const struct gk_metric_set *only,
			struct gk_row_set *unsupported,
			struct gk_value values[GK_M_COUNT]);

#endif
