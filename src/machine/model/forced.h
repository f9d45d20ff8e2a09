/* forced.h - what faults and users dictate of a device's values. */
#ifndef GKF_FORCED_H
#define GKF_FORCED_H

#include "machine/file/value.h"

#include <stddef.h>
#include <stdint.h>

struct gkf_machine;

/* The value that a fault dictates, else the one that is set, else GKF_UNSET. */
int64_t gkf_value_forced(struct gkf_machine *m, unsigned device,
			 enum gkf_value value);

/* That of all values. */
void gkf_values_forced(struct gkf_machine *m, unsigned device,
		       int64_t ret_set[GKF_VALUES_MAX]);

/* One word of the model's state, as gkf_state_now() gives them all. */
int64_t gkf_state_word(struct gkf_machine *m, unsigned device, size_t offset);

#endif
