/* SPDX-License-Identifier: Apache-2.0 */
/* collect.h - reads metrics from NVML; tables say which call returns which. */
#ifndef GK_CORE_COLLECT_H
#define GK_CORE_COLLECT_H

#include "core/driver/nvml.h"

/* Greater than the number of calls in all tables. */
#define GK_ROWS_MAX 256

/* A set of calls. Zeroed: empty. */
struct gk_row_set {
	uint64_t bits[GK_ROWS_MAX / 64];
};

/*
 * Reads those metrics of one tier that are in `only` (NULL: all). *unsupported
 * contains the calls that this device does not support; they are not made
 * again. Zero it to retry them. If a call returns an error that means the GPU
 * is lost, stops and returns that error. If all calls of the FAST tier fail,
 * returns the error; otherwise returns NVML_SUCCESS.
 */
nvmlReturn_t gk_collect(const struct gk_nvml *nvml, nvmlDevice_t handle,
			enum gk_tier tier, bool is_mig,
			const struct gk_metric_set *only,
			struct gk_row_set *unsupported,
			struct gk_value values[GK_M_COUNT]);

#endif
