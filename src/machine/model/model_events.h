/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_events.h - sends events when values of a device change. For src/machine
 * alone.
 */
#ifndef GKF_MODEL_EVENTS_H
#define GKF_MODEL_EVENTS_H

#include "machine/file/value.h"

#include <stdbool.h>
#include <stdint.h>

struct gkf_drive;
struct gkf_machine;
struct gkf_state;

/* ---- the caller holds the writers' lock ---- */

/* Sends events about the model's changes in a bin. */
void gkf_model_events_step(struct gkf_machine *m, unsigned device,
			   const struct gkf_drive *drive,
			   const struct gkf_state *before,
			   const struct gkf_state *after);

/* Sends the event of a value that was set, unless the value did not change. */
void gkf_model_events_set(struct gkf_machine *m, unsigned device,
			  enum gkf_value value, int64_t before, int64_t now);

#endif
