/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_set.c - sets locked clocks, applications clocks and clock offsets, in
 * MHz. The model computes the resulting clocks.
 */
#include "fronts/nvml/meter/clock.h"
#include "fronts/nvml/permission.h"
#include "fronts/nvml/value.h"
#include "machine/file/board.h"
#include "machine/file/numbers.h"
#include "machine/file/value.h"
#include "machine/model/model.h"

#include <string.h>

/*
 * Sets the lower and the upper limit of a locked clock. The caller has checked
 * the range.
 */
static nvmlReturn_t set_both(const struct call *c, const enum gkf_value ids[2],
			     int64_t low, int64_t high)
{
	nvmlReturn_t r = front_set(c, ids[0], low);

	return r ? r : front_set(c, ids[1], high);
}

/* Raises a clock below the idle clock, such as 0, to the idle clock. */
static int64_t at_least(int64_t mhz, int64_t idle_mhz)
{
	return mhz < idle_mhz ? idle_mhz : mhz;
}

static const enum gkf_value sm_lock[] = {GKF_V_LOCK_SM_MIN, GKF_V_LOCK_SM_MAX};
static const enum gkf_value mem_lock[] = {GKF_V_LOCK_MEM_MIN,
					  GKF_V_LOCK_MEM_MAX};

static bool is_symbol(unsigned mhz)
{
	return mhz == NVML_CLOCK_LIMIT_ID_TDP ||
	       mhz == NVML_CLOCK_LIMIT_ID_UNLIMITED;
}

/* The TDP limit is the highest clock that the board can hold at its power
 * limit. */
static int64_t symbolic_clock(const struct call *c, unsigned mhz)
{
	return mhz == NVML_CLOCK_LIMIT_ID_UNLIMITED
		   ? GKF_UNSET
		   : c->board->profile.sm_clock_max_mhz;
}

nvmlReturn_t nvmlDeviceSetGpuLockedClocks(nvmlDevice_t device,
					  unsigned int minGpuClockMHz,
					  unsigned int maxGpuClockMHz)
{
	int64_t low = minGpuClockMHz, high = maxGpuClockMHz;

	ENTER_DEVICE(nvmlDeviceSetGpuLockedClocks, device, true);
	if (c.board->profile.compute_major < 7)
		return NVML_ERROR_NOT_SUPPORTED;
	if (is_symbol(minGpuClockMHz) != is_symbol(maxGpuClockMHz))
		return NVML_ERROR_INVALID_ARGUMENT;
	if (is_symbol(minGpuClockMHz)) {
		low = symbolic_clock(&c, minGpuClockMHz);
		high = symbolic_clock(&c, maxGpuClockMHz);
	} else if (low > high || high < c.board->profile.sm_clock_idle_mhz ||
		   low > c.board->profile.sm_clock_max_mhz) {
		return NVML_ERROR_INVALID_ARGUMENT;
	} else {
		low = at_least(low, c.board->profile.sm_clock_idle_mhz);
	}
	return set_both(&c, sm_lock, low, high);
}

nvmlReturn_t nvmlDeviceResetGpuLockedClocks(nvmlDevice_t device)
{
	ENTER_DEVICE(nvmlDeviceResetGpuLockedClocks, device, true);
	if (c.board->profile.compute_major < 7)
		return NVML_ERROR_NOT_SUPPORTED;
	return set_both(&c, sm_lock, GKF_UNSET, GKF_UNSET);
}

/* A board that uses the host's memory has no memory clock of its own. */
static bool locks_memory(const struct call *c)
{
	return c->board->profile.compute_major >= 8 &&
	       c->board->profile.own_memory;
}

