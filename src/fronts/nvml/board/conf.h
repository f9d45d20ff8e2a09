/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conf.h - the machine's confidential computing mode.
 */
#ifndef GKF_NVML_CONF_H
#define GKF_NVML_CONF_H

#include "fronts/nvml/front.h"
#include "machine/file/system_state.h"

/* The requested mode; off if a GPU does not support it. */
enum gkf_conf_compute conf_mode(const struct call *c);

#endif
