/*
 * above.h - what the store needs of the rooms above it, which define it: before
 * something is changed or told, all that was due until now must have happened;
 * and what a device is like that only the model knows.
 */
#ifndef GKF_STORE_ABOVE_H
#define GKF_STORE_ABOVE_H

#include "machine/file/numbers.h"

#include <stdint.h>

struct gkf_board;
struct gkf_device;
struct gkf_machine;
struct gkf_profile;
struct gkf_topology;

/* ---- trouble ---- */

/* Applies the steps of the scenario up to a bin. The caller holds the lock. */
void gkf_scenario_apply(struct gkf_machine *m, uint64_t bin);

/* ---- model ---- */

/* Brings the state of a device up to now. The caller holds the lock. */
void gkf_state_advance(struct gkf_machine *m, unsigned device);

/* The same without the lock, if that is free. */
void gkf_state_catch_up(struct gkf_machine *m, unsigned device);

/* A new device: its first state, and whether it begins split. */
void gkf_device_begin(struct gkf_device *dev, const struct gkf_profile *p);

/* Makes the topology of count boards, at most 64; reads only their profiles. */
void gkf_topology_make(const struct gkf_board *boards, unsigned count,
		       enum gkf_layout layout, struct gkf_topology *ret);

/* The compute mode in force; enum gkf_compute_mode. */
int64_t gkf_compute_mode(struct gkf_machine *m, unsigned device);

/*
 * Where a process comes to be: of a GPU that is split it must be an instance;
 * GKF_NO_INSTANCE becomes that of the MIG device with the lowest index.
 * GK_ERR_NOT_SUPPORTED when there is none, GK_ERR_NOT_FOUND when the one that
 * is named is not there. The caller holds the lock.
 */
int gkf_instance_enter(struct gkf_machine *m, unsigned device,
		       uint32_t *instance);

/*
 * Bytes of a GPU instance, and those that it takes while it is empty;
 * GK_ERR_NOT_FOUND when there is none such.
 */
int gkf_instance_bytes(struct gkf_machine *m, unsigned device, unsigned gi,
		       uint64_t *ret_total, uint64_t *ret_taken);

/* The bytes that all GPU instances of a device take while they are empty. */
uint64_t gkf_instances_hold(struct gkf_machine *m, unsigned device);

#endif
