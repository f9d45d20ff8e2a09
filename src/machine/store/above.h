/*
 * above.h - what the store needs of the rooms above it: before something is
 * changed or told, everything that was due until now must have happened.
 */
#ifndef GKF_STORE_ABOVE_H
#define GKF_STORE_ABOVE_H

struct gkf_machine;

/* Brings the state of a device up to now. The caller holds the lock. */
void gkf_state_advance(struct gkf_machine *m, unsigned device);

#endif