nvmlReturn_t nvmlDeviceSetMemoryLockedClocks(nvmlDevice_t device,
					     unsigned int minMemClockMHz,
					     unsigned int maxMemClockMHz)
{
	ENTER_DEVICE(nvmlDeviceSetMemoryLockedClocks, device, true);
	if (!locks_memory(&c))
		return NVML_ERROR_NOT_SUPPORTED;
	if (minMemClockMHz > maxMemClockMHz ||
	    maxMemClockMHz < c.board->profile.mem_clock_idle_mhz ||
	    minMemClockMHz > c.board->profile.mem_clock_max_mhz)
		return NVML_ERROR_INVALID_ARGUMENT;
	return set_both(
	    &c, mem_lock,
	    at_least(minMemClockMHz, c.board->profile.mem_clock_idle_mhz),
	    maxMemClockMHz);
}

nvmlReturn_t nvmlDeviceResetMemoryLockedClocks(nvmlDevice_t device)
{
	ENTER_DEVICE(nvmlDeviceResetMemoryLockedClocks, device, true);
	if (!locks_memory(&c))
		return NVML_ERROR_NOT_SUPPORTED;
	return set_both(&c, mem_lock, GKF_UNSET, GKF_UNSET);
}

/* ---- applications clocks ---- */

/* Default clocks, as captures show them. */
static const struct {
	int64_t device;
	unsigned graphics;
} app_facts[] = {
#define CLOCKS(device, memory, highest, lowest)
#define APPLICATION(device, graphics) {device, graphics},
#include "fronts/nvml/meter/clock_facts.def"
#undef CLOCKS
#undef APPLICATION
};

/*
 * Whether the board has applications clocks. In published listings, GeForce
 * boards have none.
 */
static bool has_apps(const struct call *c)
{
	return strcmp(c->board->profile.brand, "GEFORCE") != 0;
}

static nvmlReturn_t app_default(const struct call *c, nvmlClockType_t type,
				unsigned *ret_mhz)
{
	if (type == NVML_CLOCK_VIDEO || !has_apps(c))
		return NVML_ERROR_NOT_SUPPORTED;
	for (size_t i = 0; i < sizeof(app_facts) / sizeof(*app_facts); i++) {
		if (type == NVML_CLOCK_MEM ||
		    app_facts[i].device != c->board->profile.pci_device_id)
			continue;
		*ret_mhz = app_facts[i].graphics;
		return NVML_SUCCESS;
	}
	return clock_highest(c, type, ret_mhz);
}

nvmlReturn_t clock_app(const struct call *c, nvmlClockType_t type,
		       unsigned *ret_mhz)
{
	enum gkf_value value =
	    type == NVML_CLOCK_MEM ? GKF_V_APP_MEM : GKF_V_APP_SM;
	int64_t v;

	if (clock_apps_are_gone())
		return NVML_ERROR_DEPRECATED;
	if (type == NVML_CLOCK_VIDEO || !has_apps(c) ||
	    !read_device_value(c, value, &v))
		return NVML_ERROR_NOT_SUPPORTED;
	if (!gkf_value_is_asked(c->machine, c->index, value))
		return app_default(c, type, ret_mhz);
	*ret_mhz = (unsigned)v;
	return NVML_SUCCESS;
}

nvmlReturn_t clock_app_default(const struct call *c, nvmlClockType_t type,
			       unsigned *ret_mhz)
{
	return clock_apps_are_gone() ? NVML_ERROR_DEPRECATED
				     : app_default(c, type, ret_mhz);
}

nvmlReturn_t nvmlDeviceGetApplicationsClock(nvmlDevice_t device,
					    nvmlClockType_t clockType,
					    unsigned int *clockMHz)
{
	ENTER_DEVICE(nvmlDeviceGetApplicationsClock, device,
		     clockMHz && (unsigned)clockType < NVML_CLOCK_COUNT);
	return clock_app(&c, clockType, clockMHz);
}

nvmlReturn_t nvmlDeviceGetDefaultApplicationsClock(nvmlDevice_t device,
						   nvmlClockType_t clockType,
						   unsigned int *clockMHz)
{
	ENTER_DEVICE(nvmlDeviceGetDefaultApplicationsClock, device,
		     clockMHz && (unsigned)clockType < NVML_CLOCK_COUNT);
	return clock_app_default(&c, clockType, clockMHz);
}

