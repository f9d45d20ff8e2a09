/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpm.h - the GPM metrics of `dmon --gpm-metrics`: each is computed from two
 * samples of a GPU, so the first line has none.
 */
#ifndef GK_CLI_SMI_GPM_H
#define GK_CLI_SMI_GPM_H

#include "core/driver/nvml.h"
#include "format/smi/mon.h"

enum { SMI_GPM_GPUS = 256 };

/* The last sample of each GPU, by index, and the values of the last line. */
struct smi_gpm {
	nvmlGpmSample_t before[SMI_GPM_GPUS];
	double *values; /* as gk_smi_dmon() takes them */
};

/*
 * Samples the GPUs of a snapshot that answer, and computes the metrics. Returns
 * the values, or NULL if out of memory.
 */
const double *smi_gpm_read(struct smi_gpm *gpm, struct gk_nvml *nvml,
			   const struct gk_snapshot *snap,
			   const struct gk_smi_mon *mon);

/* Frees the samples; nvml may be NULL if there are none. */
void smi_gpm_end(struct smi_gpm *gpm, struct gk_nvml *nvml);

#endif
