/* SPDX-License-Identifier: Apache-2.0 */
/* turn.h - when a launch may proceed. Used by throttle.c. */
#ifndef GKL_PRELOAD_TURN_H
#define GKL_PRELOAD_TURN_H

#include "limit/preload/time/quota.h"
#include "limit/work.h"

/*
 * Returns once the work may be launched, or once no limit applies any longer.
 */
void turn_wait(struct quota *q, uint64_t work);

/*
 * Whether such work is always so short that it is measured in stretches, which
 * are several launches (throttle.c).
 */
bool turn_is_short(const struct gkl_work_time *time);

#endif
