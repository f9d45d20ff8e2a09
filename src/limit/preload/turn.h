/*
 * turn.h - when a launch may go on. Used by throttle.c.
 */
#ifndef GKL_PRELOAD_TURN_H
#define GKL_PRELOAD_TURN_H

#include "limit/preload/place.h"
#include "limit/work.h"

/* Returns when work may be launched there, or there is no limit any more. */
void turn_wait(struct place *p, uint64_t work);

/* Known to be so short, each time, that it is measured by stretches. */
bool turn_is_short(const struct gkl_work_time *time);

#endif
