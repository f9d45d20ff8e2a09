/*
 * collect.h - which NVML call gives which metric, and running those calls.
 */
#ifndef GK_CORE_COLLECT_H
#define GK_CORE_COLLECT_H

#include "core/nvml.h"

/*
 * Reads the metrics of one tier. *unsupported remembers the calls that this
 * device has refused for good, so that they are not asked again; set it to 0
 * to try them anew. Stops at an answer that means the GPU is lost and returns
 * it, else NVML_SUCCESS.
 */
nvmlReturn_t gk_collect(const struct gk_nvml *nvml, nvmlDevice_t handle,
			enum gk_tier tier, bool is_mig, uint64_t *unsupported,
			struct gk_value values[GK_M_COUNT]);

#endif
