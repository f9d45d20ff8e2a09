/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - reads and sets the values of a device; state.c owns its state. */
#include "machine/model/model.h"
#include "base/assert.h"
#include "base/err.h"
#include "machine/file/board.h"
#include "machine/file/device.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/state.h"
#include "machine/file/value.h"
#include "machine/model/computed.h"
#include "machine/model/forced.h"
#include "machine/model/model_events.h"
#include "machine/model/physics.h"
#include "machine/store/above.h"
#include "machine/store/process/account.h"
#include "machine/store/view.h"
#include "machine/store/writers_lock.h"

/* Where a value comes from when it was not set. */
enum source {
	FROM_STATE,   /* a word of gkf_state, divided by scale */
	FROM_PROFILE, /* an integer of the profile */
	FROM_ZERO,    /* 0, for counts and amounts */
	FROM_OTHER,   /* another value */
	FROM_CODE,    /* a function of computed.h */
};

#define ALWAYS .needs = offsetof(struct gkf_profile, memory_mib)
#define HAS(member, least)                                                     \
	.needs = offsetof(struct gkf_profile, member), .need_min = (least)
#define ONLY(member, one)                                                      \
	.needs = offsetof(struct gkf_profile, member), .need_min = (one),      \
	.need_max = (one)
#define STATE(member, divisor)                                                 \
	.source = FROM_STATE, .offset = offsetof(struct gkf_state, member),    \
	.scale = (divisor)
#define PROFILE(member)                                                        \
	.source = FROM_PROFILE, .offset = offsetof(struct gkf_profile, member)
#define ZERO       .source = FROM_ZERO
#define SAME(id)   .source = FROM_OTHER, .offset = GKF_V_##id
#define CODE(name) .source = FROM_CODE, .compute = gkf_compute_##name
static const struct {
	enum source source;
	size_t offset;
	int64_t scale;
	gkf_compute_fn *compute;
	size_t needs; /* profile integer that must not be below need_min */
	int64_t need_min, need_max; /* nor above need_max, if that is not 0 */
} sources[GKF_V_COUNT] = {
#define VALUE(id, name, min, max, unit, help, ...) [GKF_V_##id] = {__VA_ARGS__},
#include "machine/file/values.def"
#undef VALUE
};
#undef ALWAYS
#undef HAS
#undef ONLY
#undef STATE
#undef PROFILE
#undef ZERO
#undef SAME
#undef CODE

static int64_t field_word(const void *base, size_t offset)
{
	return *(const int64_t *)((const char *)base + offset);
}

static bool has_value(const struct gkf_profile *profile, enum gkf_value value)
{
	int64_t there = field_word(profile, sources[value].needs);

	return there >= sources[value].need_min &&
	       (!sources[value].need_max || there <= sources[value].need_max);
}

bool gkf_value_get(struct gkf_machine *m, unsigned device, enum gkf_value value,
		   int64_t *ret_value)
{
	const struct gkf_profile *profile = &m->boards[device].profile;
	const _Atomic uint64_t *broken = &m->file->device[device].fault.active;
	int64_t set, number;

	GK_ASSERT(device < m->device_count);
	GK_ASSERT((unsigned)value < GKF_V_COUNT);
	if (!has_value(profile, value))
		return false;
	if (atomic_load_explicit(broken, memory_order_relaxed))
		m->above->fault_catch_up(m, device, value);
	set = gkf_value_forced(m, device, value);
	if (set != GKF_UNSET) {
		*ret_value = set;
		return true;
	}
	switch (sources[value].source) {
	case FROM_STATE:
		number = gkf_state_word(m, device, sources[value].offset) /
			 sources[value].scale;
		/* Any process may have overwritten the state. */
		*ret_value = gkf_clamp(number, gkf_values[value].min,
				       gkf_values[value].max);
		break;
	case FROM_PROFILE:
		*ret_value = field_word(profile, sources[value].offset);
		break;
	case FROM_ZERO:
		*ret_value = 0;
		break;
	case FROM_OTHER:
		*ret_value = 0;
		gkf_value_get(m, device, (enum gkf_value)sources[value].offset,
			      ret_value);
		break;
	case FROM_CODE:
		number = sources[value].compute(m, device);
		*ret_value = gkf_clamp(number, gkf_values[value].min,
				       gkf_values[value].max);
		break;
	}
	return true;
}

bool gkf_value_is_asked(const struct gkf_machine *m, unsigned device,
			enum gkf_value value)
{
	GK_ASSERT(device < m->device_count);
	GK_ASSERT((unsigned)value < GKF_V_COUNT);
	return atomic_load_explicit(&m->file->device[device].set[value],
				    memory_order_relaxed) != GKF_UNSET;
}

bool gkf_value_range(struct gkf_machine *m, unsigned device,
		     enum gkf_value value, int64_t *ret_min, int64_t *ret_max)
{
	const struct gkf_profile *profile = &m->boards[device].profile;
	bool limit = value == GKF_V_POWER_LIMIT;

	GK_ASSERT(device < m->device_count);
	GK_ASSERT((unsigned)value < GKF_V_COUNT);
	if (!has_value(profile, value))
		return false;
	*ret_min = limit && profile->power_min_mw ? profile->power_min_mw
						  : gkf_values[value].min;
	*ret_max = limit && profile->power_max_mw ? profile->power_max_mw
						  : gkf_values[value].max;
	return true;
}

int gkf_value_set(struct gkf_machine *m, unsigned device, enum gkf_value value,
		  int64_t to)
{
	struct gkf_device *dev = &m->file->device[device];
	int64_t min, max, before = 0, now;
	int r;

	GK_ASSERT(device < m->device_count);
	GK_ASSERT((unsigned)value < GKF_V_COUNT);
	if (!gkf_value_range(m, device, value, &min, &max))
		return GK_ERR_NOT_SUPPORTED;
	if (to != GKF_UNSET && (to < min || to > max))
		return GK_ERR_RANGE;
	r = gkf_lock(m);
	if (r)
		return r;
	gkf_state_advance(m, device);
	gkf_value_get(m, device, value, &before);
	if (value == GKF_V_ACCOUNTING && to != 1)
		gkf_account_forget(m, device);
	atomic_store(&dev->set[value], to);
	if (gkf_value_get(m, device, value, &now))
		gkf_model_events_set(m, device, value, before, now);
	gkf_unlock(m);
	return 0;
}

int64_t gkf_compute_mode(struct gkf_machine *m, unsigned device)
{
	int64_t mode = 0;

	gkf_value_get(m, device, GKF_V_COMPUTE_MODE, &mode);
	return mode;
}
