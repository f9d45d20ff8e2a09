/*
 * conf.h - whether the machine computes confidentially, for all who say so.
 */
#ifndef GKF_NVML_CONF_H
#define GKF_NVML_CONF_H

#include "fronts/nvml/front.h"
#include "machine/file/system_state.h"

/* The requested mode; off unless all GPUs can do it. */
enum gkf_conf_compute conf_mode(const struct call *c);

#endif
