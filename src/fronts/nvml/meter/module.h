/* SPDX-License-Identifier: Apache-2.0 */
/* module.h - modules that hold GPUs and a host processor. */
#ifndef GKF_NVML_MODULE_H
#define GKF_NVML_MODULE_H

#include "fronts/nvml/front.h"

#include <stdbool.h>

/* A kind of module; see modules.def. */
struct module_fact {
	int64_t device;
	unsigned gpus, rest_w, min_w, limit_w, max_w;
};

/* The module that the call's GPU is on, or NULL. */
const struct module_fact *module_of(const struct call *c);

/* Modules with two GPUs are in racks, as listings of GB200 and GB300 show. */
bool module_is_in_rack(const struct call *c);

#endif
