/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.h - settings of a machine as a whole, and its driver version.
 */
#ifndef GKF_SETTINGS_H
#define GKF_SETTINGS_H

#include "base/export.h"

#include <stdint.h>

struct gkf_machine;

enum gkf_setting {
	GKF_PERMISSION,   /* enum gkf_permission */
	GKF_LATENCY,      /* enum gkf_latency */
	GKF_CONF_COMPUTE, /* enum gkf_conf_compute */
	GKF_CONF_READY,   /* 1: GPUs accept confidential work */
	/* Key rotation: log2 of the attacker's advantage; 0: the default. */
	GKF_CONF_ADVANTAGE,
};

/* The setting's word as it is in the file; it may be out of range. */
GKF_API uint64_t gkf_setting(const struct gkf_machine *m,
			     enum gkf_setting which);
GKF_API void gkf_setting_put(struct gkf_machine *m, enum gkf_setting which,
			     uint64_t to);

/* The driver; copied when the machine was opened. */
struct gkf_driver {
	char version[32];      /* "580.95.05" */
	char nvml_version[32]; /* "13.580.95.05" */
	uint32_t cuda_version; /* 13000 */
};
GKF_API const struct gkf_driver *gkf_driver(const struct gkf_machine *m);

/* The seed of UUIDs and serial numbers; it differs between machines. */
GKF_API uint64_t gkf_machine_seed(const struct gkf_machine *m);

#endif
