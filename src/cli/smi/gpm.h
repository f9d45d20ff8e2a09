/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpm.h - the GPM metrics of `dmon --gpm-metrics`. Each is computed from two
 * samples of a GPU, so the first line has no values.
 */
#ifndef GK_CLI_SMI_GPM_H
#define GK_CLI_SMI_GPM_H

#include "core/driver/nvml.h"
#include "format/smi/mon.h"

enum { SMI_GPM_GPUS = 256 };

/* The last sample of each GPU, by index, and the values to print next. */
struct smi_gpm {
	nvmlGpmSample_t before[SMI_GPM_GPUS];
	double *values; /* values in the order that gk_smi_dmon() expects */
};

/*
 * Samples the GPUs of a snapshot that are healthy, and computes their metrics.
 * Returns the values, or NULL if out of memory.
 */
const double *smi_gpm_read(struct smi_gpm *gpm, struct gk_nvml *nvml,
			   const struct gk_snapshot *snap,
			   const struct gk_smi_mon *mon);

/* Frees the samples. nvml may be NULL if there are no samples. */
void smi_gpm_end(struct smi_gpm *gpm, struct gk_nvml *nvml);

#endif
