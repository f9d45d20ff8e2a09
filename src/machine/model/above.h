/*
 * above.h - what the model needs of the room of trouble above it, which defines
 * it: what faults do to values, and what they advise.
 */
#ifndef GKF_MODEL_ABOVE_H
#define GKF_MODEL_ABOVE_H

#include "base/export.h"
#include "machine/file/value.h"

#include <stdbool.h>
#include <stdint.h>

struct gkf_machine;

/* Bins first to end - 1 have passed: what faults count meanwhile. */
void gkf_fault_bins(struct gkf_machine *m, unsigned device, uint64_t first,
		    uint64_t end);

/* Before a value of a broken GPU is read: is it up to now? No lock. */
void gkf_fault_catch_up(struct gkf_machine *m, unsigned device,
			enum gkf_value value);

/* A value that a fault dictates; false: none does. No lock. */
bool gkf_fault_value(struct gkf_machine *m, unsigned device,
		     enum gkf_value value, int64_t *ret_value);

/* The most that NVML advises because of what is broken. */
GKF_API int gkf_fault_recovery(struct gkf_machine *m, unsigned device);

/*
 * Tells those who wait for it that the advice is another one than before. The
 * caller holds the lock.
 */
void gkf_fault_tell_recovery(struct gkf_machine *m, unsigned device,
			     int before);

#endif
