/* SPDX-License-Identifier: Apache-2.0 */
/*
 * others.h - the other groups of this user, which share the GPUs with this one.
 */
#ifndef GKL_PRELOAD_OTHERS_H
#define GKL_PRELOAD_OTHERS_H

#include "limit/group.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether a process of another group has recently wanted the device. */
bool others_want(const struct gkl_group *group, unsigned int device,
		 uint64_t now_ns);

#endif
