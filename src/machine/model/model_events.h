/*
 * model_events.h - what changes on a device told as events, and what faults do
 * to its values. For the core's own files; all callers hold the writers' lock,
 * unless told otherwise.
 */
#ifndef GKF_MODEL_EVENTS_H
#define GKF_MODEL_EVENTS_H

#include "machine/file/value.h"

#include <stdbool.h>
#include <stdint.h>

struct gkf_drive;
struct gkf_machine;
struct gkf_state;

/* A bin has passed: tells what the model has changed. */
void gkf_model_events_step(struct gkf_machine *m, unsigned device,
			   const struct gkf_drive *drive,
			   const struct gkf_state *before,
			   const struct gkf_state *after);

/* A value was before; tells if it is another now that somebody set it. */
void gkf_model_events_set(struct gkf_machine *m, unsigned device,
			  enum gkf_value value, int64_t before);

#endif
