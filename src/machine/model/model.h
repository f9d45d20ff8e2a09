/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - the current values of a made-up GPU.
 *
 * A value that was set takes precedence; others come from the model's state
 * after the last whole bin (1/6 s). The first caller in a bin computes the
 * state for all processes. If the lock is taken, callers use the older state.
 * If that state is half a second old or older, they wait for the lock, for at
 * most 20 ms.
 */
#ifndef GKF_MODEL_H
#define GKF_MODEL_H

#include "base/export.h"
#include "machine/file/value.h"

#include <stdbool.h>
#include <stdint.h>

struct gkf_board;
struct gkf_device;
struct gkf_machine;
struct gkf_past;
struct gkf_state;
struct gkf_wave;

struct gkf_value_info {
	const char *name, *unit, *help;
	int64_t min, max;
};

extern const struct gkf_value_info gkf_values[GKF_V_COUNT];

/* The value with that name, or -1. */
int gkf_value_by_name(const char *name);

/*
 * Reads a value; false when this GPU model does not have it (no fan, no
 * ECC...): *ret_value is then untouched. device must exist.
 */
GKF_API bool gkf_value_get(struct gkf_machine *m, unsigned device,
			   enum gkf_value value, int64_t *ret_value);

/*
 * The range that this GPU accepts for a value; false when it has no such value.
 */
GKF_API bool gkf_value_range(struct gkf_machine *m, unsigned device,
			     enum gkf_value value, int64_t *ret_min,
			     int64_t *ret_max);

/* Whether a value was set, such as a clock lock or a fan speed. */
GKF_API bool gkf_value_is_asked(const struct gkf_machine *m, unsigned device,
				enum gkf_value value);

/*
 * Sets a value; GKF_UNSET returns it to the model. GK_ERR_RANGE: it is outside
 * its range; GK_ERR_NOT_SUPPORTED when the GPU does not have it.
 */
GKF_API int gkf_value_set(struct gkf_machine *m, unsigned device,
			  enum gkf_value value, int64_t to);

/* The compute mode in force; enum gkf_compute_mode. */
int64_t gkf_compute_mode(struct gkf_machine *m, unsigned device);

/* The model's state of the last whole bin, brought up to date if possible. */
GKF_API void gkf_state_now(struct gkf_machine *m, unsigned device,
			   struct gkf_state *ret_state);

/* The figures of a past bin; false when they are no longer kept. */
GKF_API bool gkf_past_read(struct gkf_machine *m, unsigned device, uint64_t bin,
			   struct gkf_past *ret_past);

/*
 * Busy percent of a process on its device in a bin, after sharing: the
 * processes of a device take turns, so the sum over them is at most 100.
 * demand_permille: the demand of all processes of the device in that bin
 * (gkf_demand_at).
 */
struct gkf_share {
	unsigned sm, mem, enc, dec, jpg, ofa;
};
GKF_API uint32_t gkf_demand_at(struct gkf_machine *m, unsigned device,
			       uint64_t bin);
GKF_API struct gkf_share gkf_share_at(const struct gkf_wave *wave, uint64_t bin,
				      uint32_t demand_permille);

/*
 * Like gkf_share_at(), but for the process in a slot, whose work may be real.
 */
GKF_API struct gkf_share gkf_share_of(struct gkf_machine *m, unsigned device,
				      unsigned slot,
				      const struct gkf_wave *wave, uint64_t bin,
				      uint32_t demand_permille);

/* ---- for src/machine alone ---- */

/*
 * Brings the state of a device up to date. The caller holds the writers'
 * lock.
 */
void gkf_state_advance(struct gkf_machine *m, unsigned device);

/*
 * Like gkf_state_advance(), but for a caller without the lock. Does nothing if
 * the lock is not free.
 */
void gkf_state_catch_up(struct gkf_machine *m, unsigned device);

/* Initialises a new device: its board's profile, its state, its MIG mode. */
void gkf_device_begin(struct gkf_device *dev, struct gkf_board *board);

#endif