/*
 * Whether the caller may change applications clocks: root may, and others may
 * if root has lifted the API restriction.
 */
static nvmlReturn_t app_permit(const struct call *c)
{
	int64_t open;

	if (clock_apps_are_gone())
		return NVML_ERROR_DEPRECATED;
	if (!has_apps(c) || !c->board->profile.own_memory)
		return NVML_ERROR_NOT_SUPPORTED;
	if (read_device_value(c, GKF_V_OPEN_APP_CLOCKS, &open) && open)
		return NVML_SUCCESS;
	return front_permit(c);
}

static nvmlReturn_t set_apps(const struct call *c, int64_t mem, int64_t sm)
{
	int r = gkf_value_set(c->machine, c->index, GKF_V_APP_MEM, mem);

	if (!r)
		r = gkf_value_set(c->machine, c->index, GKF_V_APP_SM, sm);
	return front_error(r);
}

nvmlReturn_t nvmlDeviceSetApplicationsClocks(nvmlDevice_t device,
					     unsigned int memClockMHz,
					     unsigned int graphicsClockMHz)
{
	nvmlReturn_t r;

	ENTER_DEVICE(nvmlDeviceSetApplicationsClocks, device, true);
	r = app_permit(&c);
	if (r)
		return r;
	if (!clock_is_memory(&c.board->profile, memClockMHz) ||
	    !clock_is_graphics(&c.board->profile, memClockMHz,
			       graphicsClockMHz))
		return NVML_ERROR_INVALID_ARGUMENT;
	return set_apps(&c, memClockMHz, graphicsClockMHz);
}

nvmlReturn_t nvmlDeviceResetApplicationsClocks(nvmlDevice_t device)
{
	nvmlReturn_t r;

	ENTER_DEVICE(nvmlDeviceResetApplicationsClocks, device, true);
	r = app_permit(&c);
	return r ? r : set_apps(&c, GKF_UNSET, GKF_UNSET);
}

/* ---- offsets ---- */

/*
 * The value that stores a clock's offset, and its range. Server boards cannot
 * be overclocked, so their range is 0 to 0.
 */
struct offset {
	enum gkf_value id;
	int64_t min, max;
};

static bool offset_of(const struct call *c, nvmlClockType_t type,
		      struct offset *ret_offset)
{
	struct offset o = {.id = type == NVML_CLOCK_MEM ? GKF_V_MEM_OFFSET
							: GKF_V_SM_OFFSET};

	if ((type != NVML_CLOCK_MEM && type != NVML_CLOCK_GRAPHICS) ||
	    !gkf_value_range(c->machine, c->index, o.id, &o.min, &o.max))
		return false;
	if (!c->board->profile.fans)
		o.min = o.max = 0;
	*ret_offset = o;
	return true;
}

static nvmlReturn_t get_offset(enum nvml_row row, nvmlDevice_t device,
			       nvmlClockType_t type, int *ret_mhz)
{
	struct call c;
	struct offset o;
	int64_t v;
	nvmlReturn_t r = enter_device(&c, row, device, ret_mhz != NULL);

	if (r)
		return r;
	if (!offset_of(&c, type, &o) || !read_device_value(&c, o.id, &v))
		return NVML_ERROR_NOT_SUPPORTED;
	*ret_mhz = (int)v;
	return NVML_SUCCESS;
}

static nvmlReturn_t get_offset_range(enum nvml_row row, nvmlDevice_t device,
				     nvmlClockType_t type, int *ret_min,
				     int *ret_max)
{
	struct call c;
	struct offset o;
	nvmlReturn_t r = enter_device(&c, row, device, ret_min && ret_max);

	if (r)
		return r;
	if (!offset_of(&c, type, &o))
		return NVML_ERROR_NOT_SUPPORTED;
	*ret_min = (int)o.min;
	*ret_max = (int)o.max;
	return NVML_SUCCESS;
}

