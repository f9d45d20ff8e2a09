/*
 * model.h - the values of a made-up GPU, now.
 *
 * A set value wins; else the model of the last whole bin (1/6 s) answers. The
 * first caller in a bin computes it for everybody; if the lock is taken, the
 * older bin answers. Only for a state that is half a second old a reader waits
 * 20 ms at most.
 */
#ifndef GKF_MODEL_H
#define GKF_MODEL_H

#include "base/export.h"
#include "machine/file/value.h"

#include <stdbool.h>
#include <stdint.h>

struct gkf_machine;
struct gkf_past;
struct gkf_state;
struct gkf_wave;

struct gkf_value_info {
	const char *name, *unit, *help;
	int64_t min, max;
};

extern const struct gkf_value_info gkf_values[GKF_V_COUNT];

/* The value by its name, or -1. */
int gkf_value_by_name(const char *name);

/*
 * Reads a value; false when this model of GPU has none (no fan, no ECC...),
 * and *ret_value is untouched. device must exist.
 */
GKF_API bool gkf_value_get(struct gkf_machine *m, unsigned device,
			   enum gkf_value value, int64_t *ret_value);

/*
 * The range that this GPU takes for a value; false when it has no such value.
 */
GKF_API bool gkf_value_range(struct gkf_machine *m, unsigned device,
			     enum gkf_value value, int64_t *ret_min,
			     int64_t *ret_max);

/* Whether somebody has set it: a lock that holds, a fan that is driven. */
GKF_API bool gkf_value_is_asked(const struct gkf_machine *m, unsigned device,
				enum gkf_value value);

/*
 * Sets a value (GKF_UNSET: back to the model). GK_ERR_RANGE outside its
 * range, GK_ERR_NOT_SUPPORTED when the GPU has none.
 */
GKF_API int gkf_value_set(struct gkf_machine *m, unsigned device,
			  enum gkf_value value, int64_t to);

/* The model's state of the last whole bin, brought up to date if possible. */
GKF_API void gkf_state_now(struct gkf_machine *m, unsigned device,
			   struct gkf_state *ret_state);

/* The figures of a bin that has passed; false when they are forgotten. */
GKF_API bool gkf_past_read(struct gkf_machine *m, unsigned device, uint64_t bin,
			   struct gkf_past *ret_past);

/*
 * Busy percent of a process on its device in a bin, after sharing: the
 * processes of a device take turns, so their sum never passes 100.
 * demand_permille: what all of them want in that bin (gkf_demand_at).
 */
struct gkf_share {
	unsigned sm, mem, enc, dec, jpg, ofa;
};
GKF_API uint32_t gkf_demand_at(struct gkf_machine *m, unsigned device,
			       uint64_t bin);
GKF_API struct gkf_share gkf_share_at(const struct gkf_wave *wave, uint64_t bin,
				      uint32_t demand_permille);

/* The same of the process in a slot, whatever it does: also real work. */
GKF_API struct gkf_share gkf_share_of(struct gkf_machine *m, unsigned device,
				      unsigned slot,
				      const struct gkf_wave *wave, uint64_t bin,
				      uint32_t demand_permille);

#endif
