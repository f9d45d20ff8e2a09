/*
 * above.h - what the store needs of the rooms above it: before something is
 * changed or told, everything that was due until now must have happened.
 */
#ifndef GKF_STORE_ABOVE_H
#define GKF_STORE_ABOVE_H

#include "base/export.h"

struct gkf_machine;

/* Applies the steps of the scenario that are due. */
GKF_API void gkf_scenario_poll(struct gkf_machine *m);

/* Brings the state of a device up to now. The caller holds the lock. */
void gkf_state_advance(struct gkf_machine *m, unsigned device);

#endif