static nvmlReturn_t shift_clock(const struct call *c, nvmlClockType_t type,
				int mhz)
{
	struct offset o;

	if (!offset_of(c, type, &o))
		return NVML_ERROR_NOT_SUPPORTED;
	if (!front_may_change(c))
		return NVML_ERROR_NO_PERMISSION;
	if (o.min == o.max)
		return NVML_ERROR_NOT_SUPPORTED;
	if (mhz < o.min || mhz > o.max)
		return NVML_ERROR_INVALID_ARGUMENT;
	return front_set(c, o.id, mhz);
}

nvmlReturn_t nvmlDeviceGetGpcClkVfOffset(nvmlDevice_t device, int *offset)
{
	return get_offset(ROW_nvmlDeviceGetGpcClkVfOffset, device,
			  NVML_CLOCK_GRAPHICS, offset);
}

nvmlReturn_t nvmlDeviceGetMemClkVfOffset(nvmlDevice_t device, int *offset)
{
	return get_offset(ROW_nvmlDeviceGetMemClkVfOffset, device,
			  NVML_CLOCK_MEM, offset);
}

nvmlReturn_t nvmlDeviceGetGpcClkMinMaxVfOffset(nvmlDevice_t device,
					       int *minOffset, int *maxOffset)
{
	return get_offset_range(ROW_nvmlDeviceGetGpcClkMinMaxVfOffset, device,
				NVML_CLOCK_GRAPHICS, minOffset, maxOffset);
}

nvmlReturn_t nvmlDeviceGetMemClkMinMaxVfOffset(nvmlDevice_t device,
					       int *minOffset, int *maxOffset)
{
	return get_offset_range(ROW_nvmlDeviceGetMemClkMinMaxVfOffset, device,
				NVML_CLOCK_MEM, minOffset, maxOffset);
}

nvmlReturn_t nvmlDeviceSetGpcClkVfOffset(nvmlDevice_t device, int offset)
{
	ENTER_DEVICE(nvmlDeviceSetGpcClkVfOffset, device, true);
	return shift_clock(&c, NVML_CLOCK_GRAPHICS, offset);
}

nvmlReturn_t nvmlDeviceSetMemClkVfOffset(nvmlDevice_t device, int offset)
{
	ENTER_DEVICE(nvmlDeviceSetMemClkVfOffset, device, true);
	return shift_clock(&c, NVML_CLOCK_MEM, offset);
}

/* All performance states share one offset. */
nvmlReturn_t nvmlDeviceGetClockOffsets(nvmlDevice_t device,
				       nvmlClockOffset_t *info)
{
	struct offset o;
	int64_t v;

	ENTER_DEVICE(nvmlDeviceGetClockOffsets, device, info != NULL);
	if (!TAKES(info->version, nvmlClockOffset_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if ((unsigned)info->type >= NVML_CLOCK_COUNT ||
	    !clock_has_pstate(&c.board->profile, info->pstate))
		return NVML_ERROR_INVALID_ARGUMENT;
	if (!offset_of(&c, info->type, &o) || !read_device_value(&c, o.id, &v))
		return NVML_ERROR_NOT_SUPPORTED;
	info->clockOffsetMHz = (int)v;
	info->minClockOffsetMHz = (int)o.min;
	info->maxClockOffsetMHz = (int)o.max;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceSetClockOffsets(nvmlDevice_t device,
				       nvmlClockOffset_t *info)
{
	ENTER_DEVICE(nvmlDeviceSetClockOffsets, device, info != NULL);
	if (!TAKES(info->version, nvmlClockOffset_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if ((unsigned)info->type >= NVML_CLOCK_COUNT ||
	    !clock_has_pstate(&c.board->profile, info->pstate))
		return NVML_ERROR_INVALID_ARGUMENT;
	return shift_clock(&c, info->type, info->clockOffsetMHz);
}
