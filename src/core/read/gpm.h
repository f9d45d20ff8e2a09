/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpm.h - reads the metrics that NVML computes from two samples of a device
 * (GPM: Hopper and later): means over the time between two readings.
 */
#ifndef GK_CORE_GPM_H
#define GK_CORE_GPM_H

#include "core/driver/nvml.h"

/* The last sample of a device, and one to take the next into. Initialise it to
 * zeros. */
struct gk_gpm {
	nvmlGpmSample_t last, spare;
	bool filled; /* `last` has been taken */
};

/* Frees the samples, if the driver still can. */
void gk_gpm_free(struct gk_gpm *gpm, const struct gk_nvml *nvml);

/* Whether gk_gpm_read() gives this metric. */
bool gk_is_gpm(enum gk_metric metric);

/*
 * Takes a sample and sets those GPM metrics that are in `only` (NULL: all): the
 * first time to GK_ABSENT_ONE_SNAPSHOT, later to the means since the last call.
 * gpu is the handle of the whole GPU, whose values a MIG device does not get:
 * if its GPU instance is unknown, they are absent. Returns NVML_SUCCESS, or the
 * error that means the GPU is lost.
 */
nvmlReturn_t gk_gpm_read(struct gk_gpm *gpm, const struct gk_nvml *nvml,
			 nvmlDevice_t gpu, const struct gk_device *device,
			 const struct gk_metric_set *only,
			 struct gk_value values[GK_M_COUNT]);

/*
 * Why a single reading has no GPM metrics: two samples are needed, or the
 * device has no GPM metrics at all. Returns NVML's return code.
 */
nvmlReturn_t gk_gpm_why(const struct gk_nvml *nvml, nvmlDevice_t handle,
			bool is_mig, enum gk_absence *ret_why);

#endif
