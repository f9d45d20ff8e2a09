/*
 * others.h - the other groups of this user, which share his GPUs.
 */
#ifndef GKL_PRELOAD_OTHERS_H
#define GKL_PRELOAD_OTHERS_H

#include "limit/group.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether a process of another group has wanted the device just now. */
bool others_want(const struct gkl_group *group, unsigned int device,
		 uint64_t now_ns);

#endif
