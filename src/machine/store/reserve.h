/* SPDX-License-Identifier: Apache-2.0 */
/* reserve.h - how much memory a driver keeps of a board. */
#ifndef GKF_RESERVE_H
#define GKF_RESERVE_H

#include "machine/file/profile.h"

/*
 * Returns the reserved memory in MiB of a board with a driver of the branch
 * `major`: what a capture tells of it or, if none does, the profile's.
 */
int64_t gkf_reserved_mib(const struct gkf_profile *profile, unsigned major);

#endif
